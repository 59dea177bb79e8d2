"""The versions of the libraries that a case needs: an older library cannot load even the real files in the same way."""

import re
from importlib import metadata

import suite


def require(*needs: str) -> None:
    """Skips the case unless each of the libraries, `timm 1.0.20`, has that version or a later one."""
    for need in needs:
        library, least = need.split()
        found = metadata.version(library)
        if parse(found) < parse(least):
            raise suite.Skip(f"{library} {found}, needs {least}")


def parse(version: str) -> tuple[int, ...]:
    """The numbers of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:3])
