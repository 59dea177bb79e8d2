"""Memory that is shared with other libraries and processes: its values are unknown from then on.

DLPack, the CUDA array interface and CUDA's handles for other processes export the memory of a tensor. Another library writes into the memory
without raising the tensor's version. The same holds for tensors made of imported memory.
"""

import functools
import sys
from collections.abc import Callable

import torch

from .store import KnownValues

_EXPORTS = ("_to_dlpack", "_to_dlpack_versioned")


def install(known: KnownValues) -> None:
    """Replaces the functions that export and import memory."""
    for name in _EXPORTS:
        original = getattr(torch._C, name, None)
        if original is not None:
            _replace_everywhere(original, _ending_argument(known, original))
    torch._C._from_dlpack = _ending_result(known, torch._C._from_dlpack)
    interface = torch.Tensor.__dict__.get("__cuda_array_interface__")
    if isinstance(interface, property):
        torch.Tensor.__cuda_array_interface__ = property(_ending_argument(known, interface.fget))
    storage = torch.UntypedStorage
    storage._share_cuda_ = _ending_argument(known, storage._share_cuda_)
    storage._new_shared_cuda = staticmethod(_ending_result(known, storage._new_shared_cuda))


def _replace_everywhere(original: Callable, function: Callable) -> None:
    """Replaces a function under all its names: the program may have imported the function before CUDA was used."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for name in [name for name, value in names.items() if value is original]:
            names[name] = function


def _ending_argument(known: KnownValues, original: Callable) -> Callable:
    """The function; the values of the first argument are unknown afterwards."""

    @functools.wraps(original)
    def function(owner, *args, **kwargs):
        _end(known, owner)
        return original(owner, *args, **kwargs)

    return function


def _ending_result(known: KnownValues, original: Callable) -> Callable:
    """The function; the values of the result are unknown."""

    @functools.wraps(original)
    def function(*args, **kwargs):
        result = original(*args, **kwargs)
        _end(known, result)
        return result

    return function


def _end(known: KnownValues, owner: torch.Tensor | torch.UntypedStorage) -> None:
    storage = owner.untyped_storage() if isinstance(owner, torch.Tensor) else owner
    if storage.device.type == "cuda":
        known.share(storage)
        known.share_range(storage.data_ptr(), storage.nbytes())
