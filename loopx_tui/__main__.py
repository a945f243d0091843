"""The command `loopx`: words go to the command line, a terminal without words to the workspace, anything else to `status`.

Imports nothing until it knows which of them is meant, so a cold call pays only for what it uses.
"""

from __future__ import annotations


def main() -> int:
    """Run the command of this process (`sys.argv`) and return its exit code (JOURNEYS.md 2)."""
    import sys

    if len(sys.argv) < 2:
        import os

        from loopx_tui.terminal.probe import why_no_screen

        why_not = why_no_screen(os.environ, sys.stdin, sys.stdout)
        if why_not is None and not os.environ.get("LOOPX_TOKEN"):
            from loopx_tui.start import start

            return start()
        if why_not:
            print(f"loopx: {why_not}", file=sys.stderr)
        sys.argv.append("status")
    from loopx_engine.cli.main import main as command_line

    return command_line()


if __name__ == "__main__":
    raise SystemExit(main())
