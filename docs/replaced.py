"""Writes what follows from the table of replaced functions: a page, and regions of two others.

    python3 docs/replaced.py            writes them
    python3 docs/replaced.py --check    exit status 1 if one is stale

The table is `python/oomph/agent/hooks/rows`; the versions are those of `known.json` beside it, which the tests keep (`tests/hooks/record.py`).
"""

import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from oomph.agent.hooks.table import ROWS

KNOWN = ROOT / "python/oomph/agent/hooks/known.json"
REGION = "<!-- make generate: replaced -->\n", "<!-- end: replaced -->\n"
PAGE = """\
# What a dry run replaces

A dry run is the program itself, under the real PyTorch. These functions of PyTorch, of Python and of other libraries are replaced meanwhile, each
once. A release that changes one of them is named in the report: `oomph replaces functions that have changed since it was last tested`.

The page follows from the table of the agent (Note [Replacements] in `python/oomph/agent/hooks/__init__.py`) by `make generate`. "Run with" names the
versions in which a recorded run of a test called the function; "–" is a function that none has called so far.

"""


def main() -> int:
    """Exit status 1 if `--check` finds a stale page."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    pages = {
        "docs/replaced.md": write_page(known),
        "docs/effects.md": put_region("docs/effects.md", write_services(known)),
        "docs/COMPATIBILITY.md": put_region("docs/COMPATIBILITY.md", write_libraries(known)),
    }
    stale = [name for name, text in pages.items() if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != text]
    for name in stale:
        if "--check" in sys.argv:
            print(f"{name} is stale: make generate")
        else:
            (ROOT / name).write_text(pages[name], encoding="utf-8")
            print(f"wrote {name}")
    return 1 if stale and "--check" in sys.argv else 0


def put_region(name: str, text: str) -> str:
    """The page with a region replaced."""
    page = (ROOT / name).read_text(encoding="utf-8")
    before, _, rest = page.partition(REGION[0])
    _, _, after = rest.partition(REGION[1])
    return f"{before}{REGION[0]}{text}{REGION[1]}{after}"


def write_page(known: dict) -> str:
    """The table: the functions of a part with one purpose are a row."""
    groups = collections.defaultdict(list)
    for row in ROWS.values():
        for part, why in row.parts.items():
            groups[part, why].append(row.name)
    lines = ["| by | which | functions | run with |", "|---|---|---|---|"]
    for (part, why), names in sorted(groups.items()):
        shown = ", ".join(f"`{name.replace(':', '.')}`" for name in names)
        lines.append(f"| `{part}` | {why} | {shown} | {list_versions(known, names)} |")
    return PAGE + "\n".join(lines) + "\n"


def write_services(known: dict) -> str:
    """The services whose libraries are taken off line, for docs/effects.md."""
    names = [row.name for row in ROWS.values() if any(part.startswith("scenery.outside.") for part in row.parts)]
    lines = ["| library | what becomes of it | run with |", "|---|---|---|"]
    by_library = collections.defaultdict(list)
    for name in names:
        by_library[ROWS[name].library].append(name)
    for library, own in sorted(by_library.items()):
        whys = dict.fromkeys(why for name in own for part, why in ROWS[name].parts.items() if part.startswith("scenery.outside."))
        lines.append(f"| {library} | {', '.join(whys)} | {list_versions(known, own)} |")
    return "\n".join(lines) + "\n"


def write_libraries(known: dict) -> str:
    """The libraries with functions that are replaced, for docs/COMPATIBILITY.md."""
    by_library = collections.defaultdict(list)
    for row in ROWS.values():
        by_library[row.library].append(row.name)
    lines = ["| library | functions replaced | of them run | versions |", "|---|---|---|---|"]
    for library, names in sorted(by_library.items()):
        run = [name for name in names if find_run(known, name)]
        lines.append(f"| {library} | {len(names)} | {len(run)} | {list_versions(known, names)} |")
    return "\n".join(lines) + "\n"


def find_run(known: dict, name: str) -> list[str]:
    """The versions in which a function was called; of a name with a `*`, any function that it stands for."""
    if name.endswith("*"):
        return [version for other, entry in known.items() if other.startswith(name[:-1]) for version in entry["run"]]
    return known.get(name, {}).get("run", [])


def list_versions(known: dict, names: list[str]) -> str:
    """The versions of all functions together, by library."""
    found = collections.defaultdict(set)
    for name in names:
        for library in find_run(known, name):
            package, _, version = library.rpartition(" ")
            found[package].add(version)
    parts = [f"{package} {', '.join(sorted(versions, key=order))}" for package, versions in sorted(found.items())]
    return "; ".join(parts) or "–"


def order(version: str) -> list[int]:
    """A version by its numbers."""
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


if __name__ == "__main__":
    sys.exit(main())
