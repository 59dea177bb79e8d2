"""`oomph.check`: will a program fit a GPU? The command runs the program on a phantom GPU."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .command import Ended, OomphError, StrPath, read_document, read_failure, run_command, to_path

__all__ = ["Check", "check"]

_FITS = {"fits": True, "oom": False}


@dataclass(frozen=True)
class Check:
    """The answer of `oomph check`. Sizes are in bytes."""

    #: True if the program fits, False if it does not, `None` if it fits so far and the rest is not known.
    fits: bool | None
    #: `fits`, `fits_so_far` or `oom`, as in the JSON.
    verdict: str
    #: The most that PyTorch's allocator had allocated, and had reserved: on the GPU, or without a limit if the program does not fit.
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    #: The memory of the device that the program needs, with the CUDA context.
    need_bytes: int
    #: The memory of the device less the need: negative if the program does not fit.
    spare_bytes: int
    #: The name of the GPU.
    gpu: str
    #: The first sentence of the report.
    summary: str
    #: The JSON object, of the schema `docs/schema/check.json`.
    report: dict[str, Any] = field(repr=False)
    #: The report as the command prints it.
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


def check(
    program: StrPath | Sequence[str],
    *args: str,
    gpu: str | None = None,
    gpus: int | None = None,
    vram: str | int | None = None,
    others: str | int | None = None,
    steps: int | None = None,
    world_size: int | None = None,
    rank: str | int | None = None,
    local_world_size: int | None = None,
    fraction: float | None = None,
    remedies: Sequence[str] = (),
    offline: bool = False,
    online: bool = False,
    keep_files: bool = False,
    fake_data: bool = False,
    save: StrPath | None = None,
    verbose: bool = False,
    timeout: float | None = None,
    cwd: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    python: StrPath | None = None,
) -> Check:
    """Runs a program on a phantom GPU and says whether it fits.

    `program` is the path of a script or a notebook, with its arguments in `args`; or a list, the words of any command. The keywords are the
    options of `oomph check`; `remedies` are those of `--with`. `python` runs the script, by default the Python of the caller. `timeout`, in
    seconds, stops a program that takes longer. `cwd` and `env` are the folder and the whole environment of the program.

    Raises `OomphError` if the program itself failed, or the input was bad.
    """
    if os.environ.get("OOMPH_RUN_DIR"):
        raise OomphError("this program is being checked itself", "call oomph.check behind `if not oomph.is_recording():`")
    options = {
        "gpu": gpu, "gpus": gpus, "vram": vram, "others": others, "steps": steps, "world-size": world_size, "rank": rank,
        "local-world-size": local_world_size, "fraction": fraction, "with": ",".join(remedies) or None, "save": save, "timeout": timeout,
    }  # fmt: skip
    flags = {"offline": offline, "online": online, "keep-files": keep_files, "fake-data": fake_data, "verbose": verbose}
    if python is None and isinstance(program, (str, os.PathLike)):
        python = sys.executable
    given = [*_list_options({**options, "python": python}), *(f"--{name}" for name, is_set in flags.items() if is_set)]
    words = [to_path(program)] if isinstance(program, (str, os.PathLike)) else ["--", *program]
    return run_check([*given, *words, *args], cwd=cwd, env=env)


def run_check(
    words: Sequence[str], *, cwd: StrPath | None = None, env: Mapping[str, str] | None = None, pass_fds: Sequence[int] = ()
) -> Check:
    """Runs `oomph check` with these words of the command line."""
    with tempfile.TemporaryDirectory(prefix="oomph-") as folder:
        file = os.path.join(folder, "check.json")
        ended = run_command(["check", "--json-file", file, *words], cwd=cwd, env=env, pass_fds=pass_fds)
        report = _read(file)
    if "verdict" not in report or ended.status not in (0, 1):
        raise read_failure(ended, report)
    return _to_check(report, ended)


def _list_options(values: Mapping[str, object]) -> Iterator[str]:
    """The options with a value, each as one word: a value may start with a dash."""
    for name, value in values.items():
        if value is not None:
            yield f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def _read(file: str) -> dict[str, Any]:
    try:
        with open(file, encoding="utf-8") as opened:
            return read_document(opened.read())
    except FileNotFoundError:
        return {}


def _to_check(report: dict[str, Any], ended: Ended) -> Check:
    peak = report["need"] if report["verdict"] == "oom" else report["peak"]
    return Check(
        fits=_FITS.get(report["verdict"]),
        verdict=report["verdict"],
        peak_allocated_bytes=peak["allocated_bytes"],
        peak_reserved_bytes=peak["reserved_bytes"],
        need_bytes=report["need"]["device_bytes"],
        spare_bytes=report["spare_bytes"],
        gpu=report["gpu"]["name"],
        summary=report["headline"],
        report=report,
        text=ended.stdout,
    )
