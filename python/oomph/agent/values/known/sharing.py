"""Memory that is shared with other libraries and processes: its values are unknown from then on.

DLPack, the CUDA array interface and CUDA's handles for other processes export the memory of a tensor. Another library writes into the memory
without raising the tensor's version. The same holds for tensors made of imported memory.
"""

import functools

import torch

from ... import hooks
from ...hooks import events
from .store import KnownValues

_EXPORTS = ("torch._C:_to_dlpack", "torch._C:_to_dlpack_versioned")


def install(known: KnownValues) -> None:
    """Stands around the functions that export and import memory."""
    end = functools.partial(_end, known)
    for name in (*_EXPORTS, "torch:Tensor.__cuda_array_interface__", "torch:UntypedStorage._share_cuda_"):
        hooks.around(name, events.before(end))
    for name in ("torch._C:_from_dlpack", "torch:UntypedStorage._new_shared_cuda"):
        hooks.around(name, functools.partial(_end_result, known))
    # The program may have imported them before CUDA was used.
    for name in _EXPORTS:
        hooks.spread(name)


def _end_result(known: KnownValues, make, *args, **kwargs):
    """The values of the result are unknown."""
    result = make(*args, **kwargs)
    _end(known, result)
    return result


def _end(known: KnownValues, owner: torch.Tensor | torch.UntypedStorage, *_args, **_kwargs) -> None:
    storage = owner.untyped_storage() if isinstance(owner, torch.Tensor) else owner
    if storage.device.type == "cuda":
        known.share(storage)
        known.share_range(storage.data_ptr(), storage.nbytes())
