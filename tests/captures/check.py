"""Captures and streams on the phantom as on a GPU: forbidden calls, the end of a capture, the content of a graph.

    python tests/captures/check.py --oomph target/release/oomph [WORD ...]

The code was written with `work.py`; `blind.py` and `blind_more.py` were written by somebody else before the code ran them. Each case names
the source of its expectation.
"""

import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite
from corpus import load

SECONDS = 600
# Cases in one process.
CHUNK = 40
# Texts of CUDA's errors (the strings of libcudart.so, CUDA 13.0).
TEXTS = {
    400: "invalid resource handle",
    401: "the operation cannot be performed in the present state",
    900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    902: "operation would result in a merge of separate capture sequences",
    903: "capture was not ended in the same stream as it began",
    904: "capturing stream has unjoined work",
    905: "dependency created on uncaptured work in another stream",
    906: "operation would make the legacy stream depend on a capturing blocking stream",
    907: "operation not permitted on an event last recorded in a capturing stream",
    908: "attempt to terminate a thread-local capture sequence from another thread",
}
# Cases whose answer differs from a GPU's, and why.
KNOWN = {"nodes and edges of a chain": "cuda.bindings.runtime has a runtime of its own inside, which asks for tables of NVIDIA's driver"}
# Cases whose answer has numbers computed by kernels, which a phantom does not run: judged only by an end without an error.
COMPUTED = frozenset(
    (
        "wait for an external event from outside",
        "fork of a fork",
        "capture after a failed capture",
        "relaxed capture ended by another thread",
        "another thread waits in a thread local capture",
        "polling thread with its own relaxed mode",
        "loader thread beside a relaxed capture",
        "number read on a free stream in a relaxed capture",
        "other library on the default stream in a relaxed capture",
        "random numbers of a replay",
        "capture of work on the default stream",
        "capture on the wrong device",
        "pinned copies in a capture",
        "pinned memory made in a capture",
        "whole training step",
        "two graphs that share a pool",
        "cuSOLVER in a capture after a warm-up",
        "compiled function with reduced overhead",
    )
)


def main() -> int:
    """Exit status 1 if an answer differs from its source."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [
        suite.Case(f"{path.stem} {first}-{first + CHUNK - 1}", partial(judge, oomph, path, first))
        for path in (HERE / "work.py", HERE / "blind.py", HERE / "blind_more.py")
        for first in range(0, len(load(path)), CHUNK)
    ]
    return suite.run("captures", cases, arguments)


def judge(oomph: Path, corpus: Path, first: int) -> str:
    """Runs a part of a corpus; returns the number of cases as stated."""
    cases = load(corpus)[first : first + CHUNK]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "rows.json")
        words = [oomph, "phantom", "--gpu", "rtx-4090", "--gpus", 2, "--", Path(sys.executable).absolute()]
        program = [HERE / "driver.py", corpus, output, first, first + CHUNK]
        done = subprocess.run(list(map(str, words + program)), capture_output=True, text=True, timeout=SECONDS, cwd=folder)
        assert output.exists(), f"no answers; status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        rows = json.loads(output.read_text(encoding="utf-8"))
    wrong = {case.name: problem for case, row in zip(cases, rows, strict=True) if (problem := problem_of(case, row))}
    problems = [f"{name}: {problem}" for name, problem in wrong.items() if name not in KNOWN]
    problems += [f"{case.name}: as stated by now, and no longer to be in KNOWN" for case in cases if case.name in KNOWN and case.name not in wrong]
    assert not problems, "\n".join([f"{len(problems)} of {len(rows)} wrong", *problems])
    return f"{len(rows) - len(wrong)} of {len(rows)} as a GPU answers"


def problem_of(case, row: dict) -> str | None:
    """The difference from the case's statement; `None` without one."""
    if case.raises is None and row["error"] is not None:
        return f"expected no error, found {row['trace'] or row['error']}"
    text = TEXTS.get(case.raises, str(case.raises))
    if case.raises is not None and text not in (row["error"] or ""):
        return f"expected the error `{text}`, found {row['trace'] or row['error']}"
    is_stated = case.answer is not None and case.name not in COMPUTED
    if is_stated and case.raises is None and row["answer"] != case.answer:
        return f"expected {case.answer}, found {row['answer']}"
    return None


if __name__ == "__main__":
    sys.exit(main())
