"""Parameters that the steps of a dry run did not train, but a later phase may: a remark beside the verdict."""

from functools import partial

from harness import Box, Case, contains, expect

PROGRAM = """import torch
body, head = torch.nn.Linear(1024, 1024).cuda(), torch.nn.Linear(1024, 1024).cuda()
{setup}
for _ in range(5):
    head(body(torch.ones(8, 1024, device="cuda"))).sum().backward()
    first.step()
    {rest}
"""
BOTH = "first, second = torch.optim.Adam(body.parameters()), torch.optim.SGD(head.parameters())"
FROZEN = "body.requires_grad_(False)\n"
# 1024 x 1024 + 1024 numbers of 4 bytes.
SIZE = "2 parameters (4.00 MiB)"

# Name, lines before the loop and in the loop, the remark.
PHASES = (
    ("an optimizer without a step", BOTH, "pass", f"SGD (train.py:3) made no step: once its {SIZE}"),
    ("frozen parameters of an optimizer", FROZEN + "first = torch.optim.Adam([*body.parameters(), *head.parameters()])", "pass", f"Adam (train.py:4) holds 2 frozen {SIZE[2:]}"),
    ("two optimizers that step", BOTH, "second.step()", None),
    ("frozen parameters that no optimizer has", FROZEN + "first = torch.optim.Adam(head.parameters())", "pass", None),
    ("two optimizers of the same parameters", "first, second = torch.optim.Adam(body.parameters()), torch.optim.SGD(body.parameters())", "pass", None),
)


def check(box: Box, setup: str, rest: str, says: str | None) -> None:
    """The short report says it, and the JSON."""
    script = box.write("train.py", PROGRAM.format(setup=setup, rest=rest))
    result = box.check("--json", "--gpu", "rtx-4090", script)
    expect(result, (result.status, result.report["verdict"]), (0, "fits"), "status and verdict")
    notes = [note for note in result.report["notes"] if "no step" in note or "frozen" in note]
    expect(result, len(notes), 0 if says is None else 1, f"notes, {notes}")
    if says is not None:
        contains(result, notes[0], says)
        # Stopped before its end, on a device with so little spare memory that they matter.
        small = box.check("--json", "--gpu", "rtx-4090", "--vram", "700MiB", "--steps", "3", script)
        expect(small, small.report["verdict"], "fits_so_far", "the verdict")
        contains(small, " ".join(small.report["notes"]), says)
        contains(small, small.report["headline"], "4.00 MiB of parameters that an optimizer holds were not trained yet")


CASES = [Case(name, partial(check, setup=setup, rest=rest, says=says)) for name, setup, rest, says in PHASES]
