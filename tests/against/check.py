"""Pairs of recorded runs: the first request that differs, and the lines that differ at the peak.

    python tests/against/check.py --oomph target/release/oomph [WORD ...]

A phantom GPU stands for the real one: PyTorch, its allocator and the recorder are the real ones. The difference of every pair
was worked out by hand from its source.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents
import expect
import suite

PATIENCE = 120
GPU = ["--gpu", "rtx-3060", "--vram"]
MEMORY = "4GiB"


def main() -> int:
    """Exit status 1 if a difference is not found as a program's block says."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [pair_case(oomph, path) for path in sorted(HERE.glob("pairs/*.py"))]
    others = [
        ("a dry run is compared with a real one", compare_with_dry, False),
        ("run --against compares, and keeps nothing", compare_at_the_end, False),
        ("a folder is compared with itself, and damaged ones are named", refuse, False),
        ("an edit of the program moves its lines", compare_edited, True),
        ("a run that used no GPU", compare_without_gpu, True),
        ("ranks are compared with ranks", compare_ranks, True),
    ]
    cases += [suite.Case(name, partial(body, oomph), is_extra=is_extra) for name, body, is_extra in others]
    return suite.run("against", cases, arguments)


def pair_case(oomph: Path, path: Path) -> suite.Case:
    """The case of a program with two runs."""
    return suite.Case(path.stem, partial(judge, oomph, path), group="pairs", open=expect.read(path).get("open", ""))


class Folder:
    """A working folder for recordings."""

    def __init__(self, oomph: Path, path: str) -> None:
        self.oomph, self.path = oomph, Path(path)

    def call(self, *words, cwd=HERE / "pairs", status=(0, 1)) -> subprocess.CompletedProcess:
        """A command of oomph's, with one of the expected exit statuses."""
        done = subprocess.run([str(self.oomph), *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)
        assert done.returncode in status, f"status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}"
        return done

    def explain(self, *runs: Path, **options) -> dict:
        """The report about two runs, which must be as its schema says."""
        report = json.loads(self.call("explain", "--json", *runs, **options).stdout)
        documents.hold("against", report)
        return report

    def record(self, name: str, *program, status=0, vram=MEMORY) -> Path:
        """Records a real run on the phantom."""
        self.call("phantom", *GPU, vram, "--", self.oomph, "run", "--save", self.path / name, "--", sys.executable, *program, status=(status,))
        return self.path / name


def in_folder(body):
    """Calls the body with a new folder."""

    def wrapped(oomph: Path, *rest):
        with tempfile.TemporaryDirectory(prefix="oomph-against-") as path:
            return body(Folder(oomph, path), *rest)

    return wrapped


@in_folder
def judge(folder: Folder, path: Path) -> str:
    """Records both runs and compares the report with the expectation; returns the first sentence."""
    expected = expect.read(path)
    a = folder.record("a", path, "a", vram=expected["vram"])
    b = folder.record("b", path, "b", status=expected.get("status", 0), vram=expected["vram"])
    said = folder.call("explain", a, b).stdout
    report = folder.explain(a, b)
    page = folder.path / "page.html"
    folder.call("explain", "--html", page, a, b)
    heading = html.unescape(re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"))[1])
    assert heading == report["headline"], f"{heading!r}, expected {report['headline']!r}"
    problems = list(differences(expected, said, report))
    assert not problems, "\n".join([*problems, said])
    return report["headline"]


def differences(expected: dict, said: str, report: dict):
    """Every difference from the program's block."""
    if not re.match(expected["sentence"], report["headline"]):
        yield f"the first sentence is not `{expected['sentence']}`"
    yield from (f"`{phrase}` is not said" for phrase in expected.get("says", ()) if phrase not in " ".join(said.split()))
    lines = report["devices"][report["focus"]]["lines"]
    if expected.get("largest") == "none" and lines:
        yield f"lines differ at the peak: {lines}"
    if expected.get("largest", "none") != "none":
        yield from compare_line(expected["largest"], said)


def compare_line(expected: str, said: str):
    """The first line of the table."""
    table = re.search(r"Lines that differ at the peak.*\n.*\n\s*(\S+ \S+)\s+(\S+ \S+)\s+(\S+)", said)
    found = f"{table[3]} {table[1]} {table[2]}" if table else "no table"
    if found != expected:
        yield f"the first line of the table is `{found}`, expected `{expected}`"


@in_folder
def compare_with_dry(folder: Folder) -> str:
    """The same program on the same GPU, predicted and run: three steps are equal, up to the end of the dry run."""
    folder.call("check", *GPU, MEMORY, "--python", sys.executable, "--save", folder.path / "dry", "identical.py")
    real = folder.record("real", "identical.py")
    report = folder.explain(folder.path / "dry", real)
    assert re.match(r"no difference: \d+ requests of 3 steps are equal; peak \S+ MiB in both", report["headline"]), report
    assert [run["is_dry"] for run in report["runs"]] == [True, False], report["runs"]
    return report["headline"]


@in_folder
def compare_at_the_end(folder: Folder) -> str:
    """The comparison follows the end on standard error; the exit status is the program's, and no recording stays."""
    before = folder.record("a", "doubled.py", "a")
    command = ["phantom", *GPU, MEMORY, "--", folder.oomph, "run", "--against", before, "--", sys.executable, "doubled.py", "b"]
    said = folder.call(*command, status=(0,)).stderr
    assert re.search(expect.read(HERE / "pairs" / "doubled.py")["sentence"], " ".join(said.split())), said
    assert "recorded in" not in said, said
    wrong = folder.call("run", "--against", folder.path / "none", "--", sys.executable, "-c", "print('started')", status=(2,))
    assert "started" not in wrong.stdout and "none` is no recorded run" in wrong.stderr, wrong
    return said.splitlines()[0]


@in_folder
def refuse(folder: Folder) -> str:
    """Exit status 2 with the file, and no difference of a folder to itself."""
    good = folder.record("good", "identical.py")
    report = folder.explain(good, good, status=(0,))
    assert report["verdict"] == "equal" and report["headline"].startswith("no difference"), report
    cut = shutil.copytree(good, folder.path / "cut")
    recording = cut / "rank0.recording"
    recording.write_bytes(recording.read_bytes()[:100_000])
    foreign = shutil.copytree(good, folder.path / "foreign")
    (foreign / "rank0.recording").write_bytes(b"something else" * 1000)
    (shutil.copytree(good, folder.path / "launch") / "run.json").write_text("{")
    (folder.path / "empty").mkdir()
    names = (("cut", "rank0.recording"), ("foreign", "rank0.recording"), ("launch", "run.json"), ("empty", "empty"))
    for name, file in names:
        for pair in ((good, folder.path / name), (folder.path / name, good)):
            refused = documents.parse_error(folder.call("explain", "--json", *pair, status=(2,)).stdout)
            assert Path(refused["file"]).name == file and refused["hint"], refused
    return refused["message"]


@in_folder
def compare_edited(folder: Folder) -> str:
    """A new line above all others is no difference, and a size that the edit doubles is one, at its line in A."""
    program, recorded = folder.path / "train.py", []
    source = (HERE / "pairs" / "doubled.py").read_text()
    for name, text, word in (("a", source, "a"), ("b", f"# A new line.\n{source}", "a"), ("c", f"# A new line.\n{source}", "b")):
        program.write_text(text)
        recorded.append(folder.record(name, program, word))
    a, b, c = recorded
    report = folder.explain(a, b, cwd=folder.path, status=(0,))
    assert report["headline"].startswith("no difference") and report["devices"][0]["moved_lines"] > 0, report
    headline = folder.explain(a, c, cwd=folder.path, status=(1,))["headline"]
    assert headline.startswith("the runs part at step 1, ") and "64.00 MiB" in headline and "128.00 MiB" in headline, headline
    return headline


@in_folder
def compare_without_gpu(folder: Folder) -> str:
    """A run on the CPU has no counterpart, and two of them none at all."""
    gpu = folder.record("gpu", "identical.py")
    cpu = folder.record("cpu", "-c", "import torch; torch.ones(3)")
    said = [folder.explain(*pair)["headline"] for pair in ((gpu, cpu), (cpu, gpu), (cpu, cpu))]
    expected = ["only A used a GPU through PyTorch", "only B used a GPU through PyTorch", "neither run used a GPU through PyTorch"]
    assert said == expected, said
    return expected[0]


@in_folder
def compare_ranks(folder: Folder) -> str:
    """Two ranks, of which the second differs, beside a third that only B has."""
    source = """
import multiprocessing, os, sys, torch
def work(rank, mib):
    os.environ["RANK"] = str(rank)
    torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
if __name__ == "__main__":
    for rank, mib in enumerate(map(int, sys.argv[1:])):
        child = multiprocessing.get_context("spawn").Process(target=work, args=(rank, mib))
        os.environ["RANK"] = str(rank)
        child.start()
        child.join()
"""
    script = folder.path / "ranks.py"
    script.write_text(source)
    a, b = folder.record("a", script, "8", "16"), folder.record("b", script, "8", "24", "4")
    headline = folder.explain(a, b, cwd=folder.path)["headline"]
    assert headline == "rank 1: the runs part, ranks.py:5: 16.00 MiB in A, 24.00 MiB in B; the peak is 8.00 MiB higher in B", headline
    said = " ".join(folder.call("explain", a, b, cwd=folder.path).stdout.split())
    assert "rank 0, cuda:0: no difference: 1 request of the whole program is equal; peak 8.00 MiB in both" in said, said
    assert "rank 2, cuda:0 is only in B: 4.00 MiB at its peak" in said, said
    return headline


if __name__ == "__main__":
    sys.exit(main())
