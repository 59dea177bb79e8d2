"""The records of real GPUs in `truth/`. A record of a phantom GPU is refused."""

import json
from dataclasses import dataclass

from catalogue import HERE

FOLDER = HERE / "truth"


@dataclass(frozen=True)
class Record:
    """The figures of a program on a real GPU."""

    program: str
    gpu: dict
    context: dict
    end: dict
    oom: str | None
    segments: list

    @property
    def key(self) -> str:
        """The name of the prediction."""
        return f"{self.gpu['slug']}: {self.program}"


def records() -> dict[str, list[Record]]:
    """By program. A file in the folder that is no record of a real GPU is an error."""
    found: dict[str, list[Record]] = {}
    for path in sorted(FOLDER.rglob("*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        if entry["gpu"]["real"] is not True:
            raise SystemExit(f"{path}: made on a GPU that computes nothing, which is no truth")
        record = Record(path.stem, *(entry[name] for name in ("gpu", "context", "end", "oom", "segments")))
        found.setdefault(path.stem, []).append(record)
    return found
