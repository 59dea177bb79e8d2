"""Standing in for an operator's kernel, with the original at hand.

Note [Kernels before 2.10]
~~~~~~~~~~~~~~~~~~~~~~~~~~
`torch.library.get_kernel` returns the kernel that a stand-in replaces; older PyTorch has no such function, and a replaced kernel is lost.
There the stand-in is put before the kernel instead: at the key `BackendSelect`, which every call passes between autograd and the kernels of
a backend (c10/core/DispatchKey.h) and at which no operator with a tensor argument has a kernel. The remaining keys tell the backend; calls
for other backends pass through.

Note [Wrapped numbers]
~~~~~~~~~~~~~~~~~~~~~~
In `tensor & 0` PyTorch makes a tensor of the number, and marks the tensor as a wrapped number. A kernel in Python receives the number
instead (`toPyObject` in torch/csrc/jit/python/pybind_utils.cpp), and the original does not accept a number: if the operator's schema has a
tensor, the number becomes a tensor again. The mark is lost, by which PyTorch chooses the result's dtype: a wrapped number widens the dtype
only if the number is of a higher category (bool, integer, float, complex). Tensors without dimensions rank below tensors with dimensions,
but equal among themselves, and a tensor of a higher category decides the result's dtype; in these cases the tensor gets the dtype of the
result.
"""

import functools
import warnings
from collections.abc import Callable

import torch

from ..failure import guarded
from .hidden import hide

# The operator's original behaviour: a function of the operator's own arguments.
Original = Callable[..., object]

# Types of arguments that intercept no call.
_SIMPLE = frozenset((torch.Tensor, torch.nn.Parameter, int, float, bool, complex, type(None), list, tuple, str, torch.dtype, torch.device))

# The dtypes of wrapped numbers (`scalar_to_tensor` in ATen/ScalarOps.h).
_WRAPPED = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


class Overrides:
    """Replaced kernels; the replacement lasts as long as this object."""

    def __init__(self) -> None:
        self._libraries: dict[str, torch.library.Library] = {}
        # By operator: the stand-ins before its kernels, by the backend's key.
        self._before: dict[str, dict[str, Callable]] = {}
        # The operators and keys that have a stand-in.
        self._replaced: set[tuple[str, str]] = set()

    @guarded
    def replace(self, operator: str, key: str, stand_in: Callable, is_skipped: Callable[[tuple], bool] | None = None) -> None:
        """Registers `stand_in(original, *args)` for `operator` (`aten::nonzero`) and the dispatch key (`CUDA`).

        Calls with arguments of which `is_skipped` is true go to the kernel.
        """
        if (operator, key) in self._replaced:
            raise ValueError(f"{operator} has a stand-in for {key} already")
        self._replaced.add((operator, key))
        if hasattr(torch.library, "get_kernel"):
            self._replace(operator, key, stand_in, is_skipped)
        else:
            self._put_before(operator, key, stand_in)

    def _replace(self, operator: str, key: str, stand_in: Callable, is_skipped: Callable[[tuple], bool] | None) -> None:
        call = torch.library.get_kernel(operator, key).call_boxed

        def dispatch(keys, *args, **kwargs):
            try:
                # Most calls end here, so only the types of the arguments are compared, in C.
                if not _WRAPPED.keys().isdisjoint(map(type, args)):
                    args = _wrap(args, _tensors(operator))
                is_simple = _SIMPLE.issuperset(map(type, args))
                if is_simple and is_skipped is not None and is_skipped(args):
                    return call(keys, *args, **kwargs)
                # A program's own tensor subclass would intercept the calls below.
                with torch._C.DisableTorchFunctionSubclass():
                    if not is_simple and is_skipped is not None and is_skipped(args):
                        return call(keys, *args, **kwargs)
                    return stand_in(functools.partial(call, keys), *args, **kwargs)
            except BaseException as error:
                # The frames of the error would keep the arguments alive; PyTorch alone frees them.
                del args, kwargs
                raise error.with_traceback(None)

        self._register(operator, key, dispatch)

    def _put_before(self, operator: str, key: str, stand_in: Callable) -> None:
        """See Note [Kernels before 2.10]."""
        if operator in self._before:
            self._before[operator][key] = stand_in
            return
        stand_ins = self._before[operator] = {key: stand_in}
        go_on = _overload(operator).redispatch
        backends = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)

        def dispatch(keys, *args, **kwargs):
            keys, args = keys & backends, _wrap(args, _tensors(operator))
            chosen = stand_ins.get(keys.highestPriorityTypeId().name)
            original = functools.partial(go_on, keys)
            return original(*args, **kwargs) if chosen is None else chosen(original, *args, **kwargs)

        self._register(operator, "BackendSelect", dispatch)

    def _register(self, operator: str, key: str, dispatch: Callable) -> None:
        namespace, name = operator.split("::")
        with warnings.catch_warnings():
            # PyTorch warns once about a replaced kernel; here the replacement is intended.
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            self._library(namespace).impl(name, hide(dispatch), key, with_keyset=True)

    def _library(self, namespace: str) -> torch.library.Library:
        if namespace not in self._libraries:
            self._libraries[namespace] = torch.library.Library(namespace, "IMPL")
        return self._libraries[namespace]


def _overload(operator: str) -> torch._ops.OpOverload:
    """The object that stands for `aten::bernoulli_.float`."""
    namespace, _, name = operator.partition("::")
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


@functools.cache
def _tensors(operator: str) -> tuple[int, ...]:
    """The positions of the operator's arguments that are tensors."""
    arguments = _overload(operator)._schema.arguments
    return tuple(position for position, argument in enumerate(arguments) if isinstance(argument.type, torch.TensorType))


def _wrap(args: tuple, places: tuple[int, ...]) -> tuple:
    """The arguments with numbers in the places of tensors made tensors. See Note [Wrapped numbers]."""
    if not any(place < len(args) and type(args[place]) in _WRAPPED for place in places):
        return args
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    is_alike = all(tensor.dim() == 0 for tensor in tensors)
    dtypes = tuple(tensor.dtype for tensor in tensors)
    return tuple(
        _number(repr(arg), type(arg), dtypes, is_alike) if place in places and type(arg) in _WRAPPED else arg for place, arg in enumerate(args)
    )


@functools.lru_cache(maxsize=4096)
def _number(text: str, kind: type, dtypes: tuple[torch.dtype, ...], is_alike: bool) -> torch.Tensor:
    """A number as a tensor that leaves the dtype of the result beside tensors of `dtypes` as a wrapped number would.

    `is_alike` if no tensor has a dimension. The number is given as text: 0.0 and -0.0 are equal. No operator writes into the tensor.
    """
    value = kind(text) if kind is not bool else text == "True"
    dtype, numeric = _WRAPPED[kind], [it for it in dtypes if it != torch.bool] or list(dtypes)
    # The tensor is used again, by programs in any mode.
    with torch.inference_mode(mode=False):
        if numeric:
            widest = functools.reduce(torch.promote_types, numeric)
            together = torch.result_type(torch.empty((1,), dtype=widest, device="cpu"), value)
            if together != widest or is_alike:
                dtype = together
        return torch.tensor(value, dtype=dtype, device="cpu")
