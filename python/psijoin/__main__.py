"""The program: `python -m psijoin`, or `psijoin` where the package is installed."""

import signal
import sys

from psijoin import _psijoin


def main() -> None:
    """Runs the program with this process's arguments, and ends the process with its exit code."""
    # The program has its own way with Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_psijoin.main(["psijoin", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
