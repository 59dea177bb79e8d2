"""A real run, recorded: the program runs on its own GPU as if nobody looked.

Note [Real runs]
~~~~~~~~~~~~~~~~
The folder of `OOMPH_RUN` holds for each process that uses a GPU the recording of the recorder (`recorder`), which costs a fraction of a microsecond for each
allocation, and the agent's records: the steps, a few a second; each out-of-memory error, with the state of the program; the end. Nothing of
the program is replaced, but for requested remedies (`oomph run --with`), which are the same as in a dry run. What would cost something at each call of a module, and what could change the way in which a program dies, is left out:
no hooks of modules, no handler of signals, no `os._exit` of ours.
"""

from ..process import importing
from ..remedies import Remedies


def start(remedies: Remedies) -> None:
    """Starts the recording as soon as the program has imported torch."""
    importing.after_import("torch", lambda: _start(remedies))


def _start(remedies: Remedies) -> None:
    from . import session

    session.start(remedies)
