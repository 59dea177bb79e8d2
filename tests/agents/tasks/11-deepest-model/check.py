"""The deepest model on an H100."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 2.875 GiB a layer for weight, gradient and two moments; 76.54 GiB at 25 layers, 79.41 at 26, of 79.11 less the context.
LOW, HIGH = 24, 25


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer is in the range."""
    yield from checks.unchanged(folder, task, "train.py")
    yield from checks.between(checks.answer(folder), "layers", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
