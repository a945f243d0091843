"""The command `loopx-engine`: `run` for ever, `once` until nothing is due. One engine a ledger, held by a kernel lock."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

import click

from loopx_engine.cli.output import print_json, report_bug, report_error, say, wants_json
from loopx_engine.cli.tree import SETTINGS, not_built, usage
from loopx_engine.errors import LoopxError, Refused

MOST_TURNS = 64


def main(arguments: list[str] | None = None) -> int:
    """Runs one call and returns its exit code (75 where another engine holds the ledger)."""
    given = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        sys.excepthook = report_bug
    try:
        code = _commands().main(args=given, prog_name="loopx-engine", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LoopxError as error:
        return report_error(error, as_json=wants_json(given))
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        return report_error(usage(error, "loopx-engine"), as_json=wants_json(given))
    except click.exceptions.Abort:
        return 0


class _EngineGroup(click.Group):
    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name == "service":
            raise not_built("service", "loopx-engine run, for example from a unit of your own")
        return super().get_command(ctx, name)


def _commands() -> click.Group:
    group = _EngineGroup(
        "loopx-engine",
        help="The engine: wakes goals, runs turns, proves claims.",
        context_settings=SETTINGS,
        no_args_is_help=True,
    )
    turns = click.Option(
        ["--turns"], type=click.IntRange(1, MOST_TURNS), default=2, show_default=True, help="turns at once"
    )
    sandbox = click.Option(["--no-sandbox"], is_flag=True, help="run without a box, and say so on every proof")
    shown = click.Option(["--json", "as_json"], is_flag=True, help="one JSON object at its end")
    run = click.Command(
        "run", callback=lambda **given: run_engine(os.environ, until_idle=False, **given), params=[turns, sandbox, shown],
        help="Run until SIGTERM; ends within 5 s.",
    )  # fmt: skip
    once = click.Command(
        "once", callback=lambda **given: run_engine(os.environ, until_idle=True, **given), params=[turns, sandbox, shown],
        help="Run until nothing is due.",
    )  # fmt: skip
    group.add_command(run)
    group.add_command(once)
    return group


def run_engine(
    environ: Mapping[str, str], *, until_idle: bool, turns: int = 2, no_sandbox: bool = False, as_json: bool = False
) -> int:
    """Holds the engine's lock, recovers, and runs the scheduler. Returns 0 after a clean stop."""
    from loopx_engine.cli.local import LocalCaller
    from loopx_engine.desk.opening import engine_lock
    from loopx_engine.heartbeat.opening import open_heart
    from loopx_engine.heartbeat.scheduler import Scheduler
    from loopx_engine.host.lock import single_instance
    from loopx_engine.host.logs import open_log
    from loopx_engine.host.paths import home, private_folder
    from loopx_engine.places.sandbox import Box

    _refuse_agents(environ)
    folder = private_folder(home(environ))
    caller = LocalCaller(environ)
    engine = caller.engine
    with single_instance(engine_lock(environ)):
        before = engine.ledger.last_seq()
        log = open_log(folder / "logs")
        box = Box(kind="none", reason="asked for with --no-sandbox") if no_sandbox else None
        heart = open_heart(engine, folder, environ, box=box, log=_logger(log))
        heart.log("engine.started", sandbox=heart.box.kind, pid=os.getpid())
        said = f"in {heart.box.kind}" if heart.box.kind != "none" else f"not sandboxed: {heart.box.reason}"
        say(f"loopx-engine {'once' if until_idle else 'run'}: pid {os.getpid()}, {said}, log {folder / 'logs'}")
        scheduler = Scheduler(heart, turns_at_once=turns)
        _on_signals(scheduler)
        scheduler.run(until_idle=until_idle)
        heart.log("engine.stopped", pid=os.getpid())
        receipts = engine.ledger.last_seq()
        engine.ledger.close()
    if as_json:
        body = {"pid": os.getpid(), "sandbox": heart.box.kind, "receipts": receipts, "written": receipts - before}
        print_json("engine.once" if until_idle else "engine.run", body)
    return 0


def _refuse_agents(environ: Mapping[str, str]) -> None:
    """A turn never starts an engine, and neither does any other process that holds an agent's token."""
    from loopx_engine.consent.ancestry import turn_ancestor

    if environ.get("LOOPX_TOKEN"):
        raise Refused("an agent starts no engine", code="not_for_agents", next="run it from a terminal of your own")
    inside = turn_ancestor()
    if inside:
        raise Refused(
            f"a turn starts no engine ({inside})", code="inside_turn", next="run it from a terminal of your own"
        )


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
