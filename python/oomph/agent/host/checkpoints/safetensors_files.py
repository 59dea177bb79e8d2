"""Files of safetensors under the guard of functions (Note [Undo journal] in crates/phantom/src/undo.rs).

The library writes a temporary file, and renames it with a system call of its own (`serialize_file`, safetensors 0.8), which no function of the C
library sees. Here it writes to a name of ours, and Python renames that file.
"""

import os
import uuid
from collections.abc import Callable

from ... import hooks, wire


def wait() -> None:
    """Changes the library when the program imports it."""
    hooks.around("safetensors:serialize_file", _write)


def _write(original: Callable, tensor_dict, filename, metadata=None):
    if wire.UNDO not in os.environ:
        return original(tensor_dict, filename, metadata)
    path = os.fspath(filename)
    part = f"{path}.{uuid.uuid4().hex[:8]}.part"
    # The guard knows the name from here on.
    open(part, "xb").close()
    try:
        original(tensor_dict, part, metadata)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
