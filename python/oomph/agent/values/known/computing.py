"""Computes on the host what operators on the device would make of known values: stand-ins for their kernels.

Each stand-in runs the kernel as ever, so that memory, streams and errors are PyTorch's own, and then keeps the values, or the way to compute
them (Note [Values on demand] in `contents`). Nothing is computed during the capture of a CUDA graph: what is captured runs when the graph
is replayed.

Operators on large unknown tensors of floating-point numbers (activations, weights, gradients) go directly to the kernel
(`is_activation`).
"""

import functools
import sys
import threading
from collections.abc import Callable, Iterator

import torch

from ... import wire
from ...host.holes import LARGE_BYTES, Holes
from ...hooks.kernels import Original, Overrides
from ..sound import FIRST
from . import operators, philox
from .calls import Call, Unseen, find, read_all, run
from .contents import MOST_FLOAT_BYTES, Blank, Constant, Operand
from .entries import COMPARISON
from .schemas import list_operators, written_names, written_places
from .store import KnownValues

_NUMBERS = frozenset(it for it in vars(torch).values() if isinstance(it, torch.dtype) and (it.is_floating_point or it.is_complex))
# Numbers that the host draws as the device does take half a second for each million.
_MOST_DRAWN_BYTES = 8 << 20


class _Thread(threading.local):
    """The state of one thread."""

    # True while an operator of the table runs: calls of its kernel belong to the operator.
    is_quiet = False


class Computing:
    """The stand-ins."""

    def __init__(self, known: KnownValues, holes: Holes) -> None:
        self._known = known
        self._holes = holes
        self._here = _Thread()

    def install(self, overrides: Overrides, besides: tuple[str, ...]) -> None:
        """Replaces the kernels for CUDA of all operators of the table, but those in `besides`.

        Before PyTorch 2.10 nothing is computed: a stand-in there is called for the host's tensors as well (Note [Kernels before 2.10]).
        """
        # Copies from the host are composed of CPU operators.
        overrides.replace("aten::_to_copy", "CPU", functools.partial(self._run_composed, "_to_copy"))
        if not hasattr(torch.library, "get_kernel"):
            overrides.replace("aten::_to_copy", "CUDA", functools.partial(self._run_composed, "_to_copy"))
            return
        for name, stand_in in self._stand_ins(list_operators(), {*besides, *operators.DELEGATED}).items():
            overrides.replace(f"aten::{name}", "CUDA", stand_in, self._skip_of(name, stand_in))

    def _skip_of(self, name: str, stand_in: functools.partial) -> Callable[[tuple], bool] | None:
        """The condition on which calls go directly to the kernel."""
        if name in operators.DRAWN:
            return self._is_large_draw
        if stand_in.func is _call_of_tensors or written_places(name) not in ((), (0,)):
            return None
        if stand_in.func == self._run_quiet and stand_in.args[0] in (self._compute, self._make):
            return self._is_without_values
        is_writer = stand_in.func == self._run_quiet and written_places(name) == (0,)
        return self._is_without_change if is_writer else self.is_activation

    def _stand_ins(self, there: set[str], besides: set[str]) -> dict[str, functools.partial]:
        """Stand-ins by operator name, for the operators of `there` that are not in `besides`. Order: operators that invalidate, then
        operators that compute.
        """
        rows = [
            *((name, self._end_written, name) for name in there if written_places(name) and not operators.is_left_alone(name)),
            *((name, self._end_arguments, places) for name, places in operators.WRITTEN_ARGUMENTS.items()),
            *((name, self._compute_out, name) for name in there if written_names(name) and operators.is_computed_out(name)),
            *((name, self._share, None) for name in operators.SHARING),
            *((name, stand_in, name) for stand_in, names in self._tables() for name in names),
        ]
        found = {name: functools.partial(self._run_quiet, stand_in, argument) for name, stand_in, argument in rows}
        found |= {name: functools.partial(self._run_composed, name) for name in operators.COMPOSED}
        found |= {name: functools.partial(_call_of_tensors, of_tensors) for name, of_tensors in operators.OF_A_NUMBER.items()}
        return {name: stand_in for name, stand_in in found.items() if name in there and name not in besides}

    def _tables(self) -> Iterator[tuple[Callable, tuple[str, ...]]]:
        yield self._compute, operators.COMPUTED
        yield self._change, operators.CHANGED
        yield self._write, operators.WRITTEN
        yield self._write_out, operators.WRITTEN_OUT
        yield self._draw, operators.DRAWN
        yield self._draw_out, operators.DRAWN_OUT
        yield self._make, operators.MADE

    def is_activation(self, args: tuple) -> bool:
        """True if the first argument is a large tensor of floating-point numbers of which nothing is known."""
        first = args[0] if args else None
        if not isinstance(first, torch.Tensor) or first.nbytes <= wire.KEPT_BYTES or not first.is_cuda:
            return False
        return first.dtype in _NUMBERS and not self._known.has(first)

    def _is_without_values(self, args: tuple) -> bool:
        """True if the results stay unknown: of `is_activation`, within an operator of the table, and in a thread of a backward pass."""
        return self._here.is_quiet or sys._getframe(1).f_back is None or self.is_activation(args)

    def _is_without_change(self, args: tuple) -> bool:
        """As `_is_without_values`, for an operator that writes its first argument: of which nothing is known in a backward pass."""
        if self._here.is_quiet or self.is_activation(args):
            return True
        return sys._getframe(1).f_back is None and isinstance(args[0], torch.Tensor) and not self._known.has(args[0])

    def is_copy_of_activation(self, args: tuple) -> bool:
        """As `is_activation`, for the arguments of `copy_`: also true for weights of the host, and without elements."""
        into, source = args[:2]
        if not into.nbytes:
            return True
        if not self.is_activation((into,)):
            return False
        return self.is_activation((source,)) if source.is_cuda else not self._is_data(source)

    def _is_data(self, source: torch.Tensor) -> bool:
        """True for a host tensor to keep. Weights are not kept: they decide no size, and may be holes without values."""
        if source.nbytes < LARGE_BYTES or not (source.is_floating_point() or source.is_complex()):
            return True
        return source.nbytes <= MOST_FLOAT_BYTES and not source.requires_grad and self._holes.is_written(source)

    def _is_large_draw(self, args: tuple) -> bool:
        return args[0].nbytes > _MOST_DRAWN_BYTES and self.is_activation(args)

    def copy(self, original: Original, into: torch.Tensor, source: torch.Tensor, non_blocking: bool = False):
        """Copies to the device, or on it."""
        self._known.begin()
        operand = self._known.operand(source) if source.is_cuda else None
        result = original(into, source, non_blocking)
        if not source.is_cuda:
            self._keep(into, source if self._is_data(source) else None)
        elif operand is None or operand.is_small:
            self._keep(into, operand and operand.read())
        else:
            operand.lend()
            self._keep_later(into, operand.read, operand.depth + 1, is_own=False)
        return result

    def compute_all(self, result, name: str, *args, **kwargs) -> None:
        """Keeps what the operator makes of known arguments as the values of `result`, a tensor or several."""
        self._known.begin()
        self._keep_results(self._call(name, args, kwargs), result, is_new=True)

    def _keep_results(self, call: Call | None, result, *, is_new: bool) -> None:
        results = [result] if isinstance(result, torch.Tensor) else [it for it in result if it is not None]
        if call is None or not call.is_kept(results):
            self._known.forget_all(results)
        elif call.is_cheap(results):
            for number, tensor in enumerate(results):
                self._keep(tensor, call.result(number, tensor.shape), is_new=is_new)
        else:
            call.lend()
            for number, tensor in enumerate(results):
                self._keep_later(tensor, functools.partial(call.result, number, tensor.shape), call.depth, is_new=is_new)

    def _compute(self, name: str, original: Original, *args, **kwargs):
        result = original(*args, **kwargs)
        self.compute_all(result, name, *args, **kwargs)
        if name in operators.COMPARED and result.numel() == 1 and args[0].is_floating_point():
            self._assume_comparison(result, name, args)
        return result

    def _assume_comparison(self, result: torch.Tensor, name: str, args: tuple) -> None:
        """Compares an unknown number as if it were the first of Note [Sound values]; two unknown numbers are not compared."""
        if self._known.operand(result) is not None:
            return
        values = [self._known.get(it) if isinstance(it, torch.Tensor) and it.is_cuda else it for it in args]
        if sum(it is None for it in values) == 1:
            values = [torch.tensor(FIRST, device="cpu") if it is None else it for it in values]
            self._known.assume(result, functools.partial(_compare, name, result.size(), values), COMPARISON)

    def _compute_out(self, name: str, original: Original, *args, **kwargs):
        """An operator that writes its results into tensor arguments."""
        outputs = {output: kwargs[output] for output in written_names(name)}
        blanks = {output: Blank((0,), tensor.dtype) for output, tensor in outputs.items()}
        call = self._call(name, args, {**kwargs, **blanks})
        result = original(*args, **kwargs)
        with self._known.writing():
            self._keep_results(call, list(outputs.values()), is_new=False)
        return result

    def _change(self, name: str, original: Original, into, *args, **kwargs):
        call = self._call(name, args, kwargs)
        held = None if call is None else self._known.operand(into)
        result = original(into, *args, **kwargs)
        if held is None or _is_capturing() or not call.is_kept([into]):
            self._known.forget(into)
        elif call.is_small and held.is_small:
            self._known.change(into, call.apply, 0)
        else:
            call.lend()
            self._known.change(into, call.apply, max(call.depth, held.depth + 1))
        return result

    def _write(self, name: str, original: Original, into, *args, **kwargs):
        call = self._call(name, (Blank(into.size(), into.dtype), *args), kwargs)
        result = original(into, *args, **kwargs)
        self._keep_results(call, into, is_new=False)
        return result

    def _write_out(self, name: str, original: Original, *args, out):
        result = original(*args, out=out)
        self._keep_results(self._call(name, args, {"out": Blank(out.size(), out.dtype)}), out, is_new=False)
        return result

    def _draw(self, name: str, original: Original, into, *args, generator=None):
        """Draws; most numbers that initialise a model are never read, so they are computed when they are."""
        operands = self._operands(args)
        make = None
        if operands is not None and into.nbytes <= _MOST_DRAWN_BYTES and not _is_capturing():
            make = functools.partial(draw, name, philox.read_state(into, generator), into.size(), into.dtype, operands)
            for operand in operands:
                if isinstance(operand, (Operand, Constant)):
                    operand.lend()
        result = original(into, *args, generator=generator)
        self._keep_later(into, make, 1)
        return result

    def _draw_out(self, name: str, original: Original, *args, generator=None, out):
        small = out.nbytes <= _MOST_DRAWN_BYTES and not _is_capturing()
        state = philox.read_state(out, generator) if small else None
        result = original(*args, generator=generator, out=out)
        self._keep_later(out, functools.partial(draw_permutation, state, *args) if small else None, 1)
        return result

    def _run_quiet(self, stand_in: Callable, name, original: Original, *args, **kwargs):
        """Runs a stand-in; the stand-ins of operators that the kernel calls only call their kernels."""
        if self._here.is_quiet:
            return original(*args, **kwargs)
        if sys._getframe(1).f_back is None:
            return self._run_in_backward(stand_in, original, *args, **kwargs)
        self._known.begin()
        return stand_in(name, functools.partial(self.call_quietly, original), *args, **kwargs)

    def _run_in_backward(self, stand_in: Callable, original: Original, *args, **kwargs):
        """Calls a kernel in a thread that no Python runs in, where nothing new is known: a thread of a backward pass."""
        result = original(*args, **kwargs)
        if stand_in not in (self._compute, self._make):
            self._known.forget_all(it for it in (*args, *kwargs.values()) if isinstance(it, torch.Tensor))
        return result

    def call_quietly(self, original: Original, *args, **kwargs):
        """Calls a kernel; operators inside the kernel are not computed."""
        outer, self._here.is_quiet = self._here.is_quiet, True
        try:
            return original(*args, **kwargs)
        finally:
            self._here.is_quiet = outer

    def _end_written(self, name: str, original: Original, *args, **kwargs):
        """Runs an operator that writes into tensors, or lists of tensors, and is not computed."""
        result = original(*args, **kwargs)
        written = [args[place] for place in written_places(name) if place < len(args)]
        written += [kwargs[it] for it in written_names(name) if it in kwargs]
        for value in written:
            if value is not None:
                self._known.forget_all([value] if isinstance(value, torch.Tensor) else value)
        return result

    def _share(self, _operator, original: Original, tensor, source, *args):
        """Sets a tensor to the memory of a storage, or of another tensor."""
        self._known.forget(tensor)
        result = original(tensor, source, *args)
        self._known.share(tensor.untyped_storage())
        return result

    def _end_arguments(self, places: tuple[int, ...], original: Original, *args, **kwargs):
        """Runs an operator that writes some of its arguments."""
        result = original(*args, **kwargs)
        for place in places:
            if isinstance(args[place], torch.Tensor):
                self._known.forget(args[place])
        return result

    def _run_composed(self, _name: str, original: Original, *args, **kwargs):
        """Runs an operator composed of other operators."""
        for arg in args:
            if isinstance(arg, torch.Tensor):
                self._known.check(arg)
        with self._known.trusting():
            result = original(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            self._known.approve(result)
        return result

    def _make(self, name: str, original: Original, *args, **kwargs):
        result = original(*args, **kwargs)
        if not self.is_activation((result,)):
            # The argument of a `_like` operator decides shape and dtype.
            shapes = [Blank(arg.size(), arg.dtype) if isinstance(arg, torch.Tensor) else arg for arg in args]
            self._keep_results(Call(name, shapes, _on_host(kwargs)), result, is_new=True)
        return result

    def _keep(self, tensor: torch.Tensor, values: torch.Tensor | None, *, is_new: bool = False) -> None:
        if values is None or _is_capturing():
            self._known.forget(tensor)
        else:
            with Unseen():
                self._known.set(tensor, values, is_new=is_new)

    def _keep_later(self, tensor: torch.Tensor, make: Callable | None, depth: int, *, is_new: bool = False, is_own: bool = True) -> None:
        if make is None or _is_capturing():
            self._known.forget(tensor)
        else:
            with Unseen():
                self._known.set_later(tensor, make, depth, is_new=is_new, is_own=is_own)

    def _call(self, name: str, args, kwargs: dict) -> Call | None:
        """The operator with known values in place of device tensors; nothing if one is unknown."""
        values = self._operands(args)
        named = None if values is None else self._operands(kwargs.values())
        return None if named is None else Call(name, values, dict(zip(kwargs, named)))

    def _operand(self, tensor: torch.Tensor) -> Operand | Constant | Blank | None:
        if not tensor.is_cuda:
            return Constant(tensor)
        # An empty tensor has no storage.
        return self._known.operand(tensor) if tensor.numel() else Blank(tensor.size(), tensor.dtype)

    def _operands(self, args) -> list | None:
        operands = []
        for arg in args:
            if isinstance(arg, torch.Tensor):
                arg = self._operand(arg)
                if arg is None:
                    return None
            elif isinstance(arg, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in arg):
                arg = self._operands(arg)
                if arg is None:
                    return None
            operands.append(arg)
        return operands


def _call_of_tensors(name: str, _original: Original, *args, **kwargs):
    """Calls an operator with the number among its arguments as a tensor of the device."""
    device = next(arg.device for arg in args if isinstance(arg, torch.Tensor))
    return find(name)(*(arg if isinstance(arg, torch.Tensor) else torch.tensor(arg, device=device) for arg in args), **kwargs)


def _compare(name: str, size: torch.Size, values: list) -> torch.Tensor | None:
    compared = run(name, *values)
    return None if compared is None else compared.reshape(size)


def draw(name: str, state: philox.Draw, size: torch.Size, dtype: torch.dtype, operands: list) -> torch.Tensor | None:
    """The numbers that the device draws from this state: Note [Draws of a device] in `philox`."""
    args = read_all(operands)
    if args is None:
        return None
    with Unseen():
        if name == "bernoulli_.Tensor":
            return philox.draw_by_probabilities(state, args[0].expand(size)).to(dtype)
        drawn = philox.draw(name, state, dtype, size.numel(), *args)
        if drawn is not None:
            return drawn.view(size)
    return run(name, torch.empty(size, dtype=dtype, device="cpu"), *args, generator=_generator_of(state))


def draw_permutation(state: philox.Draw, count: int) -> torch.Tensor:
    """The permutation that the device draws from this state."""
    with Unseen():
        return philox.permute(state, count)


def _generator_of(state: philox.Draw) -> torch.Generator:
    """A generator of the host, of which equal states of the device's make equal draws."""
    return torch.Generator(device="cpu").manual_seed((state.seed + state.offset) % (1 << 63))


def _on_host(kwargs: dict) -> dict:
    """The arguments that make the same tensor on the host."""
    return {name: value for name, value in kwargs.items() if name not in ("device", "pin_memory")} | {"device": torch.device("cpu")}


def _is_capturing() -> bool:
    return torch.cuda.is_current_stream_capturing()
