"""The import of PyTorch's compiler, spared while nothing is compiled.

Each optimizer of PyTorch imports `torch._dynamo` at its construction and at its steps, only to have the compiler look away
(`_disable_dynamo` in torch/_compile.py, `_use_grad_for_differentiable` in torch/optim/optimizer.py; torch 2.5 to 2.15). The import takes most of
a second, more than all else that a small program does. While the compiler is not imported, nothing is compiled, and a layer
here does the rest of the function. A function of another make runs unchanged.
"""

import sys
from collections.abc import Callable

from .replacing import around
from .rows.pytorch import COMPILER


def install() -> None:
    """Stands around the functions, inside of what remedies have put around them before."""
    for name in COMPILER:
        around(name, _call_plain, is_inner=True)


def _call_plain(function: Callable, *args, **kwargs):
    if "torch._dynamo" in sys.modules:
        return function(*args, **kwargs)
    code, plain = getattr(function, "__code__", None), getattr(function, "__wrapped__", None)
    if code is None or plain is None:
        return function(*args, **kwargs)
    if code.co_name == "_use_grad" and "graph_break" in code.co_names:
        return _use_grad(plain, *args, **kwargs)
    is_disabled = code.co_name == "inner" and "disable" in code.co_names and code.co_filename.endswith("_compile.py")
    return plain(*args, **kwargs) if is_disabled else function(*args, **kwargs)


def _use_grad(step: Callable, optimizer, *args, **kwargs):
    """The same as `_use_grad_for_differentiable`, without the breaks of a graph."""
    torch = sys.modules["torch"]
    before = torch.is_grad_enabled()
    try:
        torch.set_grad_enabled(optimizer.defaults["differentiable"])
        return step(optimizer, *args, **kwargs)
    finally:
        torch.set_grad_enabled(before)
