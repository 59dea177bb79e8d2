"""The weights are converted before they reach the GPU."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

MODEL = ["--vocabulary", "32000", "--width", "3200", "--heads", "32", "--layers", "32"]
TINY = ["--dtype", "float32", "--sequences", "2", "--cache", "4", "--tokens", "4", "--width", "16", "--heads", "2", "--layers", "2", "--vocabulary", "11"]


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The command fits, and float32 generates the same."""
    command = checks.command(folder)
    for option, value in (("--sequences", "12"), ("--cache", "1024"), ("--tokens", "1024")):
        if command.value(option, value) != value:
            yield f"run.sh has another {option}"
    yield from checks.weighed(folder, "generate.py", [*command.options, *MODEL, "--sequences", "12", "--cache", "1024", "--tokens", "3"], "t4")
    yield from checks.same_results(folder, task, "generate.py", TINY)


if __name__ == "__main__":
    checks.main(judge, __file__)
