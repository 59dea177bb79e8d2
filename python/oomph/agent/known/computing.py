"""Computes on the host what operators on the device would make of known values: stand-ins for their kernels.

Each stand-in runs the kernel as ever, so that memory, streams and errors are PyTorch's own, and then keeps the values. Nothing is computed
during the capture of a CUDA graph: what is captured runs when the graph is replayed.
"""

import functools
import sys
import threading
from collections.abc import Callable, Iterator

import torch

from .. import wire
from ..overrides import Original, Overrides
from . import operators, philox
from .store import KnownValues

# Errors of operators whose arguments would be an error on a GPU, too, or for whose dtype the CPU has no kernel.
_NOT_COMPUTED = (RuntimeError, IndexError, NotImplementedError, ValueError, TypeError)


class _Thread(threading.local):
    """The state of one thread."""

    # True while an operator of the table runs: calls of its kernel belong to the operator.
    is_quiet = False


class Computing:
    """The stand-ins."""

    def __init__(self, known: KnownValues) -> None:
        self._known = known
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
        for name, stand_in in self._stand_ins(set(list_operators()), {*besides, *operators.DELEGATED}).items():
            largest_bytes = None if stand_in.func in (self._run_lists, _call_of_tensors) else wire.KEPT_BYTES
            overrides.replace(f"aten::{name}", "CUDA", stand_in, largest_bytes=largest_bytes)

    def _stand_ins(self, there: set[str], besides: set[str]) -> dict[str, functools.partial]:
        """Stand-ins by operator name, for the operators of `there` that are not in `besides`. Order: operators that invalidate, then
        operators that compute.
        """
        writing = filter(operators.writes_in_place, there)
        outputs = (it for it in there if operators.is_out(it) and torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{it}", "CUDA"))
        rows = [
            *((name, self._end, None) for name in writing),
            *((name, self._end_out, name) for name in outputs),
            *((name, self._end_arguments, places) for name, places in operators.WRITTEN_ARGUMENTS.items()),
            *((name, self._share, None) for name in operators.SHARING),
            *((name, stand_in, name) for stand_in, names in self._tables() for name in names),
        ]
        found = {name: functools.partial(self._run_quiet, stand_in, argument) for name, stand_in, argument in rows}
        found |= {name: functools.partial(self._run_lists, name) for name in there if operators.takes_lists(name)}
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

    def copy(self, original: Original, into: torch.Tensor, source: torch.Tensor, non_blocking: bool = False):
        """Copies to the device, or on it."""
        values = None
        if into.nbytes <= wire.KEPT_BYTES:
            values = self._known.get(source) if source.is_cuda else source
        result = original(into, source, non_blocking)
        self._keep(into, values)
        return result

    def compute_all(self, result, name: str, *args, **kwargs) -> None:
        """Keeps what the operator makes of known arguments as the values of `result`, a tensor or several."""
        results = [result] if isinstance(result, torch.Tensor) else [it for it in result if it is not None]
        if any(tensor.nbytes > wire.KEPT_BYTES for tensor in results):
            return
        values = self._values(args)
        named = None if values is None else self._values(kwargs.values())
        made = None if named is None else run(name, *values, **dict(zip(kwargs, named)))
        made = [made] * len(results) if made is None or isinstance(made, torch.Tensor) else made
        for tensor, value in zip(results, made):
            self._keep(tensor, value if value is not None and value.shape == tensor.shape else None, is_new=True)

    def _compute(self, name: str, original: Original, *args, **kwargs):
        result = original(*args, **kwargs)
        self.compute_all(result, name, *args, **kwargs)
        return result

    def _change(self, name: str, original: Original, into, *args, **kwargs):
        values, named = self._values(args), self._values(kwargs.values())
        held = None if values is None or named is None else self._known.get(into)
        result = original(into, *args, **kwargs)
        if held is None or _is_capturing() or run(name, held, *values, **dict(zip(kwargs, named))) is None:
            self._known.forget(into)
        else:
            self._known.touch(into)
        return result

    def _write(self, name: str, original: Original, into, *args, **kwargs):
        values = self._values(args)
        result = original(into, *args, **kwargs)
        made = None
        if values is not None and into.nbytes <= wire.KEPT_BYTES:
            made = run(name, _empty_like(into), *values, **kwargs)
        self._keep(into, made)
        return result

    def _write_out(self, name: str, original: Original, *args, out):
        result = original(*args, out=out)
        self._keep(out, run(name, *args, out=_empty_like(out)) if out.nbytes <= wire.KEPT_BYTES else None)
        return result

    def _draw(self, name: str, original: Original, into, *args, generator=None):
        """Draws; most numbers that initialise a model are never read, so they are computed when they are."""
        values = self._values(args)
        drawn = None
        if values is not None and into.nbytes <= wire.KEPT_BYTES and not _is_capturing():
            drawn = functools.partial(draw, name, philox.read_state(into, generator), _empty_like(into), *values)
        result = original(into, *args, generator=generator)
        self._keep(into, drawn)
        return result

    def _draw_out(self, name: str, original: Original, *args, generator=None, out):
        small = out.nbytes <= wire.KEPT_BYTES and not _is_capturing()
        state = philox.read_state(out, generator) if small else None
        result = original(*args, generator=generator, out=out)
        self._keep(out, functools.partial(draw_permutation, state, *args) if small else None)
        return result

    def _run_quiet(self, stand_in: Callable, name, original: Original, *args, **kwargs):
        """Runs a stand-in; the stand-ins of operators that the kernel calls only call their kernels."""
        if self._here.is_quiet:
            return original(*args, **kwargs)
        if sys._getframe(1).f_back is None:
            return self._run_in_backward(stand_in, original, *args, **kwargs)
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

    def _end(self, _operator, original: Original, into, *args, **kwargs):
        """An operator that writes in place, and is not computed."""
        result = original(into, *args, **kwargs)
        if isinstance(into, torch.Tensor):
            self._known.forget(into)
        return result

    def _run_lists(self, name: str, original: Original, *args, **kwargs):
        """Runs an operator that writes lists of tensors, without computing values."""
        result = original(*args, **kwargs)
        for place in _written_places(name):
            if place < len(args) and args[place] is not None:
                self._known.forget_all([args[place]] if isinstance(args[place], torch.Tensor) else args[place])
        return result

    def _end_out(self, name: str, original: Original, *args, **kwargs):
        """Runs an operator that writes its results into tensor arguments."""
        result = original(*args, **kwargs)
        for output in _outputs_of(name):
            self._known.forget_all([kwargs[output]] if isinstance(kwargs[output], torch.Tensor) else kwargs[output])
        return result

    def _share(self, _operator, original: Original, tensor, source, *args):
        """Sets a tensor to the memory of a storage, or of another tensor."""
        self._known.forget(tensor)
        result = original(tensor, source, *args)
        self._known.share(tensor)
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
        if result.nbytes <= wire.KEPT_BYTES:
            # The argument of a `_like` operator decides shape and dtype.
            shapes = [_empty_like(arg) if isinstance(arg, torch.Tensor) else arg for arg in args]
            self._keep(result, run(name, *shapes, **_on_host(kwargs)), is_new=True)
        return result

    def _keep(self, tensor: torch.Tensor, values: torch.Tensor | Callable | None, *, is_new: bool = False) -> None:
        if values is None or _is_capturing():
            self._known.forget(tensor)
        else:
            with _Unseen():
                self._known.set(tensor, values, is_new=is_new)

    def _values(self, args) -> list | None:
        """The arguments with known values in place of device tensors; nothing if one is unknown."""
        values = []
        for arg in args:
            if isinstance(arg, torch.Tensor):
                arg = self._known.get(arg) if arg.is_cuda else arg
                if arg is None:
                    return None
            elif isinstance(arg, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in arg):
                arg = self._values(arg)
                if arg is None:
                    return None
            values.append(arg)
        return values


class _Unseen:
    """Operators within are seen by no mode of the program's, and recorded for no backward."""

    def __enter__(self) -> None:
        self._guards = (torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd())
        for guard in self._guards:
            guard.__enter__()

    def __exit__(self, *error) -> None:
        for guard in reversed(self._guards):
            guard.__exit__(*error)


def _call_of_tensors(name: str, _original: Original, *args, **kwargs):
    """Calls an operator with the number among its arguments as a tensor of the device."""
    device = next(arg.device for arg in args if isinstance(arg, torch.Tensor))
    return find(name)(*(arg if isinstance(arg, torch.Tensor) else torch.tensor(arg, device=device) for arg in args), **kwargs)


@functools.cache
def find(name: str) -> torch._ops.OpOverload:
    """The operator `add.Tensor`."""
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


@functools.cache
def _written_places(name: str) -> tuple[int, ...]:
    """The places of the arguments that an operator writes."""
    arguments = find(name)._schema.arguments
    return tuple(place for place, it in enumerate(arguments) if it.alias_info is not None and it.alias_info.is_write)


@functools.cache
def _outputs_of(name: str) -> tuple[str, ...]:
    """The arguments for the results of `add.out`."""
    return tuple(it.name for it in find(name)._schema.arguments if it.is_out)


def list_operators() -> list[str]:
    """Operators with kernels for CUDA."""
    names = (it.removeprefix("aten::") for it in torch._C._dispatch_get_all_op_names() if it.startswith("aten::"))
    return [name for name in names if torch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", "CUDA")]


def run(name: str, *args, **kwargs):
    """The operator's result on the host; `None` if the host refuses."""
    try:
        with _Unseen():
            return find(name)(*args, **kwargs)
    except _NOT_COMPUTED:
        return None


def draw(name: str, state: philox.Draw, like: torch.Tensor, *args) -> torch.Tensor:
    """The numbers that the device draws from this state: Note [Draws of a device] in `philox`."""
    with _Unseen():
        if name == "bernoulli_.Tensor":
            return philox.draw_by_probabilities(state, args[0].expand(like.shape)).to(like.dtype)
        drawn = philox.draw(name, state, like.dtype, like.numel(), *args)
        if drawn is not None:
            return drawn.view(like.shape)
    return run(name, like, *args, generator=_generator_of(state))


def draw_permutation(state: philox.Draw, count: int) -> torch.Tensor:
    """The permutation that the device draws from this state."""
    with _Unseen():
        return philox.permute(state, count)


def _generator_of(state: philox.Draw) -> torch.Generator:
    """A generator of the host, of which equal states of the device's make equal draws."""
    return torch.Generator(device="cpu").manual_seed((state.seed + state.offset) % (1 << 63))


def _empty_like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.size(), dtype=tensor.dtype, device="cpu")


def _on_host(kwargs: dict) -> dict:
    """The arguments that make the same tensor on the host."""
    return {name: value for name, value in kwargs.items() if name not in ("device", "pin_memory")} | {"device": torch.device("cpu")}


def _is_capturing() -> bool:
    return torch.cuda.is_current_stream_capturing()
