"""Prevents that existing checkpoints are overwritten: see `guard`.

`torch.save`, `torch.jit.save`, `torch.export.save` and `save_file` of safetensors to the path of an existing file do nothing,
and `open(path, "wb")` of a checkpoint opens an unnamed temporary file in the same folder.
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

from ...failure import guarded
from ...hooks.importing import after_import
from .guard import CheckpointGuard, is_path

# Modules that programs may import later, and their functions that write to a path.
_LATER = {"safetensors.torch": "save_file", "safetensors.numpy": "save_file", "torch.export": "save"}


class Saves:
    """Replaces the functions that write checkpoints."""

    def __init__(self, guard: CheckpointGuard) -> None:
        self._guard = guard

    def install(self) -> None:
        """Replaces the functions."""
        torch.save = torch.serialization.save = self._saving(torch.serialization.save)
        torch.jit.save = self._saving(torch.jit.save)
        torch.jit.RecursiveScriptModule.save = self._saving(torch.jit.RecursiveScriptModule.save)
        for module, function in _LATER.items():
            after_import(module, functools.partial(self._install_later, module, function))
        builtins.open = io.open = tarfile.bltn_open = self._opening(builtins.open)
        if hasattr(pathlib, "_NormalAccessor"):  # pathlib of Python 3.10 has its own reference.
            pathlib._NormalAccessor.open = staticmethod(builtins.open)
        # Every function of tempfile that makes a file calls this function.
        tempfile._mkstemp_inner = self._making_temporary(tempfile._mkstemp_inner)

    def _install_later(self, name: str, function: str) -> None:
        # The package has no such attribute yet.
        module = sys.modules[name]
        setattr(module, function, self._saving(getattr(module, function)))

    def _saving(self, save: Callable) -> Callable:
        """Wraps a function whose second argument is the path or the file, or `filename` or `f`."""

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

        wrapper.__module__ = "io"  # The module of the original, for pickle.
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
        is_there = self._guard.is_there(real)
        if is_there:
            self._guard.spare(real)
        return is_there

    @guarded
    def _spares_opened(self, path: object, mode: str) -> bool:
        """True if the program may not open a file: to overwrite a checkpoint, or to make a file at a path it believes free."""
        real = os.path.realpath(os.fsdecode(path))
        if "x" in mode:
            return self._guard.is_gone(real)
        if "w" not in mode or not self._guard.is_there(real):
            return False
        is_spared = self._guard.is_checkpoint(real) if "b" in mode else self._guard.is_pointer(real)
        if is_spared:
            self._guard.spare(real)
        return is_spared

    @guarded
    def _note_made(self, path: object) -> None:
        self._guard.note_made(os.path.realpath(os.fsdecode(path)))

    @guarded
    def _note_saved(self, target: object) -> None:
        """A checkpoint has just been written to a path or into an open file."""
        place = target if is_path(target) else getattr(target, "name", None)
        if is_path(place):
            self._guard.note_saved(os.path.realpath(os.fsdecode(place)))
