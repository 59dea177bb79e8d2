"""Tracks checkpoints: files from before the dry run, files that the program made, files that the program believes deleted.

A phantom GPU computes no values: its checkpoints hold zeros, and a loss of zero is the best so far. A dry run therefore leaves
existing checkpoints in place, and reports success to the program (`saves`, `removals`). New checkpoints are written as always,
because the program may load them again; the records name these files at the end.

The program's own files are identified by path and inode: the file at a path may be replaced, and inodes are reused.
"""

import os
import pathlib
import pickle
import time
from collections import Counter
from collections.abc import Iterator

# Endings of checkpoint files, among them the endings of torch.distributed.checkpoint (`.distcp`, `.metadata`),
# torch.export (`.pt2`), NeMo and Stable-Baselines3 (`.zip`).
_NAMED = (".pt", ".pth", ".ckpt", ".safetensors", ".distcp", ".pt2", ".nemo")
_ALSO_NAMED = (".bin", ".tar", ".zip", ".metadata")
# Files that name the checkpoint to resume from: DeepSpeed's, detectron2's and MMEngine's, Megatron's.
_POINTERS = ("latest", "last_checkpoint", "latest_checkpointed_iteration.txt")
# A zip file's first bytes, and the name of what torch.save puts first into one; before 1.6 it began with a number, pickled
# (`MAGIC_NUMBER` in torch/serialization.py).
_ZIP, _FIRST_ENTRY, _HEAD_BYTES = b"PK\x03\x04", b"/data.pkl", 256
_LEGACY = pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2)


def is_path(value: object) -> bool:
    """True if a value names a file, as opposed to being one."""
    return isinstance(value, (str, bytes, os.PathLike))


def place_of(path: object) -> str:
    """Resolves all links of a path except the last component."""
    folder, name = os.path.split(os.fsdecode(path).rstrip(os.sep) or os.sep)
    return os.path.join(os.path.realpath(folder), name)


class CheckpointGuard:
    """The files of a run. All paths are absolute."""

    def __init__(self) -> None:
        # Files that were not overwritten, renamed or removed, in order of time.
        self.spared: dict[str, None] = {}
        # Paths that the program believes deleted, and the number of deletions.
        self.left: Counter[str] = Counter()
        # The time at which the program began, in seconds since the epoch.
        self._began = time.time()
        # Device and inode of the files that the program made, by path.
        self._made: dict[str, tuple[int, int]] = {}
        # The program's checkpoints, in the order of writing.
        self._saved: dict[str, None] = {}
        # Hard links that the program made to existing files.
        self._links: dict[str, tuple[int, int]] = {}

    def is_made(self, path: str) -> bool:
        """True if the program made the file, link or folder at a path, or a folder above."""
        while path not in self._made or self._made[path] != _identity(path):
            path, child = os.path.dirname(path), path
            if path == child:
                return False
        return True

    def is_saved(self, path: str) -> bool:
        """True if a path is a checkpoint of the program."""
        return path in self._saved and os.path.lexists(path) and self.is_made(path)

    def is_gone(self, path: str) -> bool:
        """True if the program believes an existing path deleted, or a folder above."""
        if not os.path.lexists(path) or self.is_made(path):
            return False
        return path in self.left or any(os.fspath(folder) in self.left for folder in pathlib.PurePath(path).parents)

    def is_there(self, path: str) -> bool:
        """True if a path is a non-empty file that the program did not make. Files of other processes count: losing a checkpoint of zeros is
        better than overwriting the checkpoint of a training that runs beside the dry run."""
        return os.path.isfile(path) and os.path.getsize(path) > 0 and not self.is_made(path)

    def is_old(self, path: str) -> bool:
        """True if a file was last written before the program began: a younger file is likely from a child process."""
        return os.lstat(path).st_mtime < self._began

    def is_further_link(self, path: str) -> bool:
        """True if a path is a hard link of the program to a file with further links."""
        return self._links.get(path) == _identity(path) and os.lstat(path).st_nlink > 1

    def is_checkpoint(self, path: str) -> bool:
        """True if a file has the name of a checkpoint, or was written by torch.save before the program began."""
        return path.endswith(_NAMED + _ALSO_NAMED) or self.is_pointer(path) or (self.is_old(path) and _is_from_torch(path))

    def is_pointer(self, path: str) -> bool:
        """True if a file name is that of a pointer to a checkpoint."""
        return os.path.basename(path) in _POINTERS

    def spare(self, path: str) -> None:
        """Records that a file was left as before, while the program believes the file rewritten."""
        self.spared[path] = None
        self.left.pop(path, None)

    def spare_gone(self, path: str) -> None:
        """Records that a file was left as before, while the program believes the file deleted."""
        self.spared[path] = None
        self.left[path] += 1

    def note_made(self, path: str) -> None:
        """Records that the program made the file at a path."""
        if os.path.lexists(path):
            self._made[path] = _identity(path)
            if path.endswith(_NAMED):
                self._saved[path] = None

    def note_saved(self, path: str) -> None:
        """Records that the program wrote a checkpoint."""
        self.note_made(path)
        self._saved[path] = None

    def note_link(self, path: str) -> None:
        """Records that the program made a hard link to an existing file."""
        self._links[path] = _identity(path)

    def note_moved(self, source: str, target: str) -> None:
        """Records that the program moved its files at or below a path."""
        for places in (self._made, self._saved, self._links):
            for path in [path for path in places if path == source or path.startswith(source + os.sep)]:
                places[target + path[len(source) :]] = places.pop(path)
        if target.endswith(_NAMED) and self.is_made(target):
            self._saved[target] = None

    def list_written(self) -> Iterator[str]:
        """Lists the checkpoints that the program wrote and did not remove."""
        return (path for path in self._saved if os.path.isfile(path) and self.is_saved(path))


def _is_from_torch(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(_LEGACY) or (head.startswith(_ZIP) and _FIRST_ENTRY in head)


def _identity(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return status.st_dev, status.st_ino
