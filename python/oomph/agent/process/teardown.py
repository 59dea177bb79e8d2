"""The interpreter's own end in a child of the fork server: half the time of a small program, of which nobody reads anything.

Python collects garbage several times while it clears its modules, each time through every object of the imported packages, and PyTorch
takes each registered operator out of its dispatcher. The program's own exit handlers have run by then, and all records are written.
"""

import gc
import weakref

import torch


def shorten() -> None:
    """Leaves the objects and the operators of the packages to the end of the process."""
    gc.freeze()
    # Private to CPython's weakref.py (3.10 to 3.14): without it the end takes its usual time.
    registry = getattr(weakref.finalize, "_registry", {})
    unregister = getattr(torch.library, "_del_library", None)
    for finalizer, entry in list(registry.items()):
        if unregister is not None and getattr(entry, "func", None) is unregister:
            finalizer.atexit = False
