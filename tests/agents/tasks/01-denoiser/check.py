"""The metric that keeps its graph is cut off; training and log are as before."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

LINES = {50, 51}  # `scaled = model(...)` without no_grad, and `drift = drift + ...`, which keeps its graph
TINY = ["--steps", "2", "--log-every", "1", "--batch", "16", "--bins", "8", "--width", "16", "--depth", "2"]
# 6144 rows x 4 B: 0.5 * noisy (1024), input and output of 6 GELUs (12 x 4096), operand of abs (1024) = 1200 MiB, +- 7 %.
LOW, HIGH = 1116, 1284


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """Forty steps fit, and the answer is right."""
    yield from checks.weighed(folder, "train.py", ["--steps", "40", "--batch", "6144"], "rtx-3060-12gb")
    yield from checks.same_results(folder, task, "train.py", TINY)
    answer = checks.answer(folder)
    if answer.get("line") not in LINES:
        yield f"answer.json: `line` is {answer.get('line')!r}, expected one of {sorted(LINES)}"
    yield from checks.between(answer, "mib_per_step", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
