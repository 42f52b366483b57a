"""The command line: parses, calls, prints. What is computed is computed elsewhere.

Results go to stdout, progress and faults to stderr. The exit status is 0 for done, 1 for what was
asked and failed, 2 for a command line that cannot be meant, 3 for a bot that could not be judged,
130 for what was interrupted. Commands import what they need when they run, so that help is quick.
"""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status; what is foreseen to fail is one line.

    Ctrl-C is heeded from here on, also while the commands are still imported.
    """
    try:
        from arena.cli import app

        return app.main(argv)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130  # arena.cli.errors.INTERRUPTED, which may not be there yet
