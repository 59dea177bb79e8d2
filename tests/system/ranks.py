"""Jobs of many ranks: all as processes of one machine, and single ranks of an absent job."""

from functools import partial

from harness import PROGRAMS, Box, Case, Result, contains, expect

# sharded.py: four blocks of two linear layers, as (rows of the weight and the bias, columns of the weight).
_LAYERS = 4 * [(4096, 1023), (1023, 4096)]
_FLOAT = 4


def torchrun(box: Box, ranks: int, program: str, *words) -> tuple:
    """A launch of `ranks` ranks on a free port; torchrun never removes its folder of logs."""
    options = ("--standalone", "--nproc-per-node", ranks, "--log-dir", box.folder / "logs")
    return (box.python.with_name("torchrun"), *options, PROGRAMS / program, *words)


def fits(box: Box, *words, verdict: str = "fits", **options) -> Result:
    """Runs a check to its end, without unexpected messages."""
    result = box.check("--json", "--vram", "200GiB", *words, **options)
    expect(result, (result.status, result.report["verdict"]), (0, verdict), "status and verdict")
    assert "oomph agent:" not in result.stderr and "oomph phantom:" not in result.stderr, result
    return result


def peaks(result: Result) -> dict:
    """By rank: allocated and reserved bytes, which PyTorch's allocator counted."""
    rows = result.report["ranks"]
    return {row["rank"]: (row["peak"]["allocated_bytes"], row["peak"]["reserved_bytes"]) for row in rows}


def shard_bytes(rows: int, columns: int, size: int, element: int) -> int:
    """A weight's part of one rank: FSDP2 splits the rows, and rank 0 has the most."""
    return -(-rows // size) * columns * element


def alone_as_together(box: Box, kind: str) -> None:
    """A rank that runs alone has the peak of the same rank among four processes, to the byte."""
    all_four = fits(box, "--gpus", 4, "--", *torchrun(box, 4, "sharded.py", kind))
    together = peaks(all_four)
    expect(all_four, sorted(together), [0, 1, 2, 3], "ranks")
    alone = fits(box, "--world-size", 4, "--rank", "first,last", PROGRAMS / "sharded.py", kind)
    expect(alone, peaks(alone), {rank: together[rank] for rank in (0, 3)}, "peaks of ranks 0 and 3 alone")
    whole = sum((rows * columns + rows) * _FLOAT for rows, columns in _LAYERS)
    shards = sum(shard_bytes(rows, columns + 1, 4, _FLOAT) for rows, columns in _LAYERS)
    parameters = whole if kind == "ddp" else shards
    assert all(allocated > 3 * parameters for allocated, _ in together.values()), f"{together}, {parameters}"


def imbalance(box: Box) -> None:
    """Rank 0 holds more: the finding states the difference, and the line that allocated it."""
    extra = 256 << 20
    result = fits(box, "--world-size", 4, "--rank", "0,1", PROGRAMS / "sharded.py", "fsdp2", extra >> 20)
    found = peaks(result)
    expect(result, found[0][0] - found[1][0], extra, "what rank 0 holds more")
    findings = {finding["rule"]: finding for finding in result.report["findings"]}
    assert "rank-imbalance" in findings, result
    line = findings["rank-imbalance"]["location"]
    source = (PROGRAMS / "sharded.py").read_text(encoding="utf-8").splitlines()
    contains(result, source[line["line"] - 1], "kept = torch.zeros")


def wrong_device(box: Box) -> None:
    """Two ranks on one GPU, which fit alone but not together: they run out, and the finding states the reason."""
    mib = 7 << 10
    result = box.check("--json", "--gpu", "rtx-4090", "--gpus", 2, "--", *torchrun(box, 2, "all_on_zero.py", mib))
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    # The weight and its gradient, of each rank.
    assert result.report["need"]["device_bytes"] > 2 * 2 * (mib << 20), result
    findings = {finding["rule"]: finding for finding in result.report["findings"]}
    assert "wrong-device" in findings, result
    contains(result, findings["wrong-device"]["location"]["file"], "all_on_zero.py")
    contains(result, result.report["oom"]["message"], "CUDA out of memory")


def launcher_taken_over(box: Box) -> None:
    """Of a launcher's eight workers a single one continues, as the requested rank."""
    result = fits(box, "--world-size", 64, "--rank", "last", "--", *torchrun(box, 8, "sharded.py", "fsdp2"))
    rows = [(row["rank"], row["device"]) for row in result.report["ranks"]]
    expect(result, rows, [(63, 7)], "rank and device")
    names = {assumption["id"] for assumption in result.report["assumptions"]}
    assert {"absent-ranks", "nccl-buffers"} <= names, result


def collectives(box: Box) -> None:
    """All messages between ranks, as four processes and as each of two lone ranks."""
    fits(box, "--gpus", 4, "--", *torchrun(box, 4, "collectives.py"))
    alone = fits(box, "--world-size", 4, "--rank", "0,3", PROGRAMS / "collectives.py", "alone")
    names = {assumption["id"] for assumption in alone.report["assumptions"]}
    assert "absent-objects" in names, alone


def unknown_object(box: Box) -> None:
    """Knowledge of an absent rank alone is not invented: the message names the rank that would have sent it."""
    text = (
        "import torch, torch.distributed as dist\n"
        "torch.zeros(1, device='cuda')\n"
        "dist.init_process_group('nccl')\n"
        "dist.recv_object_list([None], src=2)\n"
    )
    result = box.check("--world-size", 4, box.write("receives.py", text))
    expect(result, (result.status, result.stdout), (2, ""), "status and output")
    contains(result, result.stderr, "receives.py:4", "an object of rank 2, which does not run", "torchrun")


def llama(box: Box, shape: tuple, size: int, rank: str) -> None:
    """The parameters of a rank are what the shapes say."""
    hidden, intermediate, layers, heads, key_value_heads = shape
    attended = hidden // heads * key_value_heads
    layer = [(hidden, hidden), (attended, hidden), (attended, hidden), (hidden, hidden)]
    layer += [(intermediate, hidden), (intermediate, hidden), (hidden, intermediate), (hidden, 1), (hidden, 1)]
    weights = layers * layer + [(32000, hidden), (32000, hidden), (hidden, 1)]
    expected = sum(shard_bytes(rows, columns, size, _FLOAT) for rows, columns in weights)
    words = ("--verbose", "--steps", 1, "--world-size", size, "--rank", rank)
    # A single step: the optimizer's state exists in later ones.
    result = fits(box, *words, PROGRAMS / "fsdp2_llama.py", *shape, verdict="fits_so_far")
    contains(result, result.stderr, f"parameters {expected}\n")
    assert result.report["peak"]["allocated_bytes"] > 4 * expected, result


def bad_options(box: Box) -> None:
    """Contradicting options are refused before anything runs."""
    cases = (
        (("--world-size", 12), "no multiple of --local-world-size 8"),
        (("--world-size", 4, "--rank", 4), "there is no rank 4 in a job of 4"),
        (("--world-size", 4, "--rank", "second"), "`second` is not a rank"),
        (("--world-size", 4, "--gpus", 2), "cannot be used with"),
        (("--rank", 1), "--world-size"),
    )
    for words, text in cases:
        result = box.check(*words, PROGRAMS / "sharded.py", "ddp")
        expect(result, (result.status, result.stdout), (2, ""), "status and output")
        contains(result, result.stderr, text)


_LLAMA_7B = (4096, 11008, 32, 32, 32)
_LLAMA_70B = (8192, 28672, 80, 64, 8)

CASES = [
    Case("fsdp2: alone as together", partial(alone_as_together, kind="fsdp2"), memory=5, is_long=True),
    *(Case(f"{kind}: alone as together", partial(alone_as_together, kind=kind), memory=5, is_extra=True) for kind in ("ddp", "fsdp1", "tp")),
    Case("rank 0 holds more", imbalance),
    Case("every rank on GPU 0", wrong_device, is_extra=True),
    Case("a launcher's workers are taken over", launcher_taken_over, memory=6),
    Case("collectives", collectives, memory=5),
    Case("an object of an absent rank", unknown_object),
    Case("Llama-7B at 64", partial(llama, shape=_LLAMA_7B, size=64, rank="first"), alone=True),
    Case("Llama-70B at 256", partial(llama, shape=_LLAMA_70B, size=256, rank="last"), alone=True, is_extra=True),
    Case("options that do not go together", bad_options),
]
