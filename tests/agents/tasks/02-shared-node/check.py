"""The job fits, another process is in the way."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 21.23 GiB of live tensors, 21.5 reserved, and a context of 0.45: 21.9 GiB, +- 7 %.
LOW, HIGH = 20.4, 23.5


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The program is untouched, the neighbour is named."""
    yield from checks.unchanged(folder, task, "train.py")
    answer = checks.answer(folder)
    yield from checks.equal(answer, "fits_alone", True)
    yield from checks.equal(answer, "stop_pid", 31177)
    yield from checks.between(answer, "peak_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
