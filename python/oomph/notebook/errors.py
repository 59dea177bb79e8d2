"""The handler of out-of-memory errors: after the cell and its traceback, the memory in the traceback is freed.

Note [After an error]
~~~~~~~~~~~~~~~~~~~~~
Python and IPython keep the last exception, its traceback keeps the functions' frames, and the frames keep their local variables: the tensors that
have filled the device. IPython's event `post_run_cell` comes after the traceback is shown and after `%pdb` has ended, and leaves handlers of the
user's in place. The handler of that event empties the frames. The exception stays, and `%tb` still shows it.
"""

import gc
import os
import pickle
import sys
import tempfile

from . import sentences, survey
from .free import measure
from .shell import Shell, clear_frames, list_traces


class Errors:
    """Hears of each cell's end."""

    def __init__(self, shell) -> None:
        self._shell = shell
        # True if frames stay as they are: `%oomph keep-frames`.
        self.keeps_frames = False
        # The numbers of the cells that raised.
        self.failed: set[int] = set()
        self.message = ""
        self._folder: tempfile.TemporaryDirectory | None = None

    def install(self) -> None:
        """Starts listening."""
        self._shell.events.register("post_run_cell", self.note)

    def remove(self) -> None:
        """Stops listening."""
        self._shell.events.unregister("post_run_cell", self.note)
        if self._folder is not None:
            self._folder.cleanup()

    def note(self, result) -> None:
        """Notes a cell's end; frees the memory in the traceback of an out-of-memory error."""
        error = result.error_in_exec or result.error_before_exec
        if error is None:
            return
        self.failed.add(result.execution_count)
        refused = find_out_of_memory(error)
        if refused is None:
            return
        self.message = f"{type(refused).__module__}.{type(refused).__name__}: {refused}"
        self._save()
        if self.keeps_frames:
            print("oomph: out of memory; the frames of the traceback keep their variables: `%oomph free traceback` removes them")
            return
        self._free(error)

    def _free(self, error: BaseException) -> None:
        report = survey.take(Shell(self._shell))
        if not any(row.kind == "traceback" for device in report.devices for row in device.rows):
            print(f"oomph: out of memory; the traceback holds none, {_describe_left()}: `%oomph` shows by what")
            return
        before = measure()
        cleared = clear_frames([error, *Shell(self._shell).list_exceptions()])
        del error
        gc.collect()
        after = measure()
        freed = before.allocated_bytes - after.allocated_bytes if before and after else 0
        print(
            f"oomph: out of memory; freed {sentences.size(freed)} from {cleared} frames of the traceback, {_describe_left()}: `%oomph` shows by what "
            "(`%debug` has no variables now; `%oomph keep-frames` keeps them next time)"
        )

    def _save(self) -> None:
        """Keeps the message and the allocator's state for `%oomph explain`."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="oomph-notebook-")
        with open(os.path.join(self._folder.name, "error.log"), "w", encoding="utf-8") as file:
            file.write(self.message + "\n")
        path = os.path.join(self._folder.name, "snapshot.pickle")
        try:
            snapshot = sys.modules["torch"].cuda.memory._snapshot()
            with open(path, "wb") as file:
                pickle.dump(snapshot, file)
        except (RuntimeError, TypeError, OSError, pickle.PicklingError):
            # The message alone is explained.
            if os.path.exists(path):
                os.unlink(path)

    def list_files(self) -> list[str]:
        """The files about the last error; empty before the first."""
        folder = self._folder.name if self._folder else ""
        return [path for name in ("error.log", "snapshot.pickle") if folder and os.path.exists(path := os.path.join(folder, name))]


def _describe_left() -> str:
    memory = measure()
    return f"{sentences.size(memory.allocated_bytes if memory else 0)} stay allocated"


def find_out_of_memory(error: BaseException | None) -> BaseException | None:
    """The out-of-memory error in an exception, its causes and contexts."""
    waiting, seen = [error], set()
    while waiting:
        it = waiting.pop()
        if it is None or id(it) in seen:
            continue
        seen.add(id(it))
        if type.__dict__["__name__"].__get__(type(it)) == "OutOfMemoryError":
            return it
        waiting += [it.__context__, it.__cause__]
    return None
