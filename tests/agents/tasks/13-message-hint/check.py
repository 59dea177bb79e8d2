"""The message's advice does not help, the batch size does."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

BATCH, RATE = 32, 0.0004
# 38.35 GiB live with 64 tiles, 38.8 with the context, +- 7 %.
LOW, HIGH = 36.1, 41.5


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The command fits with the learning rate that belongs to it."""
    yield from checks.unchanged(folder, task, "train.py")
    command = checks.command(folder)
    batch, rate = int(command.value("--batch-size", "32")), float(command.value("--lr", "0.0001"))
    if batch != BATCH or abs(rate - RATE) > 1e-9:
        yield f"run.sh has --batch-size {batch} --lr {rate}, expected {BATCH} and {RATE}"
    yield from checks.weighed(folder, "train.py", [*command.options, "--steps", "3"], "rtx-4090")
    answer = checks.answer(folder)
    yield from checks.equal(answer, "expandable_segments_enough", False)
    yield from checks.between(answer, "need_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
