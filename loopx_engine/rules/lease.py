"""Leases by time: three durations that must keep their order, and whether a turn still holds what it took."""

from __future__ import annotations

from loopx_engine.model.defaults import LEASE_MS, LEASE_RENEW_MS
from loopx_engine.model.lease import Lease

GIVE_UP_MS = 90_000
JITTER = 1.2


def check_durations(ttl: int = LEASE_MS, give_up: int = GIVE_UP_MS, renew: int = LEASE_RENEW_MS) -> None:
    """A lease outlives its holder's giving up, which outlives a renewal with its jitter. Raises `ValueError`."""
    if not ttl > give_up > renew * JITTER:
        raise ValueError(f"lease durations out of order: {ttl} > {give_up} > {renew} x {JITTER} does not hold")


def next_epoch(lease: Lease | None) -> int:
    """The epoch of the next take."""
    return 1 if lease is None else lease.epoch + 1


def holds(lease: Lease | None, turn: str, epoch: int) -> bool:
    """Whether this turn's epoch is the one in force."""
    return lease is not None and lease.state == "held" and lease.turn == turn and lease.epoch == epoch


check_durations()
