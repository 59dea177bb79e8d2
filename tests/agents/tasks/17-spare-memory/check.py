"""The memory beside a server."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 44.39 GiB less 0.45 and 35.90 (live) to 36.85 (reserved without pressure): 7.09 to 8.04 GiB, and 0.4 GiB on either side.
LOW, HIGH = 6850, 8640


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer is in the range."""
    yield from checks.unchanged(folder, task, "serve.py")
    yield from checks.between(checks.answer(folder), "spare_mib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
