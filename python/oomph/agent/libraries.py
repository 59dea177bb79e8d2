"""CUDA's runtime opened by name is the phantom's.

In the process the phantom's functions precede the functions of NVIDIA's library. A library opened by name, however, answers with NVIDIA's functions,
and these need a driver. Bindings in Python (`ctypes.CDLL("libcudart.so.13")`) therefore receive the process itself.
"""

import os
from collections.abc import Callable

from . import hooks


def install() -> None:
    """Replaces the function by which `ctypes` opens libraries."""
    hooks.around("ctypes:_dlopen", _open)


def _open(original: Callable, name, *args):
    handle = original(name, *args)
    is_runtime = isinstance(name, (str, bytes)) and os.path.basename(os.fsdecode(name)).startswith("libcudart.so")
    return original(None, *args) if is_runtime else handle
