"""A real run, recorded: the program runs on its own GPU as if nobody looked.

Note [Real runs]
~~~~~~~~~~~~~~~~
The folder of `OOMPH_RUN` holds for each process that uses a GPU the recording of the recorder (`recorder`), which costs a fraction of a microsecond for each
allocation, and the agent's records: the steps, a few a second; each out-of-memory error, with the state of the program; the end. Nothing of
the program is replaced, but for requested remedies (`oomph run --with`), which are the same as in a dry run. What would cost something at each call of a module, and what could change the way in which a program dies, is left out:
no hooks of modules, no handler of signals, no `os._exit` of ours.

Note [Held in the program]
~~~~~~~~~~~~~~~~~~~~~~~~~~
All that the process of the program has of a real run, and that the program can therefore see or take away:

- before the import of torch one object in `sys.meta_path`, and two variables for children (`OOMPH_RUN`, `PYTHONPATH`);
- after it the modules `_oomph_agent.*`, a hook after `Optimizer.step`, one in the iterators of `DataLoader`, four functions that reset counters,
  one function for `atexit` and one after `fork`;
- from the first use of CUDA the recorder's library, the mapped recording, two entries in the table of functions of `libc10_cuda.so`, a
  hook after `fork` in C, and the observer of out-of-memory errors.

There is no descriptor, no thread, no handler and no blocked or ignored signal, no trace function, and no line on the program's standard error: the
records say what was not recorded (`gap`), and `oomph run` reads them afterwards.
"""

from ..hooks import importing
from ..remedies import Remedies


def start(folder: str, remedies: Remedies) -> None:
    """Starts the recording in `folder` as soon as the program has imported torch."""
    importing.after_import("torch", lambda: _start(folder, remedies))


def _start(folder: str, remedies: Remedies) -> None:
    from . import session

    session.start(folder, remedies)
