"""Runs the checks of the tasks.

    python tests/agents/judge.py FOLDER        the results: a folder for each task, named like the task
    python tests/agents/judge.py --self-test   every reference solution passes, every untouched folder fails
"""

import importlib.util
import pathlib
import shutil
import sys
import tempfile
import time

import checks

HERE = pathlib.Path(__file__).resolve().parent
HIDDEN = shutil.ignore_patterns("check.py", "truth.md", "solution", "__pycache__")


def tasks() -> list[pathlib.Path]:
    """The folders of the tasks, in order."""
    return sorted(folder for folder in (HERE / "tasks").iterdir() if (folder / "task.md").exists())


def judge_of(task: pathlib.Path) -> checks.Judge:
    """The function `judge` of a task's check."""
    spec = importlib.util.spec_from_file_location(f"check_{task.name[:2]}", task / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.judge


def half(task: pathlib.Path) -> str:
    """Odd tasks are of the half `work`, even ones of `blind`."""
    return "work" if int(task.name[:2]) % 2 else "blind"


def judge_results(results: pathlib.Path) -> int:
    """Prints a row for each task that has a result; the number of failures."""
    failures = 0
    for task in tasks():
        folder = results / task.name
        if not folder.is_dir():
            continue
        reasons = checks.verdict(judge_of(task), folder, task)
        failures += bool(reasons)
        print(f"{task.name:22} {half(task):6} {'ok' if not reasons else 'FAILED: ' + '; '.join(reasons)}", flush=True)
    return failures


def self_test() -> int:
    """Judges each task twice; the number of wrong verdicts."""
    wrong = 0
    for task in tasks():
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch, task.name)
            shutil.copytree(task, folder, ignore=HIDDEN)
            untouched = checks.verdict(judge_of(task), folder, task)
            shutil.copytree(task / "solution", folder, dirs_exist_ok=True)
            solved = checks.verdict(judge_of(task), folder, task)
        wrong += (not untouched) + bool(solved)
        print(f"{task.name:22} untouched: {'; '.join(untouched) or 'PASSED'}")
        print(f"{'':22} solved: {'; '.join(solved) or 'ok'} ({time.monotonic() - start:.1f} s)", flush=True)
    return wrong


def main() -> None:
    """The exit status is 1 if a check failed that should not."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(bool(self_test() if sys.argv[1] == "--self-test" else judge_results(pathlib.Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
