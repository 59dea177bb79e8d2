"""Conclusions of `check`: verdict, need, breakdown, JSON, saved files."""

import html

import pages
from harness import EXAMPLES, LIMIT_SECONDS, PROGRAMS, Box, Case, Result, contains, expect

EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
GPT2 = EXAMPLES / "gpt2.py"
MLP = EXAMPLES / "mlp.py"
# The keys that `check --json` promises.
KEYS = {"version", "torch", "gpu", "verdict", "steps", "peak", "need", "oom", "breakdown", "sites", "findings", "assumptions", "seconds"}
USAGE = {"allocated_bytes", "reserved_bytes", "device_bytes"}
OOM = {"requested_bytes", "step", "phase", "message"}
FINDING = {"rule", "severity", "message", "location", "evidence", "remedies"}


def answer(box: Box, verdict: str, *words, **options) -> Result:
    """A check with the expected exit status, verdict and arithmetic."""
    result = box.check("--json", *words, **options)
    expect(result, result.report["verdict"], verdict, "the verdict")
    expect(result, result.status, {"fits": 0, "fits_so_far": 0, "oom": 1, "incomplete": 2}[verdict], "the exit status")
    parts = sum(part["bytes"] for part in result.report["breakdown"])
    expect(result, parts, result.report["peak"]["allocated_bytes"], "the sum of the breakdown")
    assert "oomph agent:" not in result.stderr, result
    return result


def check(box: Box, verdict: str, *words, env: dict | None = None, **expected) -> None:
    """Runs a check and compares parts of its JSON; `__` in a name stands for the dot of a path."""
    result = answer(box, verdict, *words, env=env)
    for path, value in expected.items():
        found = result.report
        for key in path.split("__"):
            found = found[key]
        expect(result, found, value, path.replace("__", "."))


def oom_is_named(box: Box) -> None:
    """The line of the error and the need: the figures of the run without a limit."""
    result = answer(box, "oom", "--gpu", "rtx-4090", GPT2, "--batch-size", "16")
    report = result.report
    expect(result, report["need"]["allocated_bytes"], 29955978240, "need.allocated_bytes")
    expect(result, report["need"]["reserved_bytes"], 32386318336, "need.reserved_bytes")
    oom = report["oom"]
    expect(result, (oom["step"], oom["phase"]), (1, "forward"), "the place of the OOM")
    # The logits: 16 x 1024 tokens, a vocabulary of 50257, four bytes; rounded up to 2 MiB as every large segment.
    logits = 16 * 1024 * 50257 * 4
    expect(result, oom["requested_bytes"], -(-logits // 2**21) * 2**21, "oom.requested_bytes")
    contains(result, oom["module"], "GPT2LMHeadModel")
    contains(result, oom["location"]["file"], "gpt2.py")
    expect(result, GPT2.read_text().splitlines()[oom["location"]["line"] - 1].split()[0], "loss", "the line of the OOM")
    contains(result, oom["message"], "CUDA out of memory. Tried to allocate")
    limit = report["gpu"]["usable_bytes"]
    assert report["peak"]["reserved_bytes"] <= limit < report["need"]["reserved_bytes"], result


def expandable_reserves_less(box: Box) -> None:
    """The allocator's settings are PyTorch's own, from the environment."""
    plain = answer(box, "fits", "--gpu", "rtx-4090", GPT2, "--batch-size", "8").report
    result = answer(box, "fits", "--gpu", "rtx-4090", GPT2, "--batch-size", "8", env=EXPANDABLE)
    # Less is allocated, too: without them the remainder of a large block below 1 MiB counts as part of it.
    for key in ("allocated_bytes", "reserved_bytes"):
        assert result.report["peak"][key] < plain["peak"][key], f"{plain['peak']}\n{result}"
    unused = {key: report["peak"]["reserved_bytes"] / report["peak"]["allocated_bytes"] for key, report in (("with", result.report), ("without", plain))}
    assert unused["with"] < 1.01 < unused["without"], unused


def cudnn_is_an_assumption(box: Box) -> None:
    """On Hopper, attention in bf16 is cuDNN's, and its workspace is cuDNN's secret."""
    result = answer(box, "fits", "--gpu", "h100-sxm", GPT2, "--bf16")
    named = [assumption["id"] for assumption in result.report["assumptions"]]
    assert "cudnn-attention-workspace" in named, f"the assumptions are {named}\n{result}"


def json_is_complete(box: Box) -> None:
    """All promised keys are there, sizes are integers, and standard output holds nothing else."""
    result = answer(box, "oom", "--gpu", "rtx-4090", "--vram", "600MiB", PROGRAMS / "leak_graph.py")
    report = result.report
    assert not KEYS - report.keys(), f"without {KEYS - report.keys()}\n{result}"
    assert {"name", "total_bytes"} <= report["gpu"].keys(), result
    assert USAGE <= report["peak"].keys() and USAGE <= report["need"].keys(), result
    assert OOM <= report["oom"].keys(), result
    assert report["sites"] and all({"bytes", "count", "frames"} <= site.keys() for site in report["sites"]), result
    assert report["findings"] and all(FINDING <= finding.keys() for finding in report["findings"]), result
    assert report["breakdown"] and all(type(part["bytes"]) is int for part in report["breakdown"]), result


def saved_run_opens_in_memory_viz(box: Box) -> None:
    """`--save` keeps a run that PyTorch's own tool makes plots of; a second run does not go on top of it."""
    saved = box.work / "the run"
    result = answer(box, "fits", "--save", saved, MLP)
    names = {path.name for path in saved.iterdir()}
    wanted = {"run.json", "rank0.marks.jsonl", "rank0.snapshot.pickle", "output.log"}
    assert wanted <= names, f"kept are {names}\n{result}"
    for plot in ("trace_plot", "segment_plot"):
        page = box.work / f"{plot}.html"
        tool = box.run(box.python, "-m", "torch.cuda._memory_viz", plot, saved / "rank0.snapshot.pickle", "-o", page)
        expect(tool, tool.status, 0, "the exit status of memory_viz")
        contains(tool, page.read_text(encoding="utf-8"), "<html", "add_local_files")
    again = box.check("--save", saved, MLP)
    expect(again, (again.status, again.stdout), (2, ""), "the second run's status and output")
    contains(again, again.stderr, "is not empty", "hint: ")


def a_chip_takes_its_sxm_card(box: Box) -> None:
    """A name shared by several GPUs means the SXM model, and the other names to type are listed."""
    result = answer(box, "fits", "--gpu", "a100", MLP)
    expect(result, result.report["gpu"]["name"], "NVIDIA A100-SXM4-40GB", "the GPU")
    contains(result, result.stderr, "note: `a100`", "a100-pcie-40gb", "a100-sxm-80gb", "a100-80gb-pcie")


def both_devices_count(box: Box) -> None:
    """A program on two GPUs finds two."""
    result = answer(box, "fits", "--gpus", "2", PROGRAMS / "multi_gpu.py")
    expect(result, result.report["steps"], 3, "steps")
    lacking = box.check("--gpus", "1", PROGRAMS / "multi_gpu.py")
    expect(lacking, (lacking.status, lacking.stdout), (2, ""), "on one GPU, status and output")
    contains(lacking, lacking.stderr, "multi_gpu.py:", "invalid device ordinal", "--gpus N")


def request_beyond_all_devices(box: Box) -> None:
    """The need includes requests that no run can satisfy."""
    script = box.write("huge.py", "import torch\nx = torch.empty(2**50, device='cuda')\n")
    result = answer(box, "oom", script)
    assert result.report["need"]["device_bytes"] > 4 * 2**50, result
    expect(result, result.report["oom"]["location"]["line"], 2, "oom.location.line")


def spinning_is_stopped(box: Box) -> None:
    """A loop that waits for a computed value never ends here; the time-out says where it was."""
    saved = box.work / "run"
    result = box.check("--json", "--timeout", LIMIT_SECONDS, "--save", saved, PROGRAMS / "spins.py")
    expect(result, (result.status, result.report["verdict"]), (2, "incomplete"), "status and verdict")
    contains(result, result.report["reason"], "stopped by --timeout")
    half = [path.name for path in saved.iterdir() if path.suffix == ".tmp"]
    assert not half, f"half-written files are kept: {half}"
    contains(result, result.stdout, "spins.py")
    # After 10 s, and then each time that the time has doubled.
    most = (int(result.report["seconds"]) // 10).bit_length()
    assert 1 <= len(result.progress) <= most, f"{len(result.progress)} lines of progress, at most {most}\n{result}"


def search_for_a_batch_fits(box: Box) -> None:
    """A program that halves its batch until a batch fits is described so, and the answer is about the final batch."""
    report = answer(box, "fits", "--vram", "4GiB", PROGRAMS / "catches_oom.py", "--batch-size", str(2**18)).report
    search = report["search"]
    assert (search["lowers"], search["caught_at"]["line"]) == ("batch_size", 30), search
    assert report["spare_bytes"] >= 0 and report["oom"] is None, report
    rules = [finding["rule"] for finding in report["findings"]]
    assert "caught-oom" in rules and "need-exceeds-device" not in rules, rules


def formats(box: Box) -> None:
    """Each format shows the headline and every finding; in the annotations at its line, and after the stages that do not fit."""
    words = "--vram", "600MiB", PROGRAMS / "leak_graph.py"
    report = answer(box, "oom", *words).report
    headline = report["headline"]
    result = box.check("--format", "concise", *words)
    expect(result, (result.status, result.stderr), (1, ""), "status and standard error")
    lines = [headline, *(f"{_place(box, finding)}: {finding['severity']}[{finding['rule']}] {finding['message']}" for finding in report["findings"])]
    expect(result, result.stdout.splitlines(), lines, "the lines")
    result = box.check("--format", "github", *words)
    expect(result, (result.status, result.stderr), (1, ""), "status and standard error")
    first, *rest = result.stdout.splitlines()
    expect(result, first, f"::error title=oomph check::{headline}", "the first command")
    ahead = [stage for stage in report["stages"] if not stage["fits"]]
    for stage, line in zip(ahead, rest):
        contains(result, line, "title=oomph check::", "not fit", f"at step {stage['step']}" if stage["location"] is None else f"line={stage['location']['line']},")
    expect(result, rest[len(ahead) :], [_command(box, finding) for finding in report["findings"]], "the commands of the findings")
    told = box.check("--format", "json", *words)
    expect(told, told.report["findings"], report["findings"], "the findings of --format json")


def _command(box: Box, finding: dict) -> str:
    file, _, line = _place(box, finding).rpartition(":")
    lines = [finding["message"], *(f"{remedy['remedy']}: {remedy['how']}" for remedy in finding["remedies"])]
    return f"::{finding['severity']} file={file},line={line},title={finding['rule']}::{'%0A'.join(lines)}"


def _place(box: Box, finding: dict) -> str:
    location = finding["location"]
    return f"{location['file'].removeprefix(f'{box.work}/')}:{location['line']}"


def page(box: Box) -> None:
    """The page is written beside any answer, holds its text, and draws the run of the answer."""
    cases = (
        (0, "24GiB", "peak", "The run on NVIDIA GeForce RTX 4090."),
        (1, "600MiB", "need", "The run without a limit, whose peak is the need."),
    )
    for status, vram, reached, run in cases:
        result = box.check("--json", "--vram", vram, "--html", "fit.html", PROGRAMS / "leak_graph.py")
        expect(result, (result.status, result.stderr), (status, ""), "status and standard error")
        text = (box.work / "fit.html").read_text(encoding="utf-8")
        contains(result, text, f"<h1>{html.escape(result.report['headline'], quote=False)}</h1>", "leak_graph.py:", "</html>", f'<p class="summary">{run}</p>')
        contains(result, text, *(f'id="{section}"' for section in ("memory", "time-section", "segment-section", "flame-section", "sites")))
        expect(result, [path.name for path in box.work.iterdir()], ["fit.html"], "the files")
        drawing = pages.drawings(text)[0]
        expect(result, max(drawing["total.allocated"]), result.report[reached]["allocated_bytes"], f"the top of the timeline, in bytes: the {reached}")
        expect(result, max(drawing["total.reserved"]), result.report[reached]["reserved_bytes"], f"the reserved bytes at most: the {reached}")
        expect(result, sum(drawing["stack.bytes"]), sum(drawing["block.bytes"]), "the bytes of the stacks and of the segments' blocks")
        assert drawing["segment.bytes"] and drawing["span.bytes"] and drawing["frame.line"], f"the drawing is empty\n{result}"
        for loaded in pages.LOADING:
            assert loaded not in text, f"the page loads something: {loaded!r}"


PLAIN = (
    ("gpt2 with 8 fits", "fits", ("--gpu", "rtx-4090", GPT2, "--batch-size", "8"), {}),
    ("--steps 1", "fits_so_far", ("--steps", "1", MLP), {"steps": 1}),
    ("--steps 0 runs to the end", "fits", ("--steps", "0", PROGRAMS / "deep_mlp.py", "--steps", "7"), {"steps": 7}),
    ("more steps than there are", "fits", ("--steps", "9", MLP), {"steps": 3}),
    ("no optimizer", "fits", (PROGRAMS / "inference.py",), {"steps": 0}),
    ("accumulated gradients", "fits", ("--steps", "2", PROGRAMS / "accumulate.py"), {"steps": 2}),
    ("two optimizers", "fits", ("--steps", "0", PROGRAMS / "gan.py"), {"steps": 5}),
    ("value-dependent shapes", "fits", (PROGRAMS / "value_shapes.py",), {"steps": 3}),
    ("an assumed GPU is told", "fits", (MLP,), {"gpu__name": "NVIDIA GeForce RTX 4090", "gpu__assumed": True}),
    ("a chosen size", "fits", ("--gpu", "t4", "--vram", "2GiB", MLP), {"gpu__total_bytes": 2**31, "gpu__assumed": False}),
)

CASES = [
    Case("gpt2 with 16 does not fit", oom_is_named),
    Case("expandable segments reserve less", expandable_reserves_less),
    Case("cuDNN's workspace is an assumption", cudnn_is_an_assumption),
    Case("the JSON is complete", json_is_complete),
    Case("a saved run opens in memory_viz", saved_run_opens_in_memory_viz),
    Case("--gpu a100", a_chip_takes_its_sxm_card),
    Case("--gpus 2", both_devices_count),
    Case("a request beyond all devices", request_beyond_all_devices),
    Case("a spinning program is stopped", spinning_is_stopped, is_extra=True),
    Case("a search for a batch fits", search_for_a_batch_fits),
    Case("check in all formats", formats),
    Case("check --html", page),
    *(
        Case(name, lambda box, verdict=verdict, words=words, expected=expected: check(box, verdict, *words, **expected))
        for name, verdict, words, expected in PLAIN
    ),
]
