"""The step is split, and weighs each part by its tokens."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

FULL = ["--sentences", "64", "--longest", "512", "--vocabulary", "16000", "--width", "1024", "--layers", "12", "--steps", "2"]
TINY = ["--sentences", "64", "--longest", "16", "--vocabulary", "50", "--width", "16", "--layers", "2", "--steps", "2"]


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The program fits, and computes the same."""
    yield from checks.weighed(folder, "train.py", FULL, "rtx-3090")
    yield from checks.same_results(folder, task, "train.py", TINY)


if __name__ == "__main__":
    checks.main(judge, __file__)
