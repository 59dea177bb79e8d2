"""The cheapest level of recomputation that fits is chosen."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

LEVEL = "mlp"  # none 23.0 GiB, mlp 9.2, attention 18.6, block 4.3


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The command has the level, and fits."""
    yield from checks.unchanged(folder, task, "train.py")
    command = checks.command(folder)
    if command.value("--recompute", "none") != LEVEL:
        yield f"run.sh has --recompute {command.value('--recompute', 'none')}, expected {LEVEL}"
    if (command.value("--length", "32768"), command.value("--layers", "14")) != ("32768", "14"):
        yield "run.sh trains on other lengths, or another model"
    yield from checks.weighed(folder, "train.py", [*command.options, "--steps", "2"], "rtx-4060-ti-16gb")


if __name__ == "__main__":
    checks.main(judge, __file__)
