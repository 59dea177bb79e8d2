"""The batch is split by the program's own options, into as few parts as fit."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

BATCH, PARTS = 16, 4  # 32 images need 26.5 GiB, 16 need 14.1


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The command has the right options, and fits."""
    yield from checks.unchanged(folder, task, "train.py")
    command = checks.command(folder)
    batch, parts = int(command.value("--batch-size", "64")), int(command.value("--accumulate", "1"))
    if (batch, parts) != (BATCH, PARTS):
        yield f"run.sh has --batch-size {batch} --accumulate {parts}, expected {BATCH} and {PARTS}"
    if command.value("--steps", "5000") != "5000":
        yield "run.sh has another number of steps"
    yield from checks.weighed(folder, "train.py", [*command.options, "--steps", "2"], "rtx-3090")


if __name__ == "__main__":
    checks.main(judge, __file__)
