"""The memory that other processes use (`--others`): the verdict, the figures and the words of `check` and `fit`."""

from functools import partial

from harness import Box, Case, contains, expect

GIB = 1 << 30
# 1 GiB beside a CUDA context of 456 MiB, on 4 GiB.
SCRIPT = "import torch\nx = torch.ones(1 << 30, dtype=torch.uint8, device='cuda')\n"
DEVICE = ("--gpu", "rtx-4090", "--vram", "4GiB")
# By the size of the others: the verdict, the exit status, words of the first sentence.
CASES_OF_SIZES = (
    ("2GiB", "fits", 0, "fits RTX 4090 beside 2.00 GiB of others: 568.00 MiB to spare (takes 1.45 of 2.00 GiB)"),
    ("3GiB", "oom", 1, "does not fit RTX 4090 beside 3.00 GiB of others: needs 1.45 GiB, has 1.00: 456.00 MiB too little"),
)


def check(box: Box, others: str, verdict: str, status: int, says: str) -> None:
    """The JSON and the first sentence of `check`."""
    path = box.write("train.py", SCRIPT)
    result = box.check("--json", *DEVICE, "--others", others, path)
    gpu = result.report["gpu"]
    expect(result, (result.status, result.report["verdict"]), (status, verdict), "status and verdict")
    expect(result, gpu["total_bytes"], 4 * GIB, "the device's memory")
    expect(result, gpu["usable_bytes"], 4 * GIB - gpu["others_bytes"] - gpu["context_bytes"], "the usable memory")
    contains(result, result.report["headline"], says)


def refuse(box: Box) -> None:
    """Others that leave no memory for a context."""
    result = box.check(*DEVICE, "--others", "4GiB", box.write("train.py", SCRIPT))
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "--others 4.00 GiB leaves nothing of 4.00 GiB")


CASES = [Case(f"others use {others}", partial(check, others=others, verdict=verdict, status=status, says=says)) for others, verdict, status, says in CASES_OF_SIZES]
CASES.append(Case("others use all", refuse))
