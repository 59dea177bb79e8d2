"""The Chamfer distance no longer has all differences at once."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

FULL = ["--batch", "12", "--points", "8192", "--steps", "2"]
TINY = ["--batch", "2", "--points", "64", "--steps", "2"]


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The program fits, and computes the same."""
    yield from checks.weighed(folder, "train.py", FULL, "rtx-3060-12gb")
    yield from checks.same_results(folder, task, "train.py", TINY)


if __name__ == "__main__":
    checks.main(judge, __file__)
