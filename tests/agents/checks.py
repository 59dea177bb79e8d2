"""The parts that the tasks' `check.py` share: answers, commands, edits, and memory. Each function yields reasons against the result; none is `ok`."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

GIB = 2**30
# Bytes that PyTorch reports as the total capacity of the products, in GiB.
GPUS = {
    "rtx-3060-12gb": 11.63,
    "t4": 14.56,
    "rtx-4060-ti-16gb": 15.70,
    "a10g": 22.06,
    "l4": 22.03,
    "rtx-3090": 23.57,
    "rtx-4090": 23.51,
    "a100-40gb": 39.39,
    "l40s": 44.39,
    "h100-80gb": 79.11,
    "a100-80gb": 79.25,
}
CONTEXT = 0.45  # GiB: the CUDA context with the libraries' kernels takes 300 to 600 MiB
STUB = """#!{python}
import json, os, sys
with open({record!r}, "a") as record:
    print(json.dumps([sys.argv, dict(os.environ)]), file=record)
"""
Reasons = Iterator[str]
Judge = Callable[[pathlib.Path, pathlib.Path], Reasons]


@dataclass
class Command:
    """The Python command that a shell script starts."""

    script: str
    options: list[str]
    environment: dict[str, str]

    def value(self, name: str, default: str) -> str:
        """The value of an option: the last of `--name value` and `--name=value`."""
        for index in range(len(self.options) - 1, -1, -1):
            if self.options[index] == name and index + 1 < len(self.options):
                return self.options[index + 1]
            if self.options[index].startswith(name + "="):
                return self.options[index].split("=", 1)[1]
        return default


def main(judge: Judge, place: str) -> None:
    """Runs a check from the command line: `check.py FOLDER`."""
    if len(sys.argv) != 2:
        sys.exit("usage: check.py FOLDER")
    reasons = verdict(judge, pathlib.Path(sys.argv[1]), pathlib.Path(place).parent)
    print("\n".join(reasons) or "ok")
    sys.exit(bool(reasons))


def verdict(judge: Judge, folder: pathlib.Path, task: pathlib.Path) -> list[str]:
    """All reasons against a result; a file that cannot be read is one."""
    reasons = []
    try:
        reasons.extend(judge(folder.resolve(), task.resolve()))
    except (OSError, ValueError, SyntaxError) as error:
        reasons.append(f"{type(error).__name__}: {error}")
    return reasons


def answer(folder: pathlib.Path) -> dict:
    """The content of `answer.json`."""
    if not (folder / "answer.json").exists():
        raise ValueError("no answer.json")
    content = json.loads((folder / "answer.json").read_text())
    if not isinstance(content, dict):
        raise ValueError("answer.json is not an object")
    return content


def between(values: dict, key: str, low: float, high: float) -> Reasons:
    """The number at `key` is in a range, ends included."""
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"answer.json: `{key}` is {value!r}, expected a number"
    elif not low <= value <= high:
        yield f"answer.json: `{key}` is {value}, expected {low:g} to {high:g}"


def equal(values: dict, key: str, expected: object) -> Reasons:
    """The value at `key` is the expected one; case does not count."""
    value = values.get(key)
    same = value.lower() == expected.lower() if isinstance(value, str) and isinstance(expected, str) else value == expected
    if not same or isinstance(value, bool) != isinstance(expected, bool):
        yield f"answer.json: `{key}` is {value!r}, expected {expected!r}"


def unchanged(folder: pathlib.Path, task: pathlib.Path, *names: str) -> Reasons:
    """Files are as they were."""
    for name in names:
        if (folder / name).read_bytes() != (task / name).read_bytes():
            yield f"{name} was changed"


def command(folder: pathlib.Path, script: str = "run.sh") -> Command:
    """The command of a shell script: the script runs with a stub in Python's place."""
    with tempfile.TemporaryDirectory() as scratch:
        record = pathlib.Path(scratch, "record")
        for name in ("python", "python3", "torchrun"):
            stub = pathlib.Path(scratch, name)
            stub.write_text(STUB.format(python=sys.executable, record=str(record)))
            stub.chmod(0o755)
        environment = {"PATH": f"{scratch}:/usr/bin:/bin", "HOME": scratch}
        subprocess.run(["bash", script], cwd=folder, env=environment, capture_output=True, timeout=20, check=False)
        lines = record.read_text().splitlines() if record.exists() else []
    if len(lines) != 1:
        raise ValueError(f"{script} starts Python {len(lines)} times, expected once")
    words, environment = json.loads(lines[0])
    place = next((index for index, word in enumerate(words) if index and word.endswith(".py")), None)
    if place is None:
        raise ValueError(f"{script} starts no script")
    return Command(os.path.basename(words[place]), words[place + 1 :], environment)


def weighed(folder: pathlib.Path, script: str, options: list[str], gpu: str) -> Reasons:
    """A run of the program fits the GPU."""
    import measure
    import segments

    capacity = int((GPUS[gpu] - CONTEXT) * GIB)
    facts = measure.weigh(folder, script, options, capacity)
    if facts.error:
        yield f"{script} {' '.join(options)}: {facts.error.strip().splitlines()[-1]}"
    elif not facts.events:
        yield f"{script} {' '.join(options)}: puts nothing on the GPU"
    elif segments.replay(facts.events, capacity) is not None:
        yield f"{script} {' '.join(options)}: {facts.peak / GIB:.2f} GiB alive at once, {gpu} has {capacity / GIB:.2f} for tensors"


def same_results(folder: pathlib.Path, task: pathlib.Path, script: str, options: list[str]) -> Reasons:
    """The program prints the numbers of the untouched one, and its first optimizer step sees the same gradients."""
    import measure

    before, after = measure.rehearse(task, script, options), measure.rehearse(folder, script, options)
    if before.error or after.error:
        yield f"{script} {' '.join(options)} on the CPU: {(before.error or after.error).strip().splitlines()[-1]}"
        return
    if not is_within(before.numbers, after.numbers):
        yield f"{script} prints other numbers: {after.numbers[:8]}, before {before.numbers[:8]}"
    if len(before.gradients) != len(after.gradients):
        yield f"{script} hands {len(after.gradients)} gradients to the optimizer, before {len(before.gradients)}"
    elif not is_within(before.gradients[: first_step(before)], after.gradients, rounding=1e-6):
        yield f"{script} computes other gradients"


def first_step(facts) -> int:
    """The number of gradients of the first of the rehearsed steps; rehearsals have two."""
    return len(facts.gradients) // 2


def is_within(expected: list[float], found: list[float], rounding: float = 2e-4) -> bool:
    """True if `expected` is in `found` in its order, up to rounding; numbers are printed with four digits or more."""
    rest = iter(found)
    return all(any(math.isclose(one, other, rel_tol=1e-3, abs_tol=rounding) for other in rest) for one in expected)
