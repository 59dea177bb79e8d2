"""Runs real programs of many frameworks under `oomph check`, and holds each report against a count without oomph.

    target/frameworks/bin/python tests/frameworks/check.py --oomph target/release/oomph [NAME ...]

Each program runs twice: checked, and under `count.py`. The peak must be the counter's, the parameters and the optimizer's
state those that Python's garbage collector finds, and all that is left after a step must be tensors and workspaces. The
lines blamed must be the program's own. Exit status 0: all is so; 1: not.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import nvidia
import saves
import suite
from cases import CASES, PORT, Case

HERE = Path(__file__).resolve().parent
GPU = "rtx-4090"
SECONDS = 900
SHARE = 0.15
LIBRARIES = ("libcudart.so.13", "libcublas.so.13")


class Run:
    """Both runs of a case."""

    def __init__(self, case: Case, oomph: str, folder: Path):
        self.case, self.oomph, self.folder = case, oomph, folder
        self.program = HERE / "programs" / case.program
        self.library = folder / "libworkspace.so"
        self.port = free_port()
        if case.outside:
            build(self.library)

    def words(self, *program):
        """The command line of the program or of its stand-in."""
        python = Path(sys.executable)
        launcher = self.case.launcher
        start = [str(python.with_name(launcher[0])), *launcher[1:]] if launcher else [str(python)]
        return [word.replace(PORT, self.port) for word in (*start, *map(str, program), *self.case.arguments)]

    def start(self, *words):
        """Runs a command. The second run reuses torch.compile's cache, unless finding candidates takes memory."""
        cache = tempfile.mkdtemp(dir=self.folder) if self.case.tunes else self.folder / "compiled"
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TRITON_CACHE_DIR": f"{cache}/triton"}
        # Launchers start `python`, and further programs beside it.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        own = {name: value.replace(PORT, self.port) for name, value in self.case.variables.items()}
        variables = os.environ | {"PATH": path, "WORKSPACE_LIBRARY": str(self.library)} | own | caches
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=variables, cwd=self.folder)

    def check(self):
        """The report."""
        gpus, steps = ("--gpus", str(self.case.gpus)), ("--steps", str(self.case.steps or 3))
        options = ("--gpu", GPU, *gpus, *steps, "--json")
        done = self.start(self.oomph, "check", *options, "--", *self.words(self.program))
        if done.returncode != 0:
            raise Failure(f"expected exit status 0, found {done.returncode}\n{done.stderr[-3000:]}")
        said = [line for line in done.stderr.splitlines() if line.startswith(("oomph agent:", "oomph phantom:"))]
        if said:
            raise Failure("\n".join(["expected no complaint, found", *said]))
        return json.loads(done.stdout)

    def count(self):
        """The moments of each rank, up to the step where the check stops."""
        out = self.folder / "count"
        out.mkdir()
        words = self.words(HERE / "count.py", "--out", out, self.program)
        # Ranks that send instructions to each other need the agent, which moves their values.
        has_agent = self.case.gpus > 1 or self.case.reads_values
        how = ("check", "--keep-files", "--steps", "0") if has_agent else ("phantom",)
        done = self.start(self.oomph, *how, "--gpu", GPU, "--gpus", str(self.case.gpus), "--", *words)
        if done.returncode != 0:
            raise Failure(f"count: expected exit status 0, found {done.returncode}\n{done.stderr[-3000:]}")
        ranks = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.iterdir())]
        return [moments[: self.case.steps] if self.case.steps else moments for moments in ranks]


def free_port():
    """A port without a listener."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def build(library):
    """The extension in C, linked against the libraries of the installed PyTorch's wheels."""
    links = [str(path) for path in Path(nvidia.__path__[0]).glob("*/lib/lib*.so.*") if path.name in LIBRARIES]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "programs/workspace.c", *links], check=True)


class Failure(AssertionError):
    """One of the two runs failed."""


def main():
    """Exit status 1 if a case fails."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = str(arguments.oomph.absolute())
    rows = [suite.Case(case.name, partial(run, case, oomph), memory=2 * case.gpus, group="programs", share=SHARE) for case in CASES]
    rows += [suite.Case(f"saves of {name}", partial(saves.check, name, oomph), group="saves") for name in saves.FRAMEWORKS]
    return suite.run("frameworks", rows, arguments, f"{'program':58} {'steps':>5} {'peak':>14} {'parameters':>13} {'state':>13}")


def run(case, oomph):
    """Runs and compares a case; returns the text to show."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        both = Run(case, oomph, Path(folder))
        report, ranks = both.check(), both.count()
    problems = list(compare(case, report, ranks))
    assert not problems, "\n".join(f"    {problem}" for problem in problems)
    parts = [held(report, kind) for kind in ("parameters", "optimizer_state")]
    return f"{report['steps']:6} {report['peak']['allocated_bytes']:14,} {parts[0]:13,} {parts[1]:13,}"


def compare(case, report, ranks):
    """Every difference."""
    # Loops of libraries are not walked: such a program fits so far.
    if report["verdict"] not in ("fits", "fits_so_far") or report["steps"] != case.steps:
        yield f"expected to fit after {case.steps} steps, found {report['verdict']} after {report['steps']}"
    if case.phase and report["peak"]["phase"] != case.phase:
        yield f"expected the peak in {case.phase}, found {report['peak']}"
    wrong = [finding for finding in report["findings"] if finding["severity"] != "info"]
    if wrong and case.phase != "optimizer":
        yield f"expected no finding, found {wrong}"
    yield from peaks(case, report, ranks)
    yield from contents(case, report, ranks[0])
    for rank, moments in enumerate(ranks):
        yield from leftovers(case, rank, moments)
    yield from blame(case, report["sites"])
    if case.outside and not any(all(word in note for word in case.outside) for note in report["notes"]):
        yield f"expected a note of {case.outside}, found {report['notes']}"


def peaks(case, report, ranks):
    """Checks that the peak of every rank is the counter's. Of several ranks, one frees a broadcast copy late, in a thread."""
    shown = [rank["peak"]["allocated_bytes"] for rank in report["ranks"]] or [report["peak"]["allocated_bytes"]]
    # Lightning starts its further ranks itself, with the program alone: they are not counted.
    if len(shown) != case.gpus:
        yield f"expected {case.gpus} ranks, found {report['ranks']}"
    for rank, (found, moments) in enumerate(zip(shown, ranks)):
        expected, copy = moments[-1]["peak"], moments[-1]["parameters"] if len(ranks) > 1 else 0
        if not expected - copy <= found <= expected:
            yield f"rank {rank}: expected a peak of {expected}, found {found}"


def contents(case, report, moments):
    """Checks that parameters and state are those that Python finds. At a peak in the first step there is no state yet."""
    if case.phase == "setup":
        return
    last = moments[-1]
    expected = last["parameters"] // case.parameters
    if held(report, "parameters") != expected:
        yield f"expected {expected} bytes of parameters, found {held(report, 'parameters')}"
    expected = last["optimizer_state"]
    if report["peak"]["step"] != 1 and held(report, "optimizer_state") != expected:
        yield f"expected {expected} bytes of optimizer state, found {held(report, 'optimizer_state')}"


def leftovers(case, rank, moments):
    """After a step all memory is tensors' and workspaces', but for what the case names."""
    for number, moment in enumerate(moments, 1):
        buckets = moment["gradients"] if case.has_buckets else 0
        expected = sum(case.others) + buckets
        # A graph is captured in the first possible step, and a group's barrier called in the first step with a barrier. A bucket that an
        # operator of the agent has seen is among the tensors known to Python.
        if sum(moment["others"]) not in {expected, buckets, expected - buckets}:
            yield f"rank {rank}, moment {number}: expected {expected} bytes that no tensor holds, found {moment['others']}"


def blame(case, sites):
    """Checks that the lines are the program's own, and the expected ones."""
    text = (HERE / "programs" / case.program).read_text(encoding="utf-8").splitlines()
    for site in sites:
        location = site["location"]
        if location is None and site["phase"] != "backward":
            yield f"expected a line of the program, found none for {site['bytes']} bytes: {site['frames'][:3]}"
        elif location and not location["file"].endswith(case.program):
            yield f"expected a line of {case.program}, found {location}"
    for category, words in case.lines.items():
        most = largest_line(sites, category)
        if most is None or words not in text[most - 1]:
            yield f"expected {words!r} to have made most of {category}, found line {most}"


def largest_line(sites, category):
    """The line that allocated most of a category, through any call."""
    lines = Counter()
    for site in sites:
        if site["category"] == category and site["location"]:
            lines[site["location"]["line"]] += site["bytes"]
    return lines.most_common(1)[0][0] if lines else None


def held(report, category):
    """The bytes of one part of the breakdown."""
    return sum(part["bytes"] for part in report["breakdown"] if part["category"] == category)


if __name__ == "__main__":
    sys.exit(main())
