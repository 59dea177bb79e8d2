"""The validation keeps no graph."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

FULL = ["--batch", "128", "--length", "128", "--width", "768", "--layers", "6", "--epochs", "1", "--steps-per-epoch", "2", "--validation-batches", "80"]
TINY = ["--batch", "4", "--length", "8", "--width", "16", "--epochs", "1", "--steps-per-epoch", "2", "--validation-batches", "3"]
# Two encodings of 16,384 tokens x 768 x 4 B (48 MiB): 7 a layer (input of the norm, window 3, value and gate 2, sigmoid 1), see truth.md.
LOW, HIGH = 3.66, 4.22


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """All batches fit, the numbers are the same."""
    yield from checks.weighed(folder, "train.py", FULL, "a10g")
    yield from checks.same_results(folder, task, "train.py", TINY)
    yield from checks.between(checks.answer(folder), "gib_per_validation_batch", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
