"""Functions of the agent that PyTorch's compiler does not see.

Note [Frames hidden from Dynamo]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
While a compiled function runs, Dynamo is asked about every Python frame that begins in the thread (PEP 523), and compiles the frame
together with its calls. Behind a break of the graph an operator of the program runs eagerly, and its stand-in in Python would be compiled
as if the program had called it: with fake tensors, whose sizes are symbols, in place of the device's. Graphs themselves need nothing: fake
tensors reach no kernel of a device (`FakeTensor.__torch_dispatch__`), and a graph is run with real tensors.

In PyTorch 2.7 and later a code object can be marked so that Dynamo skips the frame and everything called by it; the mark costs nothing
without a compiler. In older versions the mark skips the frame alone, and the callback is turned off while the function runs.
"""

import functools
import sys
from collections.abc import Callable

from torch._C._dynamo import eval_frame


def hide(function: Callable) -> Callable:
    """Keeps Dynamo away from `function`, and from what `function` calls; returns the function to call instead."""
    if hasattr(eval_frame, "set_code_exec_strategy"):
        skip = eval_frame._FrameAction.SKIP
        eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
        return function
    hidden = functools.wraps(function)(functools.partial(_call_unseen, function))
    eval_frame.skip_code(_call_unseen.__code__)
    return hidden


def _call_unseen(function: Callable, *args, **kwargs):
    """Calls a function while Dynamo asks for no frame."""
    if "torch._dynamo" not in sys.modules:
        return function(*args, **kwargs)
    outer = eval_frame.set_eval_frame(None)
    try:
        return function(*args, **kwargs)
    finally:
        eval_frame.set_eval_frame(outer)
