"""The longest sequence with written-out attention."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 8704 tokens take 38.18 GiB of 39.39 less a context of 0.3 to 0.6; 8960 take 40.39. 8448 take 36.03, within 7 % of the device.
RIGHT = (8448, 8704)


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer is the largest multiple of 256 that fits, or the one below."""
    yield from checks.unchanged(folder, task, "train.py")
    length = checks.answer(folder).get("length")
    if length not in RIGHT:
        yield f"answer.json: `length` is {length!r}, expected one of {RIGHT}"


if __name__ == "__main__":
    checks.main(judge, __file__)
