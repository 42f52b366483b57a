"""``python -m arena``: the command line, where its script is not on PATH."""

from arena.cli import main

raise SystemExit(main())
