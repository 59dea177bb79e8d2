"""`python -m oomph.trackers NAME PLACE FOLDER SECONDS`: the helper process of one tracker. See Note [Trackers]."""

import os
import signal
import sys

from .helper import Helper

# The program has the processors first.
_NICENESS = 10


def main() -> None:
    """Runs the helper. An error that the tracker does not name as its own is said in a line, after its traceback."""
    name, place, folder, patience = sys.argv[1:5]
    os.nice(_NICENESS)
    # `oomph run` starts processes with the signals blocked that it passes to the program.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # Libraries print to standard output, which is for events.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Started in another folder, so that no file of the user's takes the place of a module.
    os.chdir(folder)
    # The system's figures of the GPU are not of this process.
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    Helper(name, place, float(patience), output).run()


if __name__ == "__main__":
    main()
