"""Shapes and decisions that depend on values which a phantom GPU does not compute.

Note [Answers for value-dependent shapes]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A kernel with such a shape counts on the device and reads the count back: one small read. Before the kernel runs, the
phantom gets the answer for that read:

- `nonzero` (boolean indexing, `masked_select`, `where` and torchvision's NMS end here): the assumed fraction of the
  elements, at least one. `unique` and `unique_consecutive` likewise: so many different values.
- `repeat_interleave` with repeats on the device: each repeat counts as 1. The size is passed as `output_size`, because
  the kernel would otherwise also read back whether all repeats are positive.
- `bincount`: its size is the largest value + 1. Zeros are read, and its size is `minlength`, at least 1.
- `max` of integers that were copied to the device in one small piece is their maximum: `int(index.max()) + 1` is how graph
  libraries ask for the number of nodes, and of graphs in a batch.
- Samplers that first read back whether their arguments are valid are told "yes".
- `all` over a whole tensor gives "yes": programs ask it to check their input (`assert (labels >= 0).all()`), or to skip
  work that is rarely needed (transformers: is this batch packed?), and zeros would be the answer of the rare case.
- An optimizer that reads its step counter off the device (a program under `set_default_device("cuda")`) gets the number of
  the step under way: it divides by what the counter gives, and the addition to it was not computed.
- A boolean that a check of the program's own reads passes it: Note [Checks pass] in `checks`.
- `GradScaler` asks whether a gradient overflowed: none did, so that the optimizer steps.
- A plain read (`.item()`, `.tolist()`, `.cpu()`, `bool(tensor)`) is answered with what the device memory holds: what was copied there,
  zeros where a kernel would have written. The latter is noted, because anything may be decided by it.
"""

import functools
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import torch
import torch.distributions
from torch.multiprocessing.reductions import StorageWeakRef
from torch.optim import optimizer as optim

from . import checks, frames, wire
from .failure import guarded
from .overrides import Original, Overrides
from .phantom import Phantom
from .records import Records

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MODES = os.path.join(os.path.dirname(torch.__file__), "utils", "")
_GET_VALUE = getattr(getattr(optim, "_get_value", None), "__code__", None)
_SCALER = getattr(getattr(torch.amp.GradScaler, "_maybe_opt_step", None), "__code__", None)
_FLOATS = {torch.float32: "<f", torch.float64: "<d"}
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
_FRACTION_OF_ELEMENTS = ("aten::nonzero", "aten::_unique2", "aten::_unique", "aten::unique_dim", "aten::unique_consecutive")
_ASK_WHETHER_VALID = ("aten::normal.Tensor_Tensor", "aten::normal.float_Tensor", "aten::multinomial")


class Values:
    """Notes where values decided, and lets the assumed answer be given."""

    def __init__(self, phantom: Phantom, fraction: float, step: Callable[[], int]) -> None:
        self.phantom = phantom
        self.fraction = fraction
        # The optimizer step under way.
        self.step = step
        # By operator, file and line; by file and line.
        self.shapes: Counter[tuple[str, str, int]] = Counter()
        self.reads: Counter[tuple[str, int]] = Counter()
        self.bytes_read: Counter[tuple[str, int]] = Counter()
        # The number of noted reads.
        self._noted = 0
        # The last maximum that is known and was not read yet: its storage, its value.
        self._maximum: tuple[StorageWeakRef, int] | None = None
        # Whether the read that comes is part of an operator that is already noted.
        self._inside = False

    def install(self, overrides: Overrides) -> None:
        """Replaces the operators' kernels for CUDA."""
        for operator in _FRACTION_OF_ELEMENTS:
            overrides.replace(operator, "CUDA", functools.partial(self._select, operator))
        overrides.replace("aten::repeat_interleave.Tensor", "CUDA", self._repeat)
        overrides.replace("aten::bincount", "CUDA", self._bincount)
        overrides.replace("aten::_local_scalar_dense", "CUDA", self._read)
        overrides.replace("aten::_to_copy", "CUDA", self._to_copy)
        overrides.replace("aten::all", "CUDA", self._all)
        overrides.replace("aten::max", "CUDA", self._max)
        for operator in _ASK_WHETHER_VALID:
            overrides.replace(operator, "CUDA", self._accept)
        self.phantom.listen(self._note_read)
        # Distributions ask whether all their arguments are valid. Nothing computes the answer, which would read as "no".
        torch.distributions.Distribution.set_default_validate_args(False)

    def finish(self, records: Records) -> None:
        """The records of all that was noted; from now on nothing is."""
        self.phantom.stop_listening()
        for (operator, file, line), count in self.shapes.items():
            records.write("value_shape", op=operator, file=file, line=line, count=count, fraction=self.fraction)
        for (file, line), count in self.reads.items():
            records.write("value_read", file=file, line=line, count=count, bytes=self.bytes_read[file, line])

    def selected(self, elements: int) -> int:
        """How many of so many elements are assumed to be selected; never none of some, never more than there are."""
        return min(elements, max(1, round(self.fraction * elements)))

    def _select(self, operator: str, original: Original, tensor, *args, **kwargs):
        self._note_shape(operator)
        elements = _selectable(operator, tensor, args)
        if elements == 0:
            return self._run_inside(original, tensor, *args, **kwargs)
        with self.phantom.answering(self.selected(elements)):
            return self._run_inside(original, tensor, *args, **kwargs)

    def _repeat(self, original: Original, repeats, *, output_size=None):
        if output_size is None:
            self._note_shape("aten::repeat_interleave.Tensor")
            output_size = repeats.numel()
        return original(repeats, output_size=output_size)

    def _bincount(self, original: Original, *args, **kwargs):
        self._note_shape("aten::bincount")
        return self._run_inside(original, *args, **kwargs)

    def _accept(self, original: Original, *args, **kwargs):
        with self.phantom.answering(1):
            return self._run_inside(original, *args, **kwargs)

    def _all(self, original: Original, tensor):
        result = original(tensor)
        self.phantom.answer_at(result.data_ptr(), True)
        return result

    def _read(self, original: Original, tensor):
        answer = self._answer_of_scalar(tensor, _asking(sys._getframe(1)))
        if answer is None:
            return self._read_what_may_be_changed(original, tensor)
        with self.phantom.answering(answer):
            return original(tensor)

    def _answer_of_scalar(self, tensor, asking: FrameType | None) -> int | None:
        """What the read of one number gives, where more is known than the memory of the device holds."""
        if tensor.dtype in _FLOATS and _is_optimizers(asking):
            return _bits(float(self.step()), tensor.dtype)
        if _is_scalers(asking):
            return 0
        if tensor.dtype == torch.bool and asking is not None:
            return checks.passing_answer(asking)
        return self._take_maximum(tensor)

    def _to_copy(self, original: Original, tensor, *args, device=None, **kwargs):
        if device is None or device.type != "cpu":
            return original(tensor, *args, device=device, **kwargs)
        return self._read_what_may_be_changed(original, tensor, *args, device=device, **kwargs)

    def _read_what_may_be_changed(self, original: Original, tensor, *args, **kwargs):
        """Notes what the phantom takes to be known, because it was copied to the device, and an operator wrote into since."""
        noted = self._noted
        value = original(tensor, *args, **kwargs)
        if self._noted == noted and _is_changed(tensor):
            self._note_read(tensor.numel() * tensor.element_size())
        return value

    def _max(self, original: Original, tensor):
        result = original(tensor)
        value = self._run_inside(_known_maximum, tensor)
        self._maximum = (StorageWeakRef(result.untyped_storage()), value) if value else None
        return result

    def _take_maximum(self, tensor) -> int | None:
        """The value of the last maximum, if `tensor` is it. Once, because the block is reused."""
        if self._maximum is None or self._maximum[0].cdata != tensor.untyped_storage()._cdata:
            return None
        value, self._maximum = self._maximum[1], None
        return value

    @guarded
    def _note_read(self, size: int) -> None:
        if not self._inside:
            line = frames.users_line(sys._getframe(1))
            self._noted += 1
            self.reads[line] += 1
            self.bytes_read[line] += size

    def _note_shape(self, operator: str) -> None:
        if not self._inside:
            self.shapes[(operator, *frames.users_line(sys._getframe(2)))] += 1

    def _run_inside(self, original: Original, *args, **kwargs):
        """Runs the kernel; the reads it makes are part of it."""
        outer, self._inside = self._inside, True
        try:
            return original(*args, **kwargs)
        finally:
            self._inside = outer


def _is_changed(tensor: torch.Tensor) -> bool:
    """Whether an operator wrote into the tensor since it was made: the phantom still has what was copied there before.

    Tensors of inference mode keep no count of it.
    """
    return not tensor.is_inference() and tensor._version > 0


def _is_optimizers(frame: FrameType | None) -> bool:
    """Whether torch's optimizers ask: `_get_value` of `torch/optim/optimizer.py` reads nothing but step counters."""
    return frame is not None and frame.f_code is _GET_VALUE


def _is_scalers(frame: FrameType | None) -> bool:
    """Whether `GradScaler` asks for `found_inf`: in a generator of `_maybe_opt_step` (torch/amp/grad_scaler.py)."""
    return frame is not None and any(it is not None and it.f_code is _SCALER for it in (frame, frame.f_back))


def _asking(frame: FrameType | None) -> FrameType | None:
    """Whose code reads: a function mode, such as the one behind `set_default_device`, stands between."""
    while frame is not None and frame.f_code.co_filename.startswith((_HERE, _MODES)):
        frame = frame.f_back
    return frame


def _bits(value: float, dtype: torch.dtype) -> int:
    """The bytes of a number on the device, as an integer."""
    return int.from_bytes(struct.pack(_FLOATS[dtype], value), "little")


def _known_maximum(tensor) -> int | None:
    """The largest of indices that were copied to the device; nothing where that is unknown, changed since, or all are 0.

    The storage is read whole, as it was written (Note [Values on a phantom] in crates/phantom/src/values.rs).
    """
    storage = tensor.untyped_storage()
    is_small = tensor.dtype in _INTEGERS and storage.nbytes() <= wire.KEPT_BYTES
    if not is_small or _is_changed(tensor) or torch.cuda.is_current_stream_capturing():
        return None
    view = (tensor.storage_offset(), tensor.size(), tensor.stride())
    return int(torch.empty(0, dtype=tensor.dtype).set_(storage.cpu(), *view).max()) or None


def _selectable(operator: str, tensor, args: tuple) -> int:
    """How many could be selected: the elements, or with a dimension the slices along it."""
    if operator == "aten::unique_dim":
        return tensor.size(args[0])
    return tensor.numel()
