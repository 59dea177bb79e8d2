"""The longest sequence with written-out attention."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

# 8192 tokens take 37.94 GiB of 39.39 less a context of 0.3 to 0.6; 8448 take 40.28. 7936 take 35.6, within 10 % of the device.
RIGHT = (7936, 8192)


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The answer is the largest multiple of 256 that fits, or the one below."""
    yield from checks.unchanged(folder, task, "train.py")
    length = checks.answer(folder).get("length")
    if length not in RIGHT:
        yield f"answer.json: `length` is {length!r}, expected one of {RIGHT}"


if __name__ == "__main__":
    checks.main(judge, __file__)
