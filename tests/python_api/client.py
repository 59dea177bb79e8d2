"""A client of the package with all annotations, for `mypy --strict`; it is not run."""

import pathlib

import oomph


def ask(script: pathlib.Path) -> int:
    """The bytes to spare."""
    try:
        answer = oomph.check(script, "--batch-size", "8", gpu="l4", vram="16GiB", steps=2, timeout=60.0, cwd=script.parent, remedies=["autocast:dtype=bf16"])
    except oomph.OomphError as error:
        print(error.message, error.hint, error.kind, error.output, error.status, error.stderr)
        raise
    fits: bool | None = answer.fits
    peak: int = answer.peak_allocated_bytes + answer.peak_reserved_bytes + answer.need_bytes
    print(fits, peak, answer.gpu, answer.verdict, answer.summary, answer.text, answer.report["torch"])
    oomph.check(["python", "-m", "package"])
    return answer.spare_bytes


def explain(error: RuntimeError) -> str | None:
    """The cause of an error."""
    answer = oomph.explain("crash.log", pathlib.Path("run"), error, text="CUDA out of memory")
    print(answer.summary, answer.findings[0]["rule"], answer.report)
    return answer.cause


def watch() -> dict[str, int]:
    """The bytes by file."""
    with oomph.watch(device="cuda:0") as memory:
        pass
    print(memory, memory.grown_bytes + memory.peak_allocated_bytes)
    return {line.file: line.bytes + line.line * line.blocks for line in memory.lines}
