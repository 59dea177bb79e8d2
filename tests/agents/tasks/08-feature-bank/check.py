"""Expandable segments are set by the name that torch 2.9.1 reads for CUDA, or the program no longer fragments."""

import ast
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import checks

NAME = "PYTORCH_CUDA_ALLOC_CONF"
TINY = ["--recordings", "2", "--first", "640", "--growth", "64", "--width", "8"]
# The bank: 1024 x 2 B x 5,785,500 frames = 11.03 GiB; ten activations of the last step are 4 B x 1024 x 141,300 = 0.539 GiB each,
# and the weights 16 MiB. In all 16.76 GiB, +- 7 %.
LOW, HIGH = 15.6, 17.9


def is_set_in(script: pathlib.Path) -> bool:
    """True if the program itself writes the variable with the setting, above its import of torch."""
    for node in ast.parse(script.read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom) and "torch" in ast.unparse(node):
            return False
        if "os.environ" in ast.unparse(node) and NAME in ast.unparse(node) and "expandable_segments:True" in ast.unparse(node):
            return True
    return False


def judge(folder: pathlib.Path, task: pathlib.Path) -> checks.Reasons:
    """The setting is active, or the program fits without; the answer is right."""
    command = checks.command(folder)
    setting = "expandable_segments:True" in command.environment.get(NAME, "") or is_set_in(folder / command.script)
    if not setting:
        yield from checks.weighed(folder, "train.py", [*command.options, "--recordings", "70"], "rtx-3090")
    yield from checks.same_results(folder, task, "train.py", TINY)
    answer = checks.answer(folder)
    yield from checks.equal(answer, "setting_was_active", False)
    yield from checks.between(answer, "live_gib", LOW, HIGH)


if __name__ == "__main__":
    checks.main(judge, __file__)
