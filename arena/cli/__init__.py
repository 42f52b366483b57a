"""The command line: parses, calls, prints. What is computed is computed elsewhere.

Results go to stdout, progress and faults to stderr. The exit status is 0 for done, 1 for what was
asked and failed, 2 for a command line that cannot be meant, 130 for what was interrupted. Commands
import what they need when they run, so that help is quick.
"""

from arena.cli.app import app as app
from arena.cli.app import main as main
