"""Prevents that existing checkpoints are renamed, replaced or removed: see `guard`.

Programs write a checkpoint beside the old file and rename the new file over the old, remove the oldest of several, or empty the
output folder first. Existing checkpoints and their folders stay in place; the file that would have replaced a checkpoint is deleted.
Making the folder or the link again does nothing. Files written since the program began, by any process, may be renamed and removed.

Only calls in Python are seen, no `rm` of a shell.
"""

import errno
import functools
import os
import pathlib
import shutil
from collections.abc import Callable

from ...failure import guarded
from .guard import CheckpointGuard, is_path, place_of

# A program that removes a checkpoint more often waits for the removal.
_MOST_REQUESTS = 1000
_WAITING = "it was there before the dry run, which leaves it; the script goes on removing it"


class Removals:
    """Replaces the functions that rename and remove files."""

    def __init__(self, guard: CheckpointGuard) -> None:
        self._guard = guard
        self._unlink, self._remove_tree = os.unlink, shutil.rmtree

    def install(self) -> None:
        """Replaces the functions."""
        functions = {
            "remove": self._removing(os.remove),
            "unlink": self._removing(os.unlink),
            "rmdir": self._removing_folder(os.rmdir),
            "rename": self._renaming(os.rename),
            "replace": self._renaming(os.replace),
            "mkdir": self._making(os.mkdir),
            "symlink": self._linking(os.symlink, self._note_made),
            "link": self._linking(os.link, self._note_link),
        }
        # In Python 3.10 pathlib keeps its own references to these functions.
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

    def _removing_tree(self, remove: Callable) -> Callable:
        @functools.wraps(remove)
        def wrapper(path, *args, **kwargs):
            return None if is_path(path) and self._keeps_below(path) else remove(path, *args, **kwargs)

        return wrapper

    def _renaming(self, rename: Callable) -> Callable:
        @functools.wraps(rename)
        def wrapper(src, dst, **kwargs):
            if not _is_plain([src, dst], kwargs):
                return rename(src, dst, **kwargs)
            if self._keeps(src) or self._keeps_below(src) or self._keeps_target(src, dst):
                return None
            rename(src, dst)
            self._note_moved(src, dst)
            return None

        return wrapper

    def _making(self, make: Callable) -> Callable:
        @functools.wraps(make)
        def wrapper(path, *args, **kwargs):
            if not _is_plain([path], kwargs):
                return make(path, *args, **kwargs)
            if not self._is_gone(path):
                make(path, *args, **kwargs)
                self._note_made(path, path)
            return None

        return wrapper

    def _linking(self, link: Callable, note: Callable) -> Callable:
        @functools.wraps(link)
        def wrapper(src, dst, *args, **kwargs):
            if not is_path(dst):
                return link(src, dst, *args, **kwargs)
            if not self._is_gone(dst):
                link(src, dst, *args, **kwargs)
                note(src, dst)
            return None

        return wrapper

    @guarded
    def _keeps(self, path: object) -> bool:
        place = place_of(path)
        is_kept = self._is_kept(place)
        if is_kept:
            self._guard.spare_gone(place)
        return is_kept

    @guarded
    def _keeps_target(self, source: object, target: object) -> bool:
        """True if the target is left as before; the program's replacement is deleted then."""
        source, target = place_of(source), place_of(target)
        is_folder = os.path.isdir(target) and not os.path.islink(target)
        is_kept = self._guard.is_gone(target) if is_folder else self._is_kept(target, self._guard.is_saved(source))
        if not is_kept:
            return False
        if not is_folder:
            self._guard.spare(target)
        if os.path.lexists(source) and self._guard.is_made(source):
            (self._remove_tree if is_folder else self._unlink)(source)
        return True

    @guarded
    def _keeps_below(self, folder: object) -> bool:
        """True if a folder is left as before, because of checkpoints in the folder."""
        place = place_of(folder)
        if os.path.lexists(place) and self._guard.is_made(place):
            return False
        files = [os.path.join(parent, name) for parent, _, names in os.walk(place) for name in names]
        kept = [file for file in files if self._is_kept(file)]
        for file in kept:
            self._guard.spare_gone(file)
        if kept:
            self._guard.left[place] += 1
        return bool(kept)

    @guarded
    def _holds_only_left(self, folder: object) -> bool:
        """True if a folder looks empty to the program but is not."""
        place = place_of(folder)
        entries = os.listdir(place) if os.path.isdir(place) else []
        is_left = bool(entries) and all(os.path.join(place, entry) in self._guard.left for entry in entries)
        if is_left:
            self._guard.left[place] += 1
        return is_left

    @guarded
    def _is_gone(self, path: object) -> bool:
        return self._guard.is_gone(place_of(path))

    @guarded
    def _note_made(self, _source: object, path: object) -> None:
        self._guard.note_made(place_of(path))

    @guarded
    def _note_link(self, source: object, path: object) -> None:
        is_made = is_path(source) and self._guard.is_made(place_of(source))
        (self._guard.note_made if is_made else self._guard.note_link)(place_of(path))

    @guarded
    def _note_moved(self, source: object, target: object) -> None:
        self._guard.note_moved(place_of(source), place_of(target))

    def _is_kept(self, place: str, is_saved: bool = False) -> bool:
        """True if a path is an existing checkpoint; `is_saved`: the program wants to put a checkpoint there."""
        is_link_to_folder = os.path.islink(place) and os.path.isdir(place)
        if not (self._guard.is_there(place) or (is_link_to_folder and not self._guard.is_made(place))):
            return False
        if not self._guard.is_old(place) or self._guard.is_further_link(place):
            return False
        return self._guard.is_pointer(place) if is_link_to_folder else is_saved or self._guard.is_checkpoint(place)

    def _end_waiting(self, path: object) -> None:
        """Raises in a program that repeats a removal until the file is gone."""
        if self._guard.left[place_of(path)] > _MOST_REQUESTS:
            raise FileNotFoundError(errno.ENOENT, _WAITING, path)


def _pass_for(function: Callable) -> None:
    """Lets a replacement in the module os be pickled, and queried for options, as the original."""
    real = function.__wrapped__
    function.__module__, function.__qualname__ = "os", real.__name__
    for able in (os.supports_dir_fd, os.supports_follow_symlinks):
        if real in able:
            able.add(function)


def _is_plain(paths: list, options: dict) -> bool:
    """True if a call names files by paths alone."""
    return all(map(is_path, paths)) and all(value is None for value in options.values())
