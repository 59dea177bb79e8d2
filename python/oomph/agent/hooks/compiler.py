"""The import of PyTorch's compiler, spared while nothing is compiled.

Each optimizer of PyTorch imports `torch._dynamo` when it is made and when it steps, only to tell the compiler to look away
(`_disable_dynamo` in torch/_compile.py, `_use_grad_for_differentiable` in torch/optim/optimizer.py; torch 2.5 to 2.15). The import takes most of
a second, more than all else that a small program does. As long as the program has not imported it, nothing is compiled, and the functions
do here what is left of them. A function of another make runs as it is.
"""

import sys
from collections.abc import Callable

from .replacing import around, innermost
from .rows.pytorch import COMPILER


def install() -> None:
    """Stands around the functions; to be the first to do so."""
    for name in COMPILER:
        around(name, _call_plain)


def _call_plain(call: Callable, *args, **kwargs):
    if "torch._dynamo" in sys.modules:
        return call(*args, **kwargs)
    function = innermost(call)
    code, plain = getattr(function, "__code__", None), getattr(function, "__wrapped__", None)
    if code is None or plain is None:
        return call(*args, **kwargs)
    if code.co_name == "_use_grad" and "graph_break" in code.co_names:
        return _use_grad(plain, *args, **kwargs)
    is_disabled = code.co_name == "inner" and "disable" in code.co_names and code.co_filename.endswith("_compile.py")
    return plain(*args, **kwargs) if is_disabled else call(*args, **kwargs)


def _use_grad(step: Callable, optimizer, *args, **kwargs):
    """The same as `_use_grad_for_differentiable`, without the breaks of a graph."""
    torch = sys.modules["torch"]
    before = torch.is_grad_enabled()
    try:
        torch.set_grad_enabled(optimizer.defaults["differentiable"])
        return step(optimizer, *args, **kwargs)
    finally:
        torch.set_grad_enabled(before)
