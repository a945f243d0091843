"""The command `loopx-engine`: `run` for ever, `once` until nothing is due. One engine a ledger, held by a kernel lock."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

import click

from loopx_engine.cli.output import report_error
from loopx_engine.errors import LoopxError, Refused


def main(arguments: list[str] | None = None) -> int:
    """Runs one call and returns its exit code (75 where another engine holds the ledger)."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = _commands().main(args=given, prog_name="loopx-engine", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LoopxError as error:
        return report_error(error, as_json=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except click.exceptions.Abort:
        return 130


def _commands() -> click.Group:
    @click.group("loopx-engine", help="The engine: wakes goals, runs turns, proves claims.")
    def group() -> None:
        pass

    turns = click.Option(["--turns"], type=click.IntRange(1, 64), default=2, help="turns at once")
    sandbox = click.Option(["--no-sandbox"], is_flag=True, help="run without a box, and say so on every proof")
    run = click.Command(
        "run", callback=lambda **given: run_engine(os.environ, until_idle=False, **given), params=[turns, sandbox],
        help="Run until SIGTERM; ends within 5 s.",
    )  # fmt: skip
    once = click.Command(
        "once", callback=lambda **given: run_engine(os.environ, until_idle=True, **given), params=[turns, sandbox],
        help="Run until nothing is due.",
    )  # fmt: skip
    group.add_command(run)
    group.add_command(once)
    return group


def run_engine(environ: Mapping[str, str], *, until_idle: bool, turns: int = 2, no_sandbox: bool = False) -> int:
    """Holds the engine's lock, recovers, and runs the scheduler. Returns 0 after a clean stop."""
    from loopx_engine.cli.local import LocalCaller
    from loopx_engine.consent.ancestry import turn_ancestor
    from loopx_engine.heartbeat.opening import open_heart
    from loopx_engine.heartbeat.scheduler import Scheduler
    from loopx_engine.host.lock import single_instance
    from loopx_engine.host.logs import open_log
    from loopx_engine.host.paths import home, private_folder
    from loopx_engine.places.sandbox import Box

    inside = turn_ancestor()
    if inside:
        raise Refused(f"a turn starts no engine ({inside})", code="inside_turn", next="run it from a terminal of your own")
    folder = private_folder(home(environ))
    with single_instance(folder / "engine.lock"):
        caller = LocalCaller(environ)
        engine = caller.engine
        log = open_log(folder / "logs")
        box = Box(kind="none", reason="asked for with --no-sandbox") if no_sandbox else None
        heart = open_heart(engine, folder, environ, box=box, log=_logger(log))
        heart.log("engine.started", sandbox=heart.box.kind, pid=os.getpid())
        scheduler = Scheduler(heart, turns_at_once=turns)
        _on_signals(scheduler)
        scheduler.run(until_idle=until_idle)
        heart.log("engine.stopped", pid=os.getpid())
        engine.ledger.close()
    return 0


def _logger(log: Any) -> Any:
    def write(event: str, **fields: Any) -> None:
        log.info(event, **fields)

    return write


def _on_signals(scheduler: Any) -> None:
    if threading.current_thread() is not threading.main_thread():
        return

    def leave(number: int, frame: object) -> None:
        scheduler.stop()

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)


if __name__ == "__main__":
    raise SystemExit(main())
