"""The replaced functions, as a part of the session: the records of those that the tests have not run."""

import json
import os
import platform
import sys

from .. import records, wire
from ..part import Part, Write
from .parameters import ABSENT, extends
from .replacing import PUT, REPLACED

_KNOWN = os.path.join(os.path.dirname(__file__), "known.json")


class Hooks(Part):
    """Compares each replaced function with `known.json` (Note [Replacements])."""

    def finish(self, reason: str, write: Write) -> None:
        """The records of functions with unknown parameters; of all, if the tests ask."""
        with open(_KNOWN, encoding="utf-8") as file:
            known = json.load(file)
        for record in list_records(known):
            if not record["is_known"] or wire.REPLACED in os.environ:
                write(record)


def list_records(known: dict) -> list[dict]:
    """The record of each name that was replaced, or is not there."""
    found = {name: (ABSENT, False) if one is None else (one.parameters, one.is_run) for name, one in REPLACED.items()}
    found |= {name: (text, True) for name, text in PUT.items()}
    return [
        records.replaced(name=name, library=_library(name.partition(":")[0]), found=text, is_known=_is_known(text, known.get(name)), is_run=is_run)
        for name, (text, is_run) in found.items()
    ]


def _is_known(found: str, known: dict | None) -> bool:
    """True for a name of which nothing is known: the tests fail there (`tests/hooks`), not the user."""
    texts = known["parameters"] if known else ()
    return not texts or any(text == found or (ABSENT not in (text, found) and extends(found, text)) for text in texts)


def _library(module: str) -> str:
    """The library of a module, with its version: of the package, or of the outermost package below that has one (`azure.storage.blob`)."""
    parts = module.split(".")
    if parts[0] in sys.stdlib_module_names:
        return f"Python {platform.python_version()}"
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            return f"{name} {version.partition('+')[0]}"
    return _installed(parts[0])


def _installed(package: str) -> str:
    """A package without a version of its own, such as gguf or slack_sdk, by what is installed."""
    from importlib import metadata

    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package
