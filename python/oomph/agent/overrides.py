"""Standing in for an operator's kernel, with the original at hand.

Note [Kernels before 2.10]
~~~~~~~~~~~~~~~~~~~~~~~~~~
`torch.library.get_kernel` gives the kernel that a stand-in replaces; older PyTorch has no such function, and a replaced
kernel is lost. There the stand-in is put before the kernel instead: at the key `BackendSelect`, which every call passes
between autograd and the kernels of a backend (c10/core/DispatchKey.h) and at which no operator with a tensor among its
arguments has a kernel. The remaining keys tell the backend; calls for other backends pass through.

Note [Wrapped numbers]
~~~~~~~~~~~~~~~~~~~~~~
In `tensor & 0` PyTorch makes a tensor of the number, and marks it as such. A kernel in Python is given the number instead
(`toPyObject` in torch/csrc/jit/python/pybind_utils.cpp), and the original does not take it back: where the operator's
schema has a tensor, it is made one again. The mark is lost, which only the choice of a result's dtype reads, and that is
made before the operators replaced here.
"""

import functools
import warnings
from collections.abc import Callable

import torch

from .failure import guarded

# What an operator does without us: a function of its own arguments.
Original = Callable[..., object]

# The dtypes of wrapped numbers (`scalar_to_tensor` in ATen/ScalarOps.h).
_WRAPPED = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


class Overrides:
    """Replaced kernels; the replacement lasts as long as this object."""

    def __init__(self) -> None:
        self._libraries: dict[str, torch.library.Library] = {}
        # By operator: the stand-ins before its kernels, by the backend's key.
        self._before: dict[str, dict[str, Callable]] = {}

    @guarded
    def replace(self, operator: str, key: str, stand_in: Callable) -> None:
        """Registers `stand_in(original, *args)` for `operator` (`aten::nonzero`) and the dispatch key (`CUDA`)."""
        if hasattr(torch.library, "get_kernel"):
            self._replace(operator, key, stand_in)
        else:
            self._put_before(operator, key, stand_in)

    def _replace(self, operator: str, key: str, stand_in: Callable) -> None:
        kernel = torch.library.get_kernel(operator, key)
        tensors = _tensors(operator)

        def dispatch(keys, *args, **kwargs):
            return stand_in(functools.partial(kernel.call_boxed, keys), *_wrap(args, tensors), **kwargs)

        self._register(operator, key, dispatch)

    def _put_before(self, operator: str, key: str, stand_in: Callable) -> None:
        """See Note [Kernels before 2.10]."""
        if operator in self._before:
            self._before[operator][key] = stand_in
            return
        stand_ins = self._before[operator] = {key: stand_in}
        go_on = _overload(operator).redispatch
        backends = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
        tensors = _tensors(operator)

        def dispatch(keys, *args, **kwargs):
            keys, args = keys & backends, _wrap(args, tensors)
            chosen = stand_ins.get(keys.highestPriorityTypeId().name)
            original = functools.partial(go_on, keys)
            return original(*args, **kwargs) if chosen is None else chosen(original, *args, **kwargs)

        self._register(operator, "BackendSelect", dispatch)

    def _register(self, operator: str, key: str, dispatch: Callable) -> None:
        namespace, name = operator.split("::")
        with warnings.catch_warnings():
            # PyTorch warns once that a kernel is replaced, which is what we are here for.
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            self._library(namespace).impl(name, dispatch, key, with_keyset=True)

    def _library(self, namespace: str) -> torch.library.Library:
        if namespace not in self._libraries:
            self._libraries[namespace] = torch.library.Library(namespace, "IMPL")
        return self._libraries[namespace]


def _overload(operator: str) -> torch._ops.OpOverload:
    """The object that stands for `aten::bernoulli_.float`."""
    namespace, _, name = operator.partition("::")
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


def _tensors(operator: str) -> tuple[int, ...]:
    """The positions of the operator's arguments that are tensors."""
    arguments = _overload(operator)._schema.arguments
    return tuple(position for position, argument in enumerate(arguments) if isinstance(argument.type, torch.TensorType))


def _wrap(args: tuple, tensors: tuple[int, ...]) -> tuple:
    """The arguments with numbers that stand for tensors made tensors. See Note [Wrapped numbers]."""
    return tuple(
        torch.tensor(value, dtype=_WRAPPED[type(value)], device="cpu") if position in tensors and type(value) in _WRAPPED else value
        for position, value in enumerate(args)
    )
