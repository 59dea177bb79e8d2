"""Checkpoints that were there before the dry run: it has nothing to put in their place.

What is on a phantom GPU has no values, so a checkpoint of it holds zeros, and a loss that reads as zero is the best so far. A
file that the program did not make itself is left as it is: `torch.save` and `safetensors.torch.save_file` to its path do nothing,
and `open(path, "wb")` of a file that is called like a checkpoint gives a nameless file that goes away. Checkpoints that were not
there are written as always: the program may load them again. What another process made meanwhile counts as there: rather one
checkpoint of zeros too few than one of a training that goes on beside the dry run.
"""

import builtins
import functools
import io
import os
import sys
import tempfile
from collections.abc import Callable

import torch.serialization

from .importing import after_import

# Files of these names, opened to be written anew, are taken for checkpoints.
_SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".tar")


class Saves:
    """Keeps what was there, and knows of which files."""

    def __init__(self) -> None:
        # Paths in the order in which they would have been written first.
        self.spared: dict[str, None] = {}
        self._made: set[str] = set()

    def install(self) -> None:
        """Stands in for the functions that write checkpoints."""
        torch.save = torch.serialization.save = self._saving(torch.serialization.save)
        builtins.open = io.open = self._opening(builtins.open)
        after_import("safetensors.torch", self._install_safetensors)

    def _install_safetensors(self) -> None:
        # Its package does not have it as an attribute yet.
        module = sys.modules["safetensors.torch"]
        module.save_file = self._saving(module.save_file)

    def _saving(self, save: Callable) -> Callable:
        """Of a function whose second argument is the path, or `filename` or `f`."""

        @functools.wraps(save)
        def wrapper(*args, **kwargs):
            path = args[1] if len(args) > 1 else kwargs.get("f", kwargs.get("filename"))
            return None if self._is_spared(path) else save(*args, **kwargs)

        return wrapper

    def _opening(self, open_file: Callable) -> Callable:
        @functools.wraps(open_file)
        def wrapper(file, mode="r", *args, **kwargs):
            if mode == "wb" and str(file).endswith(_SUFFIXES) and self._is_spared(file):
                return tempfile.TemporaryFile(mode)
            return open_file(file, mode, *args, **kwargs)

        return wrapper

    def _is_spared(self, path: object) -> bool:
        """Whether a path is that of a file which the program did not make; if it is of none, the program makes it now."""
        if not isinstance(path, (str, os.PathLike)):
            return False
        real = os.path.realpath(os.fsdecode(path))
        if real in self._made or not os.path.isfile(real):
            self._made.add(real)
            return False
        self.spared[real] = None
        return True
