"""Checkpoints that were there before the dry run: it does not rename, replace or remove them either.

Programs write a checkpoint beside the old one and rename it over that, remove the oldest of several, or empty their output
folder first. Over a phantom GPU a training would go for zeros. So a checkpoint that the program did not make itself (`saves`
knows) stays where it is: what would have taken its place goes, and a folder that holds one is not removed. The program is told
that all went well, and making the folder or the link again does nothing.

Only from Python: `rm` in a shell that the program starts is not seen.
"""

import errno
import functools
import os
import pathlib
import shutil
import stat
from collections import Counter
from collections.abc import Callable

from .failure import guarded
from .saves import Saves, is_checkpoint, is_path

# Whoever asks so often for a checkpoint to go waits for it to be gone.
_MOST_REQUESTS = 1000


class Removals:
    """Stands in for what renames and removes files."""

    def __init__(self, saves: Saves) -> None:
        self._saves = saves
        self._unlink, self._remove_tree = os.unlink, shutil.rmtree
        # Where the program believes that nothing is, and how often it saw to that.
        self._left: Counter[str] = Counter()

    def install(self) -> None:
        """From here on they stand in."""
        functions = {
            "remove": self._removing(os.remove),
            "unlink": self._removing(os.unlink),
            "rmdir": self._removing_folder(os.rmdir),
            "rename": self._renaming(os.rename),
            "replace": self._renaming(os.replace),
            "mkdir": self._making(os.mkdir, which=0),
            "symlink": self._making(os.symlink, which=1),
            "link": self._making(os.link, which=1),
        }
        # In Python 3.10 pathlib has its own names for them.
        for module in (os, getattr(pathlib, "_NormalAccessor", None)):
            for name, function in functions.items():
                if hasattr(module, name):
                    setattr(module, name, function if module is os else staticmethod(function))
        for function in functions.values():
            _pass_for(function)
        shutil.rmtree = self._removing_tree(shutil.rmtree)

    def _removing(self, remove: Callable) -> Callable:
        @functools.wraps(remove)
        def wrapper(path, **kwargs):
            if not (_is_plain([path], kwargs) and self._keeps(path)):
                return remove(path, **kwargs)
            self._end_waiting(path)
            return None

        return wrapper

    def _removing_folder(self, remove: Callable) -> Callable:
        @functools.wraps(remove)
        def wrapper(path, **kwargs):
            return None if _is_plain([path], kwargs) and self._holds_only_left(path) else remove(path, **kwargs)

        return wrapper

    def _renaming(self, rename: Callable) -> Callable:
        @functools.wraps(rename)
        def wrapper(src, dst, **kwargs):
            if not _is_plain([src, dst], kwargs):
                return rename(src, dst, **kwargs)
            if self._keeps(src) or self._keeps_below(src) or self._keeps_target(src, dst):
                return None
            rename(src, dst)
            self._moved(src, dst)
            return None

        return wrapper

    def _making(self, make: Callable, which: int) -> Callable:
        """Of a function that fails where something is: which argument says where."""

        @functools.wraps(make)
        def wrapper(*args, **kwargs):
            target = args[which] if len(args) > which and is_path(args[which]) else None
            if target is not None and self._is_left(target):
                return None
            result = make(*args, **kwargs)
            if target is not None:
                self._note_made(target)
            return result

        return wrapper

    def _removing_tree(self, remove: Callable) -> Callable:
        @functools.wraps(remove)
        def wrapper(path, *args, **kwargs):
            return None if is_path(path) and self._keeps_below(path) else remove(path, *args, **kwargs)

        return wrapper

    @guarded
    def _keeps(self, path: object) -> bool:
        place = _place(path)
        if not self._is_kept(place):
            return False
        self._spare(place)
        return True

    @guarded
    def _keeps_target(self, source: object, target: object) -> bool:
        """Whether a checkpoint stays that something was to replace; what the program made to that end is removed."""
        source, target = _place(source), _place(target)
        is_there, is_folder = os.path.lexists(source), os.path.isdir(target)
        is_kept = self._is_gone(target) if is_folder else self._is_kept(target, is_there and self._saves.is_saved(source))
        if not is_kept:
            return False
        if not is_folder:
            self._spare(target)
        if is_there and self._saves.is_made(source):
            (self._remove_tree if is_folder else self._unlink)(source)
        return True

    @guarded
    def _keeps_below(self, folder: object) -> bool:
        place = _place(folder)
        files = [os.path.join(parent, name) for parent, _, names in os.walk(place) for name in names]
        kept = [file for file in files if self._is_kept(file)]
        for file in kept:
            self._spare(file)
        if kept:
            self._left[place] += 1
        return bool(kept)

    @guarded
    def _holds_only_left(self, folder: object) -> bool:
        place = _place(folder)
        entries = os.listdir(place) if os.path.isdir(place) else []
        is_left = bool(entries) and all(os.path.join(place, entry) in self._left for entry in entries)
        if is_left:
            self._left[place] += 1
        return is_left

    @guarded
    def _is_left(self, path: object) -> bool:
        """Whether what stands at a path is gone for the program, itself or with a folder that it is in."""
        return self._is_gone(_place(path))

    def _is_gone(self, place: str) -> bool:
        if not os.path.lexists(place) or self._saves.is_made(place):
            return False
        return place in self._left or any(os.fspath(folder) in self._left for folder in pathlib.PurePath(place).parents)

    def _end_waiting(self, path: object) -> None:
        """A program that goes on until a file is gone would go on for ever."""
        if self._left[_place(path)] > _MOST_REQUESTS:
            raise FileNotFoundError(errno.ENOENT, "it was there before the dry run, which leaves it; the script goes on removing it", path)

    @guarded
    def _note_made(self, path: object) -> None:
        self._saves.note_made(_place(path))

    @guarded
    def _moved(self, source: object, target: object) -> None:
        self._saves.moved(_place(source), _place(target))

    def _spare(self, place: str) -> None:
        self._saves.spared[place] = None
        self._left[place] += 1

    def _is_kept(self, place: str, is_saved: bool = False) -> bool:
        """Whether a checkpoint stands at a place that the program did not make; `is_saved`: one is to stand there."""
        is_file = os.path.isfile(place) and stat.S_ISREG(os.stat(place).st_mode)
        return is_file and not self._saves.is_made(place) and (is_saved or is_checkpoint(place, self._saves.began))


def _pass_for(function: Callable) -> None:
    """Makes a function of ours that stands in the module os one that others may pickle, and ask about its options."""
    real = function.__wrapped__
    function.__module__, function.__qualname__ = "os", real.__name__
    for able in (os.supports_dir_fd, os.supports_follow_symlinks):
        if real in able:
            able.add(function)


def _is_plain(paths: list, options: dict) -> bool:
    """Whether a call names files by paths alone."""
    return all(map(is_path, paths)) and all(value is None for value in options.values())


def _place(path: object) -> str:
    """Where a file stands, itself and not what it links to."""
    folder, name = os.path.split(os.fsdecode(path).rstrip(os.sep) or os.sep)
    return os.path.join(os.path.realpath(folder), name)
