"""Blocks that a side stream used (`record_stream`): freed as late as possible in the figures, beside the figures with immediate frees."""

import re
from functools import partial

from harness import Box, Case, contains, expect

MIB = 1 << 20
# Ten tensors of 40 MiB a step, each read by a side stream after its last use by the program.
PROGRAM = """import torch
side = torch.cuda.Stream()
weight = torch.nn.Parameter(torch.ones(64, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(4):
    for _ in range(10):
        x = torch.empty(10 << 20, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x.sum()
        {before}
        del x
        {after}
    (weight * 2).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()
"""
RECORDED = "x.record_stream(side)"
JOIN = "torch.cuda.current_stream().wait_stream(side)"
READ = "torch.ones(1, device='cuda').mul_(2).item()"

# Name, lines before and after the tensor is dropped, how many of them are alive at most, and at least.
PROGRAMS = (
    ("nothing waits", RECORDED, "pass", 10, 1),
    ("the host waits for the side stream", RECORDED, "side.synchronize()", 1, 1),
    ("the host waits for the device", RECORDED, "torch.cuda.synchronize()", 1, 1),
    ("the host waits for a stream that waited for the side stream", RECORDED, f"{JOIN}; {READ}", 1, 1),
    ("the host waits for a stream that did not", RECORDED, READ, 10, 1),
    ("blocks that no other stream used", "pass", "pass", 1, 1),
)


def check(box: Box, before: str, after: str, most: int, least: int) -> None:
    """The peak has as many tensors as may be alive, and a note says how many must be, where that differs."""
    script = box.write("train.py", PROGRAM.format(before=before, after=after))
    result = box.check("--json", "--gpu", "rtx-4090", script)
    expect(result, (result.status, result.report["verdict"]), (0, "fits"), "status and verdict")
    reserved = result.report["peak"]["reserved_bytes"]
    expect(result, reserved // (40 * MIB), most, f"tensors at the peak, of {reserved} bytes reserved")
    assumed = [it["text"] for it in result.report["assumptions"] if it["id"] == "side-streams"]
    expect(result, len(assumed), int(most != least), "assumptions about side streams")
    if assumed:
        (at_once,) = re.findall(r"at once, ([\d.]+) MiB", assumed[0])
        expect(result, float(at_once) // 40, float(least), "tensors if they came back at once")
        contains(result, " ".join(result.report["notes"]), "blocks that a side stream used")


def fit(box: Box) -> None:
    """The search runs side streams as done at once, and says so."""
    script = box.write("train.py", PROGRAM.format(before=RECORDED, after="pass"))
    result = box.run(box.oomph, "fit", "--json", "--gpu", "rtx-4090", "--python", box.python, script)
    expect(result, result.status, 0, "status")
    contains(result, " ".join(result.report["notes"]), "a side stream used", "lower bounds")


CASES = [
    *(Case(name, partial(check, before=before, after=after, most=most, least=least)) for name, before, after, most, least in PROGRAMS),
    Case("fit", fit),
]
