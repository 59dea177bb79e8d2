"""Reads of unknown values that may decide a size, by the source of the reading code.

Note [Sizes from reads]
~~~~~~~~~~~~~~~~~~~~~~~
Most programs read a loss to print the number, and the read decides nothing. Others read a length, and make the next tensor of that length. Both reads are
the same call, so only the source tells the use of the number. The number is followed through expressions, assigned names, and callers that
receive a returned number, and into functions of the program. A size is possible if the number becomes a subscript, a bound of a slice, or an
argument of a foreign function other than the functions that print, log, collect or compute; a floating-point number only after a conversion to an
integer. A comparison ends the way: a branch is decided, and no size. So does a text: by `%`, or from a table of texts.

The answer errs on the side of a size: without a source, each whole number may decide a size. So it does once `_NODES` nodes of sources were
visited: in a script of 50,000 lines each of 10,000 lines may read a number.
"""

from types import FrameType

from ..failure import guarded
from ..process import frames
from ..process.objects import Budget, Spent
from ..source.number_flow import COPIES, NUMBERS, NumberFlow
from ..source.scope import Scope
from ..source.spans import find_running

# Modules that read whole tensors, to write or to print them, or whose kernels read for themselves.
_CLOSED = {"torch.serialization", "torch.storage", "safetensors.torch", "torch._tensor_str", "torch.nn.modules.rnn"}
_MOST_FRAMES = 12
_NODES = 10_000_000


_decided: dict[tuple, bool] = {}
_budget = Budget(_NODES)


@guarded
def may_decide(frame: FrameType | None, is_whole: bool, is_copy: bool = False) -> bool:
    """True if the number that `frame` reads now may become a size; `is_whole` for integers, `is_copy` for a copy of a tensor to the host."""
    while frame is not None and frames.is_agents(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    key = (frame.f_code, frame.f_lineno, frames.users_line(frame), is_whole, is_copy)
    if key not in _decided:
        try:
            _decided[key] = _decide(frame, is_whole, COPIES if is_copy else NUMBERS)
        except Spent:
            _decided[key] = is_whole
    return _decided[key]


def _decide(frame: FrameType | None, is_whole: bool, reading: set[str]) -> bool:
    called = reading
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_globals.get("__name__") in _CLOSED:
            return False
        path = find_running(frame)
        if not path:
            return is_whole
        found = NumberFlow(path, Scope.of_frame(frame), _budget).follow(frame.f_lineno, called, is_whole)
        if found is not None:
            return found
        # The number is returned.
        called, frame = {frame.f_code.co_name}, frame.f_back
    return is_whole
