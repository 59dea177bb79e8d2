"""Memory that variables keep after a `del` and an `empty_cache()`: a note that names them."""

from functools import partial

from harness import Box, Case, contains, expect

PROGRAM = """import gc
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(5)]).cuda()
loss = model(torch.randn(64, 2048, device="cuda")).square().mean()
{kept}
del model
gc.collect()
torch.cuda.empty_cache()
"""
# Five times 2048 x 2048 + 2048 numbers of 4 bytes.
SIZE = "80.04 MiB"

# Name, the line before `del`, the variable that keeps the weights.
KEPT = (
    ("a loss keeps the weights of its graph", "pass", f"empty_cache() (train.py:9): `loss` (Tensor with its graph) keeps {SIZE}"),
    ("a list keeps a model", "models = [model]; del loss", f"empty_cache() (train.py:9): `models` (list) keeps {SIZE}"),
    ("a number keeps nothing", "loss = loss.item()", None),
)


def check(box: Box, kept: str, says: str | None) -> None:
    """The note, or none."""
    script = box.write("train.py", PROGRAM.format(kept=kept))
    result = box.check("--json", "--gpu", "rtx-4090", script)
    notes = [note for note in result.report["notes"] if "empty_cache()" in note]
    expect(result, len(notes), 0 if says is None else 1, f"notes, {notes}")
    if says is not None:
        contains(result, notes[0], says)


CASES = [Case(name, partial(check, kept=kept, says=says)) for name, kept, says in KEPT]
