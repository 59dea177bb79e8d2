"""The files of the program's own modules."""

import sys

from . import frames, objects

_main_file: object = None


def note_main() -> None:
    """Remembers the file of the script, while it runs: `__main__` has none any more once its code has ended."""
    global _main_file
    _main_file = objects.list_own(sys.modules.get("__main__")).get("__file__")


def list_own_files() -> list[str]:
    """The files of the program's own modules, in alphabetical order."""
    found = (objects.list_own(module).get("__file__") for module in list(sys.modules.values()))
    return sorted({file for file in (*found, _main_file) if type(file) is str and frames.is_users(file)})
