"""Runs compiled programs and their eager twins, and writes the results. `check.py` starts the driver under `oomph check`.

    python driver.py CORPUS OUTPUT NAME...
"""

import contextlib
import gc
import json
import sys
import traceback
import types
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.config
from torch import nn
from torch.nn import functional

sys.path.insert(1, str(Path(__file__).parent.parent))

from corpus import load

DEVICE = "cuda"


def main() -> None:
    """Both runs of every named program."""
    corpus, output, *names = sys.argv[1:]
    # The workspace of cuBLAS is allocated once in a process.
    torch.ones(2, 2, device=DEVICE) @ torch.ones(2, 2, device=DEVICE)
    rows = [{twin: run(case, twin == "compiled") for twin in ("eager", "compiled")} for case in load(corpus) if case.name in names]
    Path(output).write_text(json.dumps(rows), encoding="utf-8")


def run(case, is_compiled: bool) -> dict:
    """Runs a program; returns the answer, the error and the peak."""
    before = forget()
    settings = [(config, config.save_config()) for config in (torch._dynamo.config, torch._inductor.config)]
    row = {"error": None, "answer": None, "peak": 0}
    try:
        row["answer"] = json.loads(json.dumps(answer_of(case, is_compiled), default=str))
    except Exception:
        row["error"] = traceback.format_exc()
    row["peak"] = torch.cuda.max_memory_allocated() - before
    for config, saved in settings:
        config.load_config(saved)
    return row


def answer_of(case, is_compiled: bool):
    """The program's variable `answer`."""
    torch.manual_seed(0)
    # Dynamo imports the module of a function behind a break.
    program = types.ModuleType(f"program_{len(sys.modules)}")
    sys.modules[program.__name__] = program
    program.__dict__.update(torch=torch, nn=nn, F=functional, device=DEVICE)
    program.compiled = torch.compile if is_compiled else lambda function, **_: function
    with contextlib.redirect_stdout(sys.stderr):
        exec(compile(case.code, case.name, "exec"), program.__dict__)
    return program.answer


def forget() -> int:
    """Drops all compiled code and all garbage; returns the remaining allocated bytes."""
    torch._dynamo.reset()
    if hasattr(torch.compiler, "set_stance"):
        torch.compiler.set_stance("default")
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


if __name__ == "__main__":
    main()
