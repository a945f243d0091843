"""The command `loopx`: one call, its exit code, and every error in the form people and scripts were promised.

stdout is for data, stderr for errors and questions; exit codes are JOURNEYS.md 2. The parser is loaded only when needed.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from loopx_engine.cli.output import report_bug, report_error, wants_json
from loopx_engine.errors import LoopxError, UsageError


def main(arguments: list[str] | None = None) -> int:
    """Runs one call and returns its exit code; never prints a traceback for an error of the caller."""
    given = sys.argv[1:] if arguments is None else arguments
    if not [word for word in given if word != "--json"]:
        given = ["status", *given]
    if arguments is None:
        sys.excepthook = report_bug
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    collecting = gc.isenabled()
    gc.disable()  # a call is over before collecting pays for itself
    try:
        return _call(given)
    finally:
        _leave(collecting, ends=arguments is None)


def _leave(collecting: bool, *, ends: bool) -> None:
    """Before the end of the process nothing is collected any more either; one that goes on is left as it was."""
    if ends:
        gc.freeze()
        return
    from loopx_engine.cli.caller import forget

    forget()
    if collecting:
        gc.enable()


def _call(given: Sequence[str]) -> int:
    try:
        _need_text(given)
        from loopx_engine.cli.quick import answered

        code = answered(given)
        if code is None:
            from loopx_engine.cli.tree import call

            code = call(list(given))
        sys.stdout.flush()
    except LoopxError as error:
        return report_error(error, as_json=wants_json(given))
    except KeyboardInterrupt:
        stopped = UsageError("interrupted", code="interrupted", next="loopx history says what was done")
        return report_error(stopped, as_json=wants_json(given))
    except BrokenPipeError:
        _reader_left()
        return 0
    except OSError as error:
        return report_error(_from_system(error), as_json=wants_json(given))
    return code


def _need_text(given: Sequence[str]) -> None:
    """Bytes that are no UTF-8 reach no rule: they could be neither kept, signed nor shown."""
    for number, word in enumerate(given, 1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(
                f"word {number} of the call is not valid UTF-8; expected text", code="bad_text", next="loopx --help"
            ) from None


def _from_system(error: OSError) -> LoopxError:
    from loopx_engine.errors import NotFound, Refused, TryAgain

    said = f"{error.filename or 'the system'}: {error.strerror or error}"
    if error.errno in (28, 122):
        return TryAgain(f"there is no room left ({said})", code="disk_full", next="make room and try again")
    if isinstance(error, FileNotFoundError):
        return NotFound(f"{said}; expected it to be there", code="no_file", next="loopx doctor")
    return Refused(f"the system refused ({said})", code="system", next="loopx doctor")


def _reader_left() -> None:
    """Whoever read our output has gone; what is still buffered goes nowhere, without a complaint at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


if __name__ == "__main__":
    raise SystemExit(main())
