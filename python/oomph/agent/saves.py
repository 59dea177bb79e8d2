"""Checkpoints that were there before the dry run are not written over: see `kept`.

`torch.save`, `torch.jit.save`, `torch.export.save` and `save_file` of safetensors to the path of a file that was there do nothing,
and `open(path, "wb")` of a checkpoint gives a nameless file beside it that goes away.
"""

import builtins
import functools
import io
import os
import pathlib
import sys
import tarfile
import tempfile
from collections.abc import Callable

import torch.jit
import torch.serialization

from .failure import guarded
from .importing import after_import
from .kept import Kept, is_path

# Modules that programs may import later, and their functions that write to a path.
_LATER = {"safetensors.torch": "save_file", "safetensors.numpy": "save_file", "torch.export": "save"}


class Saves:
    """Stands in for the functions that write checkpoints."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def install(self) -> None:
        """From here on they stand in."""
        torch.save = torch.serialization.save = self._saving(torch.serialization.save)
        torch.jit.save = self._saving(torch.jit.save)
        torch.jit.RecursiveScriptModule.save = self._saving(torch.jit.RecursiveScriptModule.save)
        for module, function in _LATER.items():
            after_import(module, functools.partial(self._install_later, module, function))
        builtins.open = io.open = tarfile.bltn_open = self._opening(builtins.open)
        if hasattr(pathlib, "_NormalAccessor"):  # In Python 3.10 pathlib has a name of its own for it.
            pathlib._NormalAccessor.open = staticmethod(builtins.open)
        # What all functions of tempfile end in that make a file.
        tempfile._mkstemp_inner = self._making_temporary(tempfile._mkstemp_inner)

    def _install_later(self, name: str, function: str) -> None:
        # Its package does not have it as an attribute yet.
        module = sys.modules[name]
        setattr(module, function, self._saving(getattr(module, function)))

    def _saving(self, save: Callable) -> Callable:
        """Of a function whose second argument is the path or the file, or `filename` or `f`."""

        @functools.wraps(save)
        def wrapper(*args, **kwargs):
            target = args[1] if len(args) > 1 else kwargs.get("f", kwargs.get("filename"))
            if is_path(target) and self._spares(target):
                return None
            result = save(*args, **kwargs)
            self._note_saved(target)
            return result

        return wrapper

    def _opening(self, open_file: Callable) -> Callable:
        @functools.wraps(open_file)
        def wrapper(file, mode="r", *args, **kwargs):
            if not is_path(file) or set("wxa").isdisjoint(mode):
                return open_file(file, mode, *args, **kwargs)
            if self._spares_opened(file, mode):
                folder = os.path.dirname(os.path.realpath(os.fsdecode(file)))
                return tempfile.TemporaryFile(mode.replace("x", "w"), dir=folder, encoding=kwargs.get("encoding"))
            is_new = not os.path.exists(file)
            opened = open_file(file, mode, *args, **kwargs)
            if is_new:
                self._note_made(file)
            return opened

        wrapper.__module__ = "io"  # Where it stands, so that others may pickle it.
        return wrapper

    def _making_temporary(self, make: Callable) -> Callable:
        @functools.wraps(make)
        def wrapper(*args, **kwargs):
            descriptor, path = make(*args, **kwargs)
            self._note_made(path)
            return descriptor, path

        return wrapper

    @guarded
    def _spares(self, path: object) -> bool:
        real = os.path.realpath(os.fsdecode(path))
        is_there = self._kept.is_there(real)
        if is_there:
            self._kept.spare(real)
        return is_there

    @guarded
    def _spares_opened(self, path: object, mode: str) -> bool:
        """Whether a file is not opened to be written anew, or to be made where something is that is gone for the program."""
        real = os.path.realpath(os.fsdecode(path))
        if "x" in mode:
            return self._kept.is_gone(real)
        if "w" not in mode or not self._kept.is_there(real):
            return False
        is_spared = self._kept.is_checkpoint(real) if "b" in mode else self._kept.is_pointer(real)
        if is_spared:
            self._kept.spare(real)
        return is_spared

    @guarded
    def _note_made(self, path: object) -> None:
        self._kept.note_made(os.path.realpath(os.fsdecode(path)))

    @guarded
    def _note_saved(self, target: object) -> None:
        """A checkpoint has just been written to a path or into an open file."""
        place = target if is_path(target) else getattr(target, "name", None)
        if is_path(place):
            self._kept.note_saved(os.path.realpath(os.fsdecode(place)))
