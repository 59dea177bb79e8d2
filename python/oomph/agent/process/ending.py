"""The end of the interpreter after the wanted steps: a search for cycles among the program's objects, and none among those of libraries.

Note [Short end]
~~~~~~~~~~~~~~~~
Python searches all objects for cycles four times when the interpreter ends (`Py_FinalizeEx` in CPython's Python/pylifecycle.c, 3.11): 330,000
objects after the imports of PyTorch and transformers, a fifth of the time of a `check` of GPT-2. The program's own objects need one search.
After the program's exit handlers, the program's modules leave `sys.modules`, as in Python's own end, and `gc.collect` frees all objects
that only these modules reached: finalizers run, files are flushed, temporary files are deleted. The remaining objects belong to
libraries; `gc.freeze` excludes them from the later searches, and objects without a cycle are freed as usual. Nothing is frozen if a library
or a thread still holds the globals of a module of the program.

No search is suppressed before the end: the moment of a search decides when the tensors of a cycle are freed, and so the peak.
"""

import atexit
import gc
import sys
import types
import weakref

from . import frames
from ..failure import guarded

_TOKEN = "__oomph_token__"


class _Token:
    """A value among a module's globals, freed with the globals."""


class Ending:
    """The last exit handler."""

    def __init__(self) -> None:
        self.is_short = False
        # Exit handlers run in reverse: the first to be registered runs after all others.
        self._is_last = atexit._ncallbacks() == 0
        atexit.register(self._end)

    @guarded
    def _end(self) -> None:
        if self.is_short:
            # Finished handlers still hold the program's globals.
            if self._is_last:
                atexit._clear()
            if _free_program():
                gc.freeze()
            else:
                # Skips Python's first search, which `gc.collect` has just made.
                gc.disable()


def _free_program() -> bool:
    """Removes the program's modules and frees their objects; false if the globals of a module are still in use."""
    tokens: weakref.WeakSet[_Token] = weakref.WeakSet()
    for name in _list_modules():
        _add_token(vars(sys.modules.pop(name)), tokens)
    gc.collect()
    return not tokens


def _add_token(module_globals: dict, tokens: "weakref.WeakSet[_Token]") -> None:
    token = module_globals[_TOKEN] = _Token()
    tokens.add(token)


def _list_modules() -> list[str]:
    """The names of the program's own modules, `__main__` among them."""
    # Other objects in the table may compute attributes, by an import for example.
    modules = [(name, module) for name, module in sys.modules.items() if isinstance(module, types.ModuleType)]
    return [name for name, module in modules if name == "__main__" or frames.is_users(vars(module).get("__file__") or "")]
