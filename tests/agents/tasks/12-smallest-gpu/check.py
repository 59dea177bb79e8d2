"""The evaluation decides, not the training."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 7.17 GiB of state, scores and probabilities of 768 x 1,500,000 (4.29 GiB each), a mask (1.07), and the mask as 64-bit numbers (8.58): 25.4 GiB live,
# 25.9 with the context, +- 7 %. Cached blocks of the training may add up to 2.6 GiB.
LOW, HIGH = 24.1, 30.4


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer names the GPU and the need."""
    yield from checks.unchanged(folder, task, "train.py")
    answer = checks.answer(folder)
    yield from checks.equal(answer, "gpu", "L40S")
    yield from checks.between(answer, "peak_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
