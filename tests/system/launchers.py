"""Programs with another start than `python SCRIPT`, and programs of several processes."""

import stat
from pathlib import Path

from harness import PROGRAMS, Box, Case, Result, contains, expect

# The parameters of ddp.py, in bytes. Gradients, their copies in DDP's buckets, and two states of AdamW have the same size.
PARAMETERS = (1024 * 4096 + 4096 + 4096 * 10 + 10) * 4


def fits(box: Box, *words, steps: int = 3, **options) -> Result:
    """Runs a check to its end."""
    result = box.check("--json", *words, **options)
    expect(result, (result.status, result.report["verdict"]), (0, "fits"), "status and verdict")
    expect(result, result.report["steps"], steps, "steps")
    assert "oomph agent:" not in result.stderr and "oomph phantom:" not in result.stderr, result
    return result


def package(box: Box) -> None:
    """`python -m` in the folder of the package; its modules are the user's own."""
    result = fits(box, "--", box.python, "-m", "trainer", cwd=PROGRAMS / "package")
    files = {site["location"]["file"] for site in result.report["sites"] if site["location"]}
    assert any("package/trainer/" in file for file in files), f"own lines are in {files}\n{result}"


def torchrun(box: Box, script: Path = PROGRAMS / "ddp.py") -> tuple:
    """The command line of two ranks, on a port of their own; torchrun never removes its folder of logs."""
    options = ("--standalone", "--nproc-per-node", "2", "--log-dir", box.folder / "logs")
    return (box.python.with_name("torchrun"), *options, script)


def two_ranks(box: Box) -> None:
    """Two ranks over NCCL, which the phantom answers; both stop after the requested step."""
    result = fits(box, "--gpus", "2", "--steps", "2", "--", *torchrun(box), steps=2)
    ranks = result.report["ranks"]
    expect(result, [(rank["rank"], rank["device"], rank["oom"]) for rank in ranks], [(0, 0, False), (1, 1, False)], "ranks")
    peaks = [rank["peak"]["allocated_bytes"] for rank in ranks]
    assert min(peaks) > 5 * PARAMETERS, result
    shown = {part["category"]: part["bytes"] for part in result.report["breakdown"]}
    rounding = 2 << 20
    assert 2 * PARAMETERS <= shown["gradients"] < 2 * PARAMETERS + rounding, result
    # Even if PyTorch's NCCL watchdog frees the broadcast of DDP's beginning late: the agent waits for the watchdog.
    expect(result, peaks[1], peaks[0], "the peak of rank 1")


def too_few_gpus(box: Box) -> None:
    """Two ranks on a single GPU: PyTorch raises, and nothing hangs."""
    result = box.check("--gpus", "1", "--", *torchrun(box))
    expect(result, (result.status, result.stdout), (2, ""), "status and output")
    contains(result, result.stderr, "ddp.py:", "invalid device ordinal", "--gpus N")


FAILING_RANK = """import torch, torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 0:
    weight = torch.nn.Parameter(torch.ones(1000, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.sum().backward()
    optimizer.step()
dist.barrier()
torch.cuda.set_device(dist.get_rank())
dist.barrier()
"""


def a_rank_fails_first(box: Box) -> None:
    """A rank that raises before its first step is the answer, although rank 1 made a step."""
    script = box.write("failing.py", FAILING_RANK)
    result = box.check("--gpus", "1", "--", *torchrun(box, script))
    expect(result, (result.status, result.stdout), (2, ""), "status and output")
    contains(result, result.stderr, "failing.py:9", "invalid device ordinal", "--gpus N")


def one_rank_runs_out(box: Box) -> None:
    """Ranks that run out of memory are the answer, whatever error the launcher raises afterwards."""
    result = box.check("--json", "--gpus", "2", "--vram", "500MiB", "--", *torchrun(box))
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    contains(result, result.report["oom"]["message"], "CUDA out of memory")
    assert result.report["need"]["allocated_bytes"] > 5 * PARAMETERS, result


def console_script(box: Box) -> None:
    """An executable with a `#!` line, found on the PATH."""
    script = box.write("bin/train-it", f"#!{box.python}\nimport runpy, sys\nsys.argv[0] = {str(PROGRAMS / 'deep_mlp.py')!r}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    path = f"{script.parent}:{box.environment['PATH']}"
    fits(box, "--", "train-it", "--steps", "3", env={"PATH": path})


def shell_script(box: Box) -> None:
    """A shell script that starts Python, as jobs on clusters do."""
    script = box.write("job.sh", f"set -e\ncd /\n'{box.python}' '{PROGRAMS / 'deep_mlp.py'}' --steps 3\n")
    fits(box, "--", "sh", script)


def helper_before(box: Box) -> None:
    """A program that first runs a second Python process with torch."""
    text = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torch; torch.cuda.is_available()'], check=True)\n"
    script = box.write("outer.py", text + (PROGRAMS / "deep_mlp.py").read_text(encoding="utf-8"))
    fits(box, script, "--steps", "3")


def child_that_never_began(box: Box, text: str | None, *parts: str) -> None:
    """The error is the child's output, and not the launcher's forty lines."""
    script = box.work / "train.py"
    if text is not None:
        box.write("train.py", text)
    result = box.check("--gpus", "2", "--", *torchrun(box, script))
    expect(result, result.status, 2, "status")
    contains(result, result.stderr, "failed in a process of its launcher", *parts)
    expect(result, "ChildFailedError" in result.stderr, False, "the launcher's own error")
    expect(result, len(result.stderr.splitlines()) < 20, True, "fewer than 20 lines")


CASES = [
    Case("torchrun with a file that is not there", lambda box: child_that_never_began(box, None, "exit status 2", "can't open file")),
    Case("torchrun with a syntax error", lambda box: child_that_never_began(box, "x = (\n", "exit status 1", "SyntaxError: '(' was never closed"), is_extra=True),
    Case("python -m package", package),
    Case("torchrun with two ranks", two_ranks),
    Case("torchrun on too few GPUs", too_few_gpus),
    Case("a rank that fails before its first step", a_rank_fails_first),
    Case("torchrun with ranks that run out", one_rank_runs_out),
    Case("DataLoader workers", lambda box: fits(box, "--steps", "0", PROGRAMS / "dataloader.py", steps=8)),
    Case("a program that forks", lambda box: fits(box, PROGRAMS / "forks.py", steps=4)),
    Case("a console script", console_script),
    Case("a shell script", shell_script),
    Case("a helper process before", helper_before),
]
