"""Runs cases of values on the CPU and on the phantom, and writes the results. `check.py` starts it under `oomph check`.

    python driver.py CORPUS OUTPUT FIRST LAST

A record has the answers of both devices, and True if the agent noted a read of an unknown value. `corpus` is a file with `CASES`;
`random SEED` makes them.
"""

import gc
import json
import math
import sys
import traceback
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

sys.path[1:1] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import corpus as corpora
import programs

# Of larger tensors an answer has a summary.
MOST_NUMBERS = 4096
# The number of notes so far, in `read`.
READ = {"noted": 0}


def main() -> None:
    """All cases of the range, in order."""
    corpus, output, first, last = sys.argv[1:]
    torch.cuda.init()
    values = next(it for it in gc.get_objects() if type(it).__module__ == "_oomph_agent.values.values" and type(it).__name__ == "Values")
    rows = []
    for name, is_known, source in load(corpus)[int(first) : int(last)]:
        expected = answer(source, "cpu", values)
        noted, ours = count_noted(values), READ["noted"]
        found = answer(source, "cuda", values)
        noted = count_noted(values) - noted
        # True if an unknown value decided something before the end.
        is_decided = noted > READ["noted"] - ours
        rows.append({"name": name, "known": is_known, "expected": expected, "found": found, "noted": noted > 0, "decided": is_decided, "source": source})
    Path(output).write_text(json.dumps(rows), encoding="utf-8")


def load(corpus: str) -> list:
    """The cases of a file, or the cases of a seed."""
    return programs.make(int(corpus)) if corpus.isdecimal() else corpora.load(corpus)


def answer(source: str, device: str, values):
    """The program's `answer` as JSON; a text for an error."""
    scope = {"torch": torch, "F": F, "nn": nn, "math": math, "np": np, "device": device}
    scope["read"] = lambda it: read(it, values)
    torch.manual_seed(0)
    try:
        exec(compile(source, "case.py", "exec"), scope)
        return json.loads(json.dumps(scope["answer"], default=str))
    except Exception:
        return "error: " + traceback.format_exc(limit=-1)


def read(it, values):
    """The values of a tensor; "unknown" if the agent notes a read of unknown values."""
    noted = count_noted(values)
    found = [str(it.dtype), it.tolist()] if it.numel() <= MOST_NUMBERS else [str(it.dtype), *summary(it.cpu())]
    noted = count_noted(values) - noted
    READ["noted"] += noted
    return "unknown" if noted else found


def summary(it: torch.Tensor) -> list:
    """The shape of a large tensor, the sum, and some of its numbers."""
    return [list(it.shape), it.double().sum().item(), it.flatten()[:: it.numel() // 64].tolist()]


def count_noted(values) -> int:
    """The number of reads of unknown values, and of dependent shapes, that the agent noted so far."""
    return sum(values.reads.values()) + sum(values.shapes.values()) + values.assumed


if __name__ == "__main__":
    main()
