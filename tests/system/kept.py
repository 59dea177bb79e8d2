"""Dry runs that `oomph fit` keeps: reused while all inputs are equal, repeated after any change."""

import os
import signal
import struct
from functools import partial
from pathlib import Path

from fit import TRAIN, await_runs, fit
from harness import Box, Case, Result, collect, contains, expect

# Reads files in every way: as modules, as data, in native code, in a helper, by their names and their absence.
LOOKS = """
import ctypes
import os
import subprocess
import torch
import helper
import installed
rows = len(open("rows.txt").read()) + len(os.listdir("data")) + os.path.exists("flag") + len(os.environ.get("ROWS", ""))
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fgetc.argtypes = libc.fclose.argtypes = [ctypes.c_void_p]
native = libc.fopen(b"native.bin", b"r")
rows += libc.fgetc(native)
libc.fclose(native)
# openat, by its number.
called = libc.syscall(257, -100, b"called.txt", 0)
rows += int(os.read(called, 1))
rows += int(subprocess.run(["cat", "helped.txt"], capture_output=True, text=True).stdout)
x = torch.ones(rows + helper.ROWS + installed.ROWS, 1 << 20, device="cuda")
"""
CARD = ("--gpu", "rtx-4090", "--json")
# A search of few runs.
_DENIED = "lora,autocast,activation-checkpointing,activation-offload,optimizer-8bit,optimizer-paged,optimizer-adafactor,optimizer-offload,weights-8bit,weights-4bit,weights-offload,inplace-activations,no-grad-in-eval,set-to-none,sdpa,chunked-cross-entropy,num-workers,pin-memory"
SEARCH = ("--gpu", "rtx-4090", "--vram", "1500MiB", "--deny", _DENIED, "--json", "train.py")


def looking(box: Box) -> None:
    """Writes the program and all its files."""
    box.write("looks.py", LOOKS)
    box.write("helper.py", "ROWS = 1\n")
    box.write("lib/site-packages/installed.py", "ROWS = 1\n")
    box.write("rows.txt", "1")
    box.write("native.bin", "1")
    box.write("helped.txt", "1")
    box.write("called.txt", "1")
    box.write("data/a", "")
    box.environment |= {"PYTHONPATH": str(box.work / "lib/site-packages"), "OOMPH_CACHE_DIR": str(box.folder / "cache")}


def counts(result: Result) -> tuple[int, int]:
    """The number of dry runs made, and the number reused."""
    return result.report["runs"], result.report["kept"]


def same(result: Result) -> dict:
    """The report without variable parts."""
    return {key: value for key, value in result.report.items() if key not in ("runs", "kept", "seconds", "effects")}


def a_second_search(box: Box) -> None:
    """It makes no dry run, and says the same."""
    box.write("train.py", TRAIN)
    first = fit(box, *SEARCH)
    expect(first, first.report["kept"], 0, "kept from before")
    expect(first, [note for note in first.report["notes"] if "made again" in note], [], "notes")
    second = fit(box, *SEARCH)
    expect(second, counts(second), (0, first.report["runs"]), "dry runs made and kept")
    expect(second, same(second), same(first), "report")


def without_cache(box: Box) -> None:
    """With `--no-cache` nothing is reused."""
    box.write("train.py", TRAIN)
    first = fit(box, *SEARCH)
    second = fit(box, "--no-cache", *SEARCH)
    expect(second, counts(second), (first.report["runs"], 0), "dry runs with --no-cache")
    # The next command has the option, too.
    expect(second, same(second) | {"next": None}, same(first) | {"next": None}, "report with --no-cache")


def rewritten(path: Path, text: str) -> None:
    """Writes other content of the same length and age: only the file system knows of the change."""
    before = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = {
    "its own source": lambda box: box.write("looks.py", LOOKS + "y = x[:1] + 1\n"),
    "a module beside it": lambda box: rewritten(box.work / "helper.py", "ROWS = 2\n"),
    "an installed module": lambda box: rewritten(box.work / "lib/site-packages/installed.py", "ROWS = 2\n"),
    "data": lambda box: rewritten(box.work / "rows.txt", "2"),
    "data that native code reads": lambda box: rewritten(box.work / "native.bin", "2"),
    "data behind a system call": lambda box: rewritten(box.work / "called.txt", "2"),
    "data that a helper reads": lambda box: rewritten(box.work / "helped.txt", "2"),
    "a name in a folder": lambda box: box.write("data/b", ""),
    "a file that was not there": lambda box: box.write("flag", ""),
    "a package that hides an installed one": lambda box: box.write("installed/__init__.py", "ROWS = 3\n"),
}
# An imported module, and an opened file.
USUAL_CHANGES = ("a module beside it", "data that native code reads")
OTHER_CHANGES = tuple(what for what in CHANGES if what not in USUAL_CHANGES)


def every_change(box: Box, changes: tuple[str, ...]) -> None:
    """A change of any file that the program reads causes a new run; a change of other files does not."""
    looking(box)
    words = (*CARD, "looks.py")
    first = fit(box, *words)
    expect(first, counts(first), (2, 0), "dry runs made and kept at first")
    for what in changes:
        again = fit(box, *words)
        expect(again, counts(again), (0, 2), f"dry runs made and kept before a change of {what}")
        CHANGES[what](box)
        after = fit(box, *words)
        expect(after, counts(after), (2, 0), f"dry runs made and kept after a change of {what}")


OTHERS = {
    "GPU": (("--gpu", "l4", "--json", "looks.py"), {}),
    "argument": ((*CARD, "looks.py", "x"), {}),
    "variable": ((*CARD, "looks.py"), {"ROWS": "xx"}),
    "number of steps": ((*CARD, "--steps", "2", "looks.py"), {}),
}


def no_change(box: Box) -> None:
    """Changes of unread files cause no new run."""
    looking(box)
    fit(box, *CARD, "looks.py")
    os.utime(box.work / "looks.py")
    box.write("fit.patch", "")
    box.write("notes.md", "")
    again = fit(box, *CARD, "looks.py", env={"SHLVL": "7"})
    expect(again, counts(again), (0, 2), "dry runs made and kept")


def other_limits(box: Box) -> None:
    """Another limit of the process causes a new run."""
    looking(box)
    fit(box, *CARD, "looks.py")
    other = box.run("prlimit", "--nofile=500", box.oomph, "fit", "--python", box.python, *CARD, "looks.py")
    expect(other, counts(other), (2, 0), "dry runs made and kept with another limit")


def another(box: Box, *others: str) -> None:
    """Another GPU, argument or variable causes a new run."""
    looking(box)
    fit(box, *CARD, "looks.py")
    for what in others:
        words, variables = OTHERS[what]
        other = fit(box, *words, env=variables)
        expect(other, counts(other), (2, 0), f"dry runs made and kept with another {what}")


def damaged(box: Box) -> None:
    """An unreadable entry is reported, and its run repeated."""
    box.write("one.py", "import torch\nx = torch.ones(5, device='cuda')\n")
    box.environment["OOMPH_CACHE_DIR"] = str(box.folder / "cache")
    first = fit(box, *CARD, "one.py")
    for path in (box.folder / "cache/runs").glob("*/run-*"):
        path.write_text('{"looks":["', encoding="utf-8")
    again = fit(box, *CARD, "one.py")
    contains(again, again.stderr, "is damaged, its dry run is made again")
    expect(again, (again.status, same(again)), (0, same(first)), "status and report")
    last = fit(box, *CARD, "one.py")
    expect(last, counts(last), (0, 2), "dry runs made and kept")


# elf(5): a file with a single program header, whose code ends with status 0.
_CODE = bytes([0xB8, 60, 0, 0, 0, 0x31, 0xFF, 0x0F, 0x05])
STATIC = (
    b"\x7fELF"
    + bytes([2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(_CODE), 120 + len(_CODE), 4096)
    + _CODE
)
# One process: a shell would leave its `sleep`.
WRITER = "import time\nwhile True:\n    time.sleep(0.2)\n    open('log', 'a').write('x')\n"
NOT_KEPT = {
    "asks.py": ("s = socket.socket()\ns.settimeout(1)\ns.connect_ex(('127.0.0.1', 9))\nx = torch.ones(5, device='cuda')\n", "through a socket"),
    "starts.py": ("subprocess.run(['/bin/true'], env={})\nx = torch.ones(5, device='cuda')\n", "without its environment"),
    "static.py": ("subprocess.run(['./helper'], check=True)\nx = torch.ones(5, device='cuda')\n", "linked statically"),
    "rings.py": ("import ctypes\nctypes.CDLL(None).syscall(425, 1, None)\nx = torch.ones(5, device='cuda')\n", "system calls of its own"),
    "counts.py": ("n = len(open('log').read())\ntime.sleep(1)\nx = torch.ones(n + 1, device='cuda')\n", "log changed while"),
    "chance.py": ("x = torch.ones((time.time_ns() // 1000) % 1000 + 1, 1 << 20, device='cuda')\n", "differ by"),
}


def not_kept(box: Box, name: str) -> None:
    """Runs with unrepeatable reads, and runs that depend on chance, are repeated; the former is reported."""
    box.environment["OOMPH_CACHE_DIR"] = str(box.folder / "cache")
    text, why = NOT_KEPT[name]
    box.write("log", "")
    (box.work / "helper").write_bytes(STATIC)
    (box.work / "helper").chmod(0o755)
    box.write(name, "import socket\nimport subprocess\nimport time\nimport torch\n" + text)
    # The program itself changes no file that it reads: another process does.
    writer = box.start(box.python, "-c", WRITER) if name == "counts.py" else None
    for _ in range(2):
        result = fit(box, *CARD, name)
        expect(result, result.report["kept"], 0, f"kept of {name}")
        contains(result, " ".join(result.report["notes"]), why)
    if writer is not None:
        writer.kill()
        writer.wait()


def interrupted(box: Box) -> None:
    """A search that was cut short resumes."""
    box.write("train.py", TRAIN)
    process = box.start(box.oomph, "fit", "--python", box.python, *SEARCH)
    await_runs(box, 5)
    os.kill(process.pid, signal.SIGINT)
    cut = collect(process)
    expect(cut, cut.report["interrupted"], True, "interrupted")
    rest = fit(box, *SEARCH)
    whole = fit(box, *SEARCH)
    # The check for a mistake, of two runs, is no trial, and is made again.
    made, kept = cut.report["runs"], rest.report["kept"]
    assert kept + 2 >= made >= 3, f"{kept} runs are kept of {made}\n{rest}"
    expect(rest, sum(counts(rest)), whole.report["kept"], "all answers")
    expect(whole, (whole.report["runs"], same(whole)), (0, same(rest)), "runs and report")


def at_once(box: Box) -> None:
    """Two searches of a program share their cache, and print the same answer."""
    box.write("train.py", TRAIN)
    words = ("fit", "--python", box.python, "--gpu", "rtx-4090", "--json", "train.py")
    results = [collect(process) for process in [box.start(box.oomph, *words) for _ in range(2)]]
    expect(results[1], same(results[1]), same(results[0]), "report")
    last = fit(box, *words[3:])
    expect(last, counts(last), (0, 2), "dry runs made and kept")


CASES = [
    Case("a second search", a_second_search, is_long=True, is_extra=True),
    Case("a second search without the cache", without_cache, is_extra=True),
    Case("a change of a module, of data", partial(every_change, changes=USUAL_CHANGES), is_long=True),
    Case("every other change", partial(every_change, changes=OTHER_CHANGES), is_extra=True),
    Case("no change", no_change),
    Case("another variable", lambda box: another(box, "variable"), is_extra=True),
    Case("another GPU, argument, number of steps", lambda box: another(box, "GPU", "argument", "number of steps"), is_extra=True),
    Case("another limit of the process", other_limits, is_extra=True),
    Case("damaged", damaged),
    *(Case(f"not kept: {name}", partial(not_kept, name=name), is_extra=name in ("chance.py", "counts.py", "starts.py", "rings.py")) for name in NOT_KEPT),
    Case("Ctrl-C", interrupted, is_long=True, is_extra=True),
    Case("two at once", at_once),
]
