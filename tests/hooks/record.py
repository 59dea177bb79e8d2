"""Keeps the functions that dry runs replaced, with their parameters and the versions of the libraries, in `agent/hooks/known.json`.

    OOMPH_REPLACED=/path/replaced.jsonl make test        or any run of any suite, in any environment
    python3 tests/hooks/record.py /path/replaced.jsonl   adds what was seen
    python3 docs/replaced.py                             the pages that follow

A name with its parameters is met in a version; it is run in a version where a program called it, too.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "python" / "oomph" / "agent" / "hooks" / "known.json"


def main() -> None:
    """Adds the files of the command line."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    for path in sys.argv[1:]:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            add(known, json.loads(line))
    write(known)


def add(known: dict, seen: dict) -> None:
    """Adds one replaced function."""
    entry = known.setdefault(seen["name"], {"parameters": {}, "run": []})
    for versions in [entry["parameters"].setdefault(seen["found"], []), *([entry["run"]] if seen["is_run"] and seen["found"] != "absent" else [])]:
        if seen["library"] not in versions:
            versions.append(seen["library"])
            versions.sort(key=order)


def order(library: str) -> tuple:
    """The package, then the version by its numbers."""
    package, _, version = library.rpartition(" ")
    return package, [int(part) if part.isdigit() else 0 for part in version.split(".")]


def write(known: dict) -> None:
    """Writes the names in order, a line each."""
    lines = [f"  {json.dumps(name)}: {json.dumps(known[name], sort_keys=True)}" for name in sorted(known)]
    KNOWN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
