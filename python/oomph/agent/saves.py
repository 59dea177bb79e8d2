"""Checkpoints that were there before the dry run: it has nothing to put in their place.

What is on a phantom GPU has no values, so a checkpoint of it holds zeros, and a loss that reads as zero is the best so far. A
file that the program did not make itself is left as it is: `torch.save` and `safetensors.torch.save_file` to its path do nothing,
and `open(path, "wb")` of a file that is called like a checkpoint gives a nameless file that goes away. `removals` does the same
for what renames and removes. Checkpoints that were not there are written as always: the program may load them again; they are
told of at the end. What another process made meanwhile counts as there: rather one checkpoint of zeros too few than one of a
training that goes on beside the dry run.
"""

import builtins
import functools
import io
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import torch.jit
import torch.serialization

from .failure import guarded
from .importing import after_import

# Files of these names are taken for checkpoints, if they are opened to be written anew as bytes. Among them are those of
# torch.distributed.checkpoint (`.distcp`, `.metadata`), torch.export (`.pt2`), NeMo and Stable-Baselines3 (`.zip`).
SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".tar", ".distcp", ".metadata", ".pt2", ".nemo", ".zip")
# And those that say which checkpoint to go on with: DeepSpeed's, detectron2's and MMEngine's, Megatron's.
_POINTERS = ("latest", "last_checkpoint", "latest_checkpointed_iteration.txt")
# A zip file's first bytes, and the name of what torch.save puts first into one.
_ZIP, _FIRST_ENTRY, _HEAD_BYTES = b"PK\x03\x04", b"/data.pkl", 256


def is_path(value: object) -> bool:
    """Whether a value names a file, as opposed to being one."""
    return isinstance(value, (str, bytes, os.PathLike))


def is_checkpoint(file: str, before: float) -> bool:
    """Whether a file is called like one; also one that torch.save wrote, before that time, under any name.

    What is younger and called otherwise is rather the program's own, by a process that it started.
    """
    if file.endswith(SUFFIXES) or os.path.basename(file) in _POINTERS:
        return True
    try:
        if os.stat(file).st_mtime > before:
            return False
        with open(file, "rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(_ZIP) and _FIRST_ENTRY in head


class Saves:
    """Keeps what was there, and knows of which files."""

    def __init__(self) -> None:
        # Paths in the order in which they would have been written or removed first.
        self.spared: dict[str, None] = {}
        # When the program began, in seconds since the epoch.
        self.began = time.time()
        # What the program made: by path, which file stood there then.
        self._made: dict[str, tuple[int, int]] = {}
        # Those of them that are checkpoints, in the order in which they were written.
        self._saved: dict[str, None] = {}

    def install(self) -> None:
        """Stands in for the functions that write checkpoints."""
        torch.save = torch.serialization.save = self._saving(torch.serialization.save)
        torch.jit.save = self._saving(torch.jit.save)
        builtins.open = io.open = self._opening(builtins.open)
        if hasattr(pathlib, "_NormalAccessor"):  # In Python 3.10 pathlib has a name of its own for it.
            pathlib._NormalAccessor.open = staticmethod(builtins.open)
        # What all functions of tempfile end in that make a file.
        tempfile._mkstemp_inner = self._making_temporary(tempfile._mkstemp_inner)
        after_import("safetensors.torch", self._install_safetensors)

    def is_made(self, path: str) -> bool:
        """Whether the program made what stands at a path itself, be it a link, or a folder that holds it."""
        while path not in self._made or self._made[path] != _identity(path):
            path, child = os.path.dirname(path), path
            if path == child:
                return False
        return True

    def is_saved(self, path: str) -> bool:
        """Whether what stands at a path is a checkpoint that the program made."""
        return path in self._saved and self.is_made(path)

    def note_made(self, path: str) -> None:
        """The program has just made what stands at a path."""
        if os.path.lexists(path):
            self._made[path] = _identity(path)

    def moved(self, source: str, target: str) -> None:
        """What the program made at a path, or below it, has another one now."""
        for places in (self._made, self._saved):
            for path in [path for path in places if path == source or path.startswith(source + os.sep)]:
                places[target + path[len(source) :]] = places.pop(path)

    def written(self) -> Iterator[str]:
        """The checkpoints that the program wrote and left behind."""
        return (path for path in self._saved if os.path.isfile(path) and self.is_saved(path))

    def _install_safetensors(self) -> None:
        # Its package does not have it as an attribute yet.
        module = sys.modules["safetensors.torch"]
        module.save_file = self._saving(module.save_file)

    def _saving(self, save: Callable) -> Callable:
        """Of a function whose second argument is the path or the file, or `filename` or `f`."""

        @functools.wraps(save)
        def wrapper(*args, **kwargs):
            target = args[1] if len(args) > 1 else kwargs.get("f", kwargs.get("filename"))
            if is_path(target) and self._is_spared(target):
                return None
            result = save(*args, **kwargs)
            self._note_saved(target)
            return result

        return wrapper

    def _opening(self, open_file: Callable) -> Callable:
        @functools.wraps(open_file)
        def wrapper(file, mode="r", *args, **kwargs):
            if "w" not in mode or not is_path(file):
                return open_file(file, mode, *args, **kwargs)
            if self._is_kept(file, mode) and self._is_spared(file):
                return tempfile.TemporaryFile(mode)
            is_new = not os.path.exists(file)
            opened = open_file(file, mode, *args, **kwargs)
            if is_new:
                self._note_opened(file)
            return opened

        wrapper.__module__ = "io"  # Where it stands, so that others may pickle it.
        return wrapper

    def _making_temporary(self, make: Callable) -> Callable:
        @functools.wraps(make)
        def wrapper(*args, **kwargs):
            descriptor, path = make(*args, **kwargs)
            self._note_opened(path)
            return descriptor, path

        return wrapper

    @guarded
    def _is_kept(self, path: object, mode: str) -> bool:
        """Whether a checkpoint stands where a file is opened to be written anew."""
        file = os.fsdecode(path)
        is_text = "b" not in mode
        if not os.path.isfile(file) or (is_text and os.path.basename(file) not in _POINTERS):
            return False
        return is_checkpoint(file, self.began)

    @guarded
    def _is_spared(self, path: object) -> bool:
        """Whether a path is that of a file which the program did not make."""
        real = os.path.realpath(os.fsdecode(path))
        if not os.path.isfile(real) or self.is_made(real):
            return False
        self.spared[real] = None
        return True

    @guarded
    def _note_opened(self, path: object) -> None:
        self.note_made(os.path.realpath(os.fsdecode(path)))

    @guarded
    def _note_saved(self, target: object) -> None:
        """A checkpoint has just been written to a path or into an open file."""
        place = target if is_path(target) else getattr(target, "name", None)
        if is_path(place):
            real = os.path.realpath(os.fsdecode(place))
            self.note_made(real)
            self._saved[real] = None


def _identity(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return status.st_dev, status.st_ino
