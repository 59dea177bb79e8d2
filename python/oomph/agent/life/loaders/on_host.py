"""Has the program's code make tensors on the host while batches are scanned, also where it asks for a GPU."""

import functools

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device


class OnHost(TorchFunctionMode):
    """Replaces CUDA devices in arguments by the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        keywords = kwargs or {}
        if function is torch.Tensor.cuda:
            return args[0]
        if function is torch.Tensor.to:
            args = (args[0], *map(_replace, args[1:]))
        if function in _list_makers():
            keywords = {**keywords, "device": keywords.get("device") or "cpu"}
        if "device" in keywords:
            keywords = {**keywords, "device": _replace(keywords["device"])}
        return function(*args, **keywords)


@functools.cache
def _list_makers() -> frozenset:
    """The functions whose device is a default (torch/utils/_device.py, 2.5 to 2.15)."""
    return frozenset(_device._device_constructors())


def _replace(value: object) -> object:
    is_device = isinstance(value, (torch.device, str)) and str(value).startswith("cuda")
    is_number = type(value) is int
    return "cpu" if is_device or is_number else value


def count_allocations() -> int:
    """The allocations on all GPUs so far."""
    if not torch.cuda.is_initialized():
        return 0
    return sum(_count(device) for device in range(torch.cuda.device_count()))


def _count(device: int) -> int:
    try:
        return torch._C._cuda_memoryStats(device)["allocation"]["all"]["allocated"]
    except RuntimeError:
        # An allocator of the program's without counters.
        return 0
