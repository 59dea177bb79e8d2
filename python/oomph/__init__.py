"""oomph: will this PyTorch program fit the GPU, and if not, why.

The command `oomph` does the work and needs nothing from this package. `check`, `explain` and `watch` are for Python programs
(docs/python.md). A script may ask here whether it is being recorded, for example to skip a download that a dry run has no use for::

    import oomph

    if not oomph.is_recording():
        download_checkpoint()

In a notebook, `%load_ext oomph` adds the command `%oomph`.
"""

import os

from .checking import Check, check
from .command import OomphError
from .explaining import Explanation, explain
from .watching import MemoryLine, Watch, watch

__all__ = [
    "Check", "Explanation", "MemoryLine", "OomphError", "Watch", "__version__", "check", "explain", "is_recording",
    "load_ipython_extension", "run_directory", "unload_ipython_extension", "watch",
]  # fmt: skip

__version__ = "0.1.0"


def run_directory() -> str | None:
    """The run directory; `None` when oomph is not recording."""
    return os.environ.get("OOMPH_RUN_DIR") or None


def is_recording() -> bool:
    """True if the program runs under oomph."""
    return run_directory() is not None


def load_ipython_extension(shell) -> None:
    """Adds `%oomph` to IPython: `%load_ext oomph`."""
    from . import notebook

    notebook.load(shell)


def unload_ipython_extension(shell) -> None:
    """Removes `%oomph` from IPython: `%unload_ext oomph`."""
    from . import notebook

    notebook.unload(shell)
