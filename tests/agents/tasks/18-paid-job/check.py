"""Every rank holds all of the state: no batch fits."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 6.74e9 parameters x 16 B = 100.4 GiB; up to 20 B with gradient buckets of their own or copies for the step. 7 % below and above.
LOW, HIGH = 93, 134


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer says that nothing fits."""
    yield from checks.unchanged(folder, task, "train.py")
    answer = checks.answer(folder)
    yield from checks.equal(answer, "batch_size", 0)
    yield from checks.between(answer, "state_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
