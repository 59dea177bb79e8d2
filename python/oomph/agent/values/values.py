"""Shapes and decisions that depend on values which a phantom GPU does not compute.

Note [Answers for value-dependent shapes]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
All answers are for unknown values; known values decide as on a GPU (Note [Known values] in `known.store`).

A kernel with such a shape counts on the device and reads the count back: one small read. Before the kernel runs, the
phantom gets the answer for that read:

- `nonzero` (boolean indexing, `masked_select`, `where` and torchvision's NMS end here): the assumed fraction of the
  elements, at least one. `unique` and `unique_consecutive` likewise: so many different values.
- `repeat_interleave` with repeats on the device: each repeat counts as 1. The size is passed as `output_size`, because
  the kernel would otherwise also read back whether all repeats are positive.
- `bincount`: its size is the largest value + 1. Zeros are read, and its size is `minlength`, at least 1.
- Samplers first read back the validity of their arguments; the answer is "yes".
- `all` over a whole tensor is true: programs check their input with `all` (`assert (labels >= 0).all()`), or skip work that is rarely
  needed (transformers: is this batch packed?), and zeros would be the answer of the rare case.
- An optimizer that reads its step counter off the device (a program under `set_default_device("cuda")`) receives the number of the current
  step: the optimizer divides by the counter, whose increments were not computed.
- A boolean that a check of the program's own reads passes the check: Note [Checks pass] in `checks`.
- `GradScaler` asks for overflowed gradients: there are none, so that the optimizer steps, and the scale stays.
- The sum of a mask is the assumed fraction of its elements: zeros lead into divisions by zero, and into shapes without elements. A read of
  such a count that may decide a size is listed as a value-dependent shape, and its number as an assumption. The indices of `argmax`, `topk` and `multinomial` are drawn: Note [Assumed indices] in `known.indices`. Operators go on to compute with both,
  and what a program reads of it is noted.
- A plain read (`.item()`, `.tolist()`, `.cpu()`, `bool(tensor)`) is noted, because anything may be decided by it. Floating-point numbers are
  small and positive: Note [Sound values] in `sound`. All other values are zeros.
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
from torch.optim import optimizer as optim

from .. import libraries, records
from ..host.holes import Holes
from ..hooks.kernels import Original, Overrides
from ..phantom import Phantom
from ..process import frames
from ..failure import guarded
from ..hooks.hidden import hide
from . import checks, sizes, sound
from .choices import Choices, Patience
from .known import indices, sharing
from .known.calls import run
from .known.computing import Computing
from .known.entries import CHOICE, COMPARISON, SHARE
from .known.store import KnownValues

_MODES = os.path.join(os.path.dirname(torch.__file__), "utils", "")
_GET_VALUE = getattr(getattr(optim, "_get_value", None), "__code__", None)
_SCALER = getattr(getattr(torch.amp.GradScaler, "_maybe_opt_step", None), "__code__", None)
_FLOATS = {torch.float32: "<f", torch.float64: "<d"}
_FRACTION_OF_ELEMENTS = ("nonzero", "_unique2", "_unique", "unique_dim", "unique_consecutive")
_COUNTS_NAMED = 3
_ASK_WHETHER_VALID = ("normal.Tensor_Tensor", "normal.float_Tensor")


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
        # The reads that may decide a size: Note [Sizes from reads] in `sizes`.
        self.sizes_read: Counter[tuple[str, int]] = Counter()
        # Counts of selected elements that may decide a size, by file and line; the elements that each was taken of.
        self.counts: dict[tuple[str, int], int] = {}
        self._elements: dict[int, int] = {}
        # Texts by stable names.
        self.assumptions: dict[str, str] = {}
        # The number of assumed answers that were not noted because they lead past a check.
        self.assumed = 0
        # True if the coming read is part of an operator that is already noted.
        self._inside = False
        # True if the coming read is of whole numbers, and if it copies a tensor.
        self._is_whole = True
        self._is_copy = False
        self.known = KnownValues(phantom)
        self._computing = Computing(self.known, Holes(phantom))
        self._sound = sound.SoundValues()
        self._patience = Patience()

    def install(self, overrides: Overrides) -> None:
        """Replaces the operators' kernels for CUDA."""
        stand_ins = {
            **{name: functools.partial(self._select, name) for name in _FRACTION_OF_ELEMENTS},
            **{name: functools.partial(self._accept, name) for name in _ASK_WHETHER_VALID},
            "repeat_interleave.Tensor": self._repeat,
            "bincount": self._bincount,
            "all": self._all,
            "equal": self._equal,
            "sum.dim_IntList": self._sum,
            **Choices(self.phantom, self.known, self._computing, self._run_inside).stand_ins(),
            "_amp_update_scale_": self._update_scale,
            "_local_scalar_dense": self._read,
            "copy_": self._copy,
        }
        # Large tensors of unknown numbers go by these unseen.
        skips = {"copy_": self._computing.is_copy_of_activation, "sum.dim_IntList": self._computing.is_activation}
        for name, stand_in in stand_ins.items():
            overrides.replace(f"aten::{name}", "CUDA", stand_in, skips.get(name))
        overrides.replace("aten::allclose", "CPU", self._allclose)
        self._computing.install(overrides, tuple(stand_ins))
        sharing.install(self.known)
        libraries.install()
        self.phantom.listen(hide(self._note_read))
        # Distributions ask whether all their arguments are valid. Nothing computes the answer, which would read as "no".
        torch.distributions.Distribution.set_default_validate_args(False)

    def finish(self, write: Callable[[dict], object]) -> None:
        """The records of all that was noted; from now on nothing is."""
        self.phantom.stop_listening()
        if self.counts:
            self.assumptions["assumed-counts"] = self._say_counts()
        for name, text in self.assumptions.items():
            write(records.assumption(id=name, text=text))
        for (operator, file, line), count in self.shapes.items():
            write(records.value_shape(op=operator, file=file, line=line, count=count, fraction=self.fraction))
        for (file, line), count in self.reads.items():
            write(records.value_read(file=file, line=line, count=count, bytes=self.bytes_read[file, line], sizes=self.sizes_read[file, line]))

    def selected(self, elements: int) -> int:
        """The assumed number of selected elements: at least 1, at most `elements`."""
        return min(elements, max(1, round(self.fraction * elements)))

    def _select(self, name: str, original: Original, tensor, *args, **kwargs):
        if tensor.numel() == 0:
            return self._run_inside(original, tensor, *args, **kwargs)
        values = self.known.get(tensor)
        found = None if values is None else run(name, values, *args, **kwargs)
        if found is not None:
            self._note_assumed(tensor)
        if found is None:
            self._note_shape(f"aten::{name}")
            count = self.selected(_selectable(name, tensor, args))
        else:
            count = _count_asked_for(name, found, values, args)
        with self.phantom.answering(count):
            result = self._run_inside(self._computing.call_quietly, original, tensor, *args, **kwargs)
        self._computing.compute_all(result, name, tensor, *args, **kwargs)
        return result

    def _repeat(self, original: Original, repeats, *, output_size=None):
        if output_size is None:
            values = self.known.get(repeats)
            if values is None:
                self._note_shape("aten::repeat_interleave.Tensor")
                self._note_size(repeats.nbytes)
            self._note_assumed(repeats)
            output_size = repeats.numel() if values is None else int(values.sum())
        result = original(repeats, output_size=output_size)
        self._computing.compute_all(result, "repeat_interleave.Tensor", repeats, output_size=output_size)
        return result

    def _bincount(self, original: Original, tensor, *args, **kwargs):
        values = self.known.get(tensor)
        if values is None:
            self._note_shape("aten::bincount")
            self._note_size(tensor.nbytes)
            return self._run_inside(original, tensor, *args, **kwargs)
        self._note_assumed(tensor)
        # Its kernel asks for the smallest value, and for the largest.
        with self.phantom.answering(int(values.max()) if values.numel() else 0):
            result = self._run_inside(self._computing.call_quietly, original, tensor, *args, **kwargs)
        self._computing.compute_all(result, "bincount", tensor, *args, **kwargs)
        return result

    def _accept(self, name: str, original: Original, *args, **kwargs):
        with self.phantom.answering(1):
            return self._run_inside(original, *args, **kwargs)

    def _all(self, original: Original, tensor):
        result = original(tensor)
        self._computing.compute_all(result, "all", tensor)
        if self.known.operand(result) is None:
            self.assumed += not self._inside
            self.phantom.answer_at(result.data_ptr(), True)
        return result

    def _sum(self, original: Original, tensor, *args, **kwargs):
        result = self._computing.call_quietly(original, tensor, *args, **kwargs)
        self._computing.compute_all(result, "sum.dim_IntList", tensor, *args, **kwargs)
        if tensor.dtype == torch.bool and tensor.numel() and self.known.operand(result) is None:
            count = self.selected(tensor.numel() // result.numel())
            self._elements[count] = tensor.numel() // result.numel()
            self.known.assume(result, lambda: torch.tensor(count, device="cpu"), SHARE)
        return result

    def _update_scale(self, original: Original, scale, growth_tracker, *args):
        """Gradients did not overflow: the scale of the loss stays as it was."""
        result = original(scale, growth_tracker, *args)
        self.known.forget(growth_tracker)
        self.known.touch(scale)
        return result

    def _equal(self, original: Original, tensor, other):
        values = self.known.get(tensor), self.known.get(other)
        answer = None if any(it is None for it in values) else run("equal", *values)
        if answer is None:
            return original(tensor, other)
        self._run_inside(original, tensor, other)
        self._note_assumed(tensor)
        self._note_assumed(other)
        return answer

    def _allclose(self, original: Original, *args, **kwargs):
        """Results that were copied to the host were assumed: a check that compares them passes."""
        answer = original(*args, **kwargs)
        asking = _asking(sys._getframe(1))
        is_assumed = "sound-values" in self.assumptions and asking is not None and not answer
        return bool(checks.passing_answer(asking)) if is_assumed else answer

    def _copy(self, original: Original, into, source, non_blocking=False):
        if into.is_cuda:
            return self._computing.copy(original, into, source, non_blocking)
        self._is_whole, self._is_copy = _has_whole(source), True
        values = self.known.get(source)
        if values is None:
            return self._copy_unknown(original, into, source, non_blocking)
        self._note_assumed(source)
        self._run_inside(original, into, source, non_blocking)
        return into.copy_(values)

    def _copy_unknown(self, original: Original, into, source, non_blocking: bool):
        """Copies unknown values to the host."""
        result = original(into, source, non_blocking)
        asking = _asking(sys._getframe(1)) if source.is_floating_point() and not self._inside else None
        if asking is not None and self._sound.fill(into, asking):
            self.assumptions["sound-values"] = sound.TEXT
        return result

    def _read(self, original: Original, tensor):
        self._is_whole, self._is_copy = _has_whole(tensor), False
        values = self.known.get(tensor)
        assumed = self.known.assumed(tensor) if values is not None else 0
        if values is not None and not assumed:
            self._run_inside(original, tensor)
            return values.item()
        asking = _asking(sys._getframe(1))
        answer = self._answer_of_scalar(tensor, asking)
        if answer is not None:
            with self.phantom.answering(answer):
                return original(tensor)
        if not assumed or (assumed == COMPARISON and _ends_a_loop(asking)):
            return self._read_unknown(original, tensor, asking)
        self._note_assumed(tensor)
        self._run_inside(original, tensor)
        return self._patience.answer(values.item(), asking)

    def _read_unknown(self, original: Original, tensor, asking: FrameType | None):
        """Reads an unknown number."""
        read = original(tensor)
        if self._inside or asking is None or not tensor.is_floating_point():
            return read
        self.assumptions["sound-values"] = sound.TEXT
        return self._sound.next_number(asking)

    def _note_assumed(self, tensor) -> None:
        """Notes the read of a value that is assumed."""
        assumed = self.known.assumed(tensor)
        if not assumed or self._inside:
            return
        if assumed & CHOICE:
            self.assumptions["assumed-indices"] = indices.TEXT
        if assumed & COMPARISON:
            self.assumptions["sound-values"] = sound.TEXT
        self._is_whole = _has_whole(tensor)
        if assumed == SHARE:
            self._note_count(tensor)
        else:
            self._note_read(tensor.nbytes)

    def _answer_of_scalar(self, tensor, asking: FrameType | None) -> int | None:
        """The answer for a read of one number, if more is known than the device's memory holds."""
        if tensor.dtype in _FLOATS and _is_optimizers(asking):
            return _bits(float(self.step()), tensor.dtype)
        if _is_scalers(asking):
            return 0
        if tensor.dtype == torch.bool and asking is not None:
            return checks.passing_answer(asking)
        return None

    @guarded
    def _note_read(self, size: int) -> None:
        if not self._inside:
            line = frames.users_line(sys._getframe(1))
            self.reads[line] += 1
            self.bytes_read[line] += size
            self.sizes_read[line] += bool(sizes.may_decide(sys._getframe(1), self._is_whole, self._is_copy))

    @guarded
    def _note_count(self, tensor) -> None:
        """Notes the read of counts that follow the assumed fraction, and of nothing else."""
        line = frames.users_line(sys._getframe(1))
        self.reads[line] += 1
        self.bytes_read[line] += tensor.nbytes
        values = self.known.get(tensor)
        if values is not None and values.numel() and sizes.may_decide(sys._getframe(1), self._is_whole, self._is_copy):
            self.shapes[("aten::sum", *line)] += 1
            self.counts[line] = max(self.counts.get(line, 0), int(values.max()))

    def _say_counts(self) -> str:
        """The counts that programs read, and the lines."""
        named = []
        for (file, line), count in list(self.counts.items())[:_COUNTS_NAMED]:
            of = f" of {self._elements[count]:,}" if count in self._elements else ""
            named.append(f"{count:,}{of} ({os.path.basename(file)}:{line})")
        return f"counts of selected elements, of which sizes may be made, are assumed: {', '.join(named)}; --fraction sets the share"

    def _note_size(self, size: int) -> None:
        """Notes values that decide a size, whatever fraction is assumed."""
        if not self._inside:
            line = frames.users_line(sys._getframe(2))
            self.reads[line] += 1
            self.bytes_read[line] += size
            self.sizes_read[line] += 1

    def _note_shape(self, operator: str) -> None:
        if not self._inside:
            self.shapes[(operator, *frames.users_line(sys._getframe(2)))] += 1

    def _run_inside(self, original: Original, *args, **kwargs):
        """Runs the kernel; reads by the kernel belong to the operator."""
        outer, self._inside = self._inside, True
        try:
            return original(*args, **kwargs)
        finally:
            self._inside = outer


def _is_optimizers(frame: FrameType | None) -> bool:
    """True if torch's optimizers read: `_get_value` of `torch/optim/optimizer.py` reads nothing but step counters."""
    return frame is not None and frame.f_code is _GET_VALUE


def _is_scalers(frame: FrameType | None) -> bool:
    """True if `GradScaler` reads `found_inf`: in a generator of `_maybe_opt_step` (torch/amp/grad_scaler.py)."""
    return frame is not None and any(it is not None and it.f_code is _SCALER for it in (frame, frame.f_back))


def _ends_a_loop(asking: FrameType | None) -> bool:
    """True for a read that a loop waits for, or that asks for an overflow: the answer is false."""
    return asking is not None and (sound.asks_for_overflow(asking) or bool(checks.is_in_loop(asking)))


def _asking(frame: FrameType | None) -> FrameType | None:
    """The frame that reads, without function modes in between, such as that of `set_default_device`."""
    while frame is not None and frame.f_code.co_filename.startswith((frames.AGENT, _MODES)):
        frame = frame.f_back
    return frame


def _has_whole(tensor: torch.Tensor) -> bool:
    """True for integers; a truth decides a branch."""
    return not tensor.is_floating_point() and tensor.dtype != torch.bool


def _bits(value: float, dtype: torch.dtype) -> int:
    """The bytes of a number on the device, as an integer."""
    return int.from_bytes(struct.pack(_FLOATS[dtype], value), "little")


def _count_asked_for(name: str, found, values: torch.Tensor, args: tuple) -> int:
    """The count that the kernel reads from the device: of found elements, or of true values for the distinct values of booleans (PyTorch
    2.11, aten/src/ATen/native/cuda/UniqueCub.cu)."""
    if name in ("_unique", "_unique2") and values.dtype == torch.bool:
        return int(values.sum())
    return len(found) if isinstance(found, torch.Tensor) else found[0].size(args[0] if name == "unique_dim" else 0)


def _selectable(name: str, tensor, args: tuple) -> int:
    """The number of selectable things: the elements, or with a dimension the slices along it."""
    if name == "unique_dim":
        return tensor.size(args[0])
    return tensor.numel()
