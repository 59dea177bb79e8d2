"""The program fits as it is."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# Live tensors 15.73 GiB, reserved up to 16.93, and a context of 0.3 to 0.6: 16.0 to 17.5 GiB, and 5 % on either side.
LOW, HIGH = 15.2, 18.4


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """Nothing was changed, and the answer is right."""
    yield from checks.unchanged(folder, task, "train.py")
    answer = checks.answer(folder)
    yield from checks.equal(answer, "fits_as_given", True)
    yield from checks.between(answer, "peak_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
