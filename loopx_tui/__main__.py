"""The command `loopx`: words go to the command line, a terminal without words to the workspace, anything else to `status`.

Imports nothing until it knows which of them is meant, so a cold call pays only for what it uses.
"""

from __future__ import annotations


def main() -> int:
    """Run the command of this process (`sys.argv`) and return its exit code (JOURNEYS.md 2)."""
    import sys

    from loopx_engine.cli.main import main as command_line

    if len(sys.argv) < 2:
        sys.argv.append("status")
    return command_line()


if __name__ == "__main__":
    raise SystemExit(main())
