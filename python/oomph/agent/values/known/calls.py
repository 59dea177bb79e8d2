"""An operator with its known arguments: runs on the host, now or when a value is read."""

import functools

import torch

from ... import wire
from .contents import MOST_BYTES, MOST_DEPTH, Blank, Constant, Operand

# Errors of operators whose arguments would be an error on a GPU, too, or for whose dtype the CPU has no kernel.
_NOT_COMPUTED = (RuntimeError, IndexError, NotImplementedError, ValueError, TypeError)
_KINDS = (Operand, Blank, Constant)


class Call:
    """A call of an operator."""

    __slots__ = ("name", "args", "kwargs", "depth", "is_small", "_results")

    def __init__(self, name: str, args: list, kwargs: dict) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        operands = list(_operands([*args, *kwargs.values()]))
        # The number of operators to run for a result: Note [Values on demand] in `contents`.
        self.depth = 1 + max((it.depth for it in operands), default=0)
        # True if the operands are at hand and few.
        self.is_small = all(it.is_small for it in operands)
        self._results: list | None = None

    def is_cheap(self, results: list[torch.Tensor]) -> bool:
        """True if computing now is cheaper than remembering."""
        return self.is_small and all(it.nbytes <= wire.KEPT_BYTES for it in results)

    def is_kept(self, results: list[torch.Tensor]) -> bool:
        """True if the results may be computed later: within the budget, and integers where a long chain must be computed at once."""
        is_floating = any(it.is_floating_point() or it.is_complex() for it in results)
        largest = max((it.nbytes for it in results), default=0)
        return largest <= MOST_BYTES and not (self.depth > MOST_DEPTH and is_floating and largest > wire.KEPT_BYTES)

    def lend(self) -> None:
        """The operands stay as they are."""
        for operand in _operands([*self.args, *self.kwargs.values()]):
            operand.lend()

    def compute(self) -> list:
        """The results, `None` in place of one if the host refuses."""
        if self._results is None:
            made = self.apply()
            self._results = [made] if made is None or isinstance(made, torch.Tensor) else list(made)
            self.args = self.kwargs = None
        return self._results

    def result(self, number: int, shape: torch.Size) -> torch.Tensor | None:
        """A result, if it has the shape that the device's has."""
        results = self.compute()
        value = results[number] if number < len(results) else None
        return value if value is not None and value.shape == shape else None

    def apply(self, *before: torch.Tensor):
        """Runs the operator with `before` as its first arguments; `None` if the host refuses."""
        args, kwargs = read_all(self.args), read_all(list(self.kwargs.values()))
        return None if args is None or kwargs is None else run(self.name, *before, *args, **dict(zip(self.kwargs, kwargs)))


class Unseen:
    """Operators within are seen by no mode of the program's, and recorded for no backward."""

    def __enter__(self) -> None:
        self._guards = (torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd())
        for guard in self._guards:
            guard.__enter__()

    def __exit__(self, *error) -> None:
        for guard in reversed(self._guards):
            guard.__exit__(*error)


def run(name: str, *args, **kwargs):
    """The operator's result on the host; `None` if the host refuses."""
    try:
        with Unseen():
            return find(name)(*args, **kwargs)
    except _NOT_COMPUTED:
        return None


@functools.cache
def find(name: str) -> torch._ops.OpOverload:
    """The operator `add.Tensor`."""
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _operands(values: list):
    for value in values:
        if isinstance(value, _KINDS):
            yield value
        elif isinstance(value, list):
            yield from _operands(value)


def read_all(values: list) -> list | None:
    """The arguments with values in place of operands; nothing if one cannot be computed."""
    found = []
    for value in values:
        if isinstance(value, _KINDS):
            value = value.read()
            if value is None:
                return None
        elif isinstance(value, list):
            value = read_all(value)
            if value is None:
                return None
        found.append(value)
    return found
