"""Compiled programs on the phantom beside the same programs eager: no error, equal sizes, and a peak within bounds.

    python tests/compiled/check.py --oomph target/release/oomph [--all] [WORD ...]

The code was written with `work.py`; `blind.py` and `blind_training.py` were made before the code as well, and were run when the code was finished.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE), str(HERE.parent)]

import blind
import blind_training
import suite
import work

SECONDS = 600
# Inductor measures kernels of which it has several, and clears the cache of the device in between: 72 MiB of an RTX 4090.
CLEARED = 72 << 20
# In one process each: the compiler is imported once.
CHUNK = 4


def main() -> int:
    """Exit status 1 if a compiled program differs from its eager twin."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = []
    for part in (work, blind, blind_training):
        for is_usual in (True, False):
            chosen = [case for case in part.CASES if case.is_usual == is_usual]
            for first in range(0, len(chosen), CHUNK):
                some = chosen[first : first + CHUNK]
                name = f"{part.__name__}: {'; '.join(case.name for case in some)}"
                cases.append(suite.Case(name, partial(judge, oomph, Path(part.__file__), some), is_extra=not is_usual))
    return suite.run("compiled", cases, arguments)


def judge(oomph: Path, corpus: Path, cases: list) -> str:
    """Runs programs and their twins; returns the ratios of their peaks."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "rows.json")
        words = [oomph, "check", "--json", "--keep-files", "--steps", 0, "--gpu", "rtx-4090", "--python", Path(sys.executable).absolute()]
        program = [HERE / "driver.py", corpus, output, *(case.name for case in cases)]
        # One thread compiles, in the process itself, and finds nothing in a cache.
        variables = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": folder, "TRITON_CACHE_DIR": folder}
        done = subprocess.run(list(map(str, words + program)), capture_output=True, text=True, timeout=SECONDS, cwd=folder, env=variables)
        assert output.exists(), f"no answers; status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        rows = json.loads(output.read_text(encoding="utf-8"))
    problems = [f"{case.name}: {problem}" for case, row in zip(cases, rows, strict=True) if (problem := problem_of(case, **row))]
    assert not problems, "\n".join([f"{len(problems)} of {len(rows)} wrong", *problems])
    return " peaks of the eager twins times " + ", ".join(f"{row['compiled']['peak'] / row['eager']['peak']:.2f}" for row in rows)


def problem_of(case, eager: dict, compiled: dict) -> str | None:
    """The difference between the twins; `None` without one."""
    if eager["error"] or compiled["error"]:
        return f"eager: {eager['error']}\ncompiled: {compiled['error']}"
    if not case.is_free and eager["answer"] != compiled["answer"]:
        return f"compiled {compiled['answer']}, eager {eager['answer']}"
    if not case.low * eager["peak"] <= compiled["peak"] <= case.high * eager["peak"] + CLEARED:
        return f"a peak of {compiled['peak']:,} bytes, eager {eager['peak']:,}: not {case.low} to {case.high} times as much"
    return None


if __name__ == "__main__":
    sys.exit(main())
