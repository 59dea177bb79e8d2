"""One answer in every format: ten ways to die, under `oomph run` and by `oomph explain FOLDER` afterwards.

The headline of a program was worked out by hand from its source. Every format has to have that sentence, and standard output the answer.
"""

import html
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import documents
import suite

HERE = Path(__file__).resolve().parent
PATIENCE = 120
FORMATS = "terminal", "concise", "github", "markdown", "json", "html"
UNUSED = "no process that could be recorded used a GPU through PyTorch"
# A name of a file that a terminal would act on, and a browser.
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m<script>.py"


@dataclass(frozen=True)
class End:
    """A way to die."""

    name: str
    # A file of this folder, or words of a command.
    program: str | list
    # Words of the headline.
    says: str
    status: int
    verdict: str = "failed"
    gpus: int = 1
    # The exit status of `explain`.
    found: int = 1


ENDS = (
    End("out of memory", "work/forward_activations.py", "does not fit", 1, "oom"),
    End("an error of Python", "work/value_error.py", "ended after step 4 with ValueError (value_error.py:24); at most 2.5", 1),
    End("an exit status", "blind/os_exit.py", "with exit status ", 7),
    End("a segmentation fault", "work/segfault.py", "ended after step 2 by SIGSEGV (signal 11): a library has read or written a wrong address; at most 1.", 139),
    End("a kill", "work/killed.py", "ended after step 3 by SIGKILL (signal 9), by a scheduler, a launcher or a user", 137),
    End("a scheduler", "blind/terminated.py", "ended after step 6 by SIGTERM (signal 15), as by a scheduler or a launcher; at most 1.", 143),
    End("a rank that stopped first", "work_more/rank_killed_first.py", "rank 1 stopped first, after step 3, without a last record, as if killed; the program ended with exit status 1; at most 2", 1, gpus=2),
    End("a good end after a caught error", "work/skip_and_go_on.py", "; at most ", 0, "caught"),
    End("no GPU in use", "work/no_cuda.py", UNUSED, 0, "good", found=0),
    End("an end before the start of Python", ["sh", "-c", "exit 3"], f"ended with exit status 3; {UNUSED}", 3, found=0),
)  # fmt: skip


def list_cases(oomph: Path) -> list[suite.Case]:
    """The cases of this file."""
    ends = [suite.Case(f"in all formats: {end.name}", partial(die, oomph, number, end)) for number, end in enumerate(ENDS)]
    bodies = [write_reports, be_silent, stay_open, name_hostile_files, close_pipes, refuse_one_file, do_not_start]
    return ends + [suite.Case(body.__doc__.splitlines()[0], partial(body, oomph)) for body in bodies]


def in_folder(body: Callable[[Path, Path], str]) -> Callable[[Path], str]:
    """Calls the body with a new folder."""

    def call(oomph: Path) -> str:
        with tempfile.TemporaryDirectory(prefix="oomph-forms-") as folder:
            return body(oomph, Path(folder))

    call.__doc__ = body.__doc__
    return call


def die(oomph: Path, number: int, end: End) -> str:
    """A program dies: its end on standard error, in the file of --report in one format, and by `explain` in all."""
    with tempfile.TemporaryDirectory(prefix="oomph-forms-") as folder:
        form = FORMATS[number % len(FORMATS)]
        report = Path(folder) / ("end.html" if form == "html" else "end")
        options = ["--report", report, *([] if form == "html" else ["--format", form])]
        program = [sys.executable, HERE / end.program] if isinstance(end.program, str) else end.program
        done = run(oomph, Path(folder), *options, program=program, gpus=end.gpus)
        assert done.returncode == end.status, f"status {done.returncode}, expected {end.status}: {done.stderr}"
        headline = explain_in_all_formats(oomph, Path(folder) / "run", end)
        said = " ".join(done.stderr.split())
        assert headline in said, f"{headline!r} is not on standard error: {said}"
        found = read_headline(form, report.read_text(encoding="utf-8"))
        assert found == headline, f"--report in {form}: {found!r}, expected {headline!r}"
    return headline


def run(oomph: Path, folder: Path, *options: object, program: list, gpus: int = 1) -> subprocess.CompletedProcess:
    """Runs a program on a phantom, recorded in `folder`/run, with that of a file of its own as the working directory."""
    command = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--gpus", gpus, "--", oomph, "run", "--save", folder / "run", *options, "--", *program]
    script = next((word for word in program if isinstance(word, Path)), None)
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, cwd=script.parent if script else folder)


def explain(oomph: Path, *words: object, **options) -> subprocess.CompletedProcess:
    """Runs `oomph explain`."""
    return subprocess.run([str(oomph), "explain", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, **options)


def explain_in_all_formats(oomph: Path, recorded: Path, end: End, schema: str = "run") -> str:
    """The headline of a recording, which has to be equal in all formats and on standard output."""
    cwd = (HERE / end.program).parent if isinstance(end.program, str) else recorded.parent
    answers = {}
    for form in FORMATS:
        page = recorded.parent / "page.html"
        words = ["--html", page] if form == "html" else ["--format", form]
        done = explain(oomph, recorded, *words, cwd=cwd)
        assert (done.returncode, done.stderr) == (end.found, ""), f"{form}: status {done.returncode}: {done.stdout}{done.stderr}"
        answers[form] = page.read_text(encoding="utf-8") if form == "html" else done.stdout
    document = json.loads(answers["json"])
    documents.hold(schema, document)
    assert document["verdict"] == end.verdict, document["verdict"]
    headline = document["headline"]
    assert end.says in headline, headline
    if schema == "now":
        # Each line stands alone, and so does the first.
        answers["terminal"] = answers["terminal"].splitlines()[0]
    found = {form: read_headline(form, text) for form, text in answers.items()}
    assert all(text == headline for text in found.values()), f"{headline!r} is not in all formats: {found}"
    return headline


def read_headline(form: str, text: str) -> str:
    """The first sentence of an answer."""
    match form:
        case "json":
            return json.loads(text)["headline"]
        case "html":
            return html.unescape(re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)[1])
        case "markdown":
            return re.sub(r"\\([\W_])", r"\1", re.fullmatch(r"### oomph (?:run|explain): (.*)", text.splitlines()[0])[1])
        case "github":
            message = text.splitlines()[0].split("::", 2)[2].split("%0A")[0]
            return message.replace("%25", "%")
        case "concise":
            return text.splitlines()[0]
        case "terminal":
            return " ".join(text.split("\n\n")[0].split())


@in_folder
def write_reports(oomph: Path, folder: Path) -> str:
    """--report in every format, by the name of the file and by --format"""
    kinds = {"a.json": "json", "a.html": "html", "a.md": "markdown", "a": "json", **{f"{form}.txt": form for form in FORMATS[:-1]}}
    for name, form in kinds.items():
        options = ["--format", form] if name.endswith(".txt") else []
        done = run(oomph, folder, "--report", folder / name, *options, program=["sh", "-c", "exit 4"])
        assert done.returncode == 4, done.stderr
        found = read_headline(form, (folder / name).read_text(encoding="utf-8"))
        assert found == f"ended with exit status 4; {UNUSED}", f"{name}: {found}"
        shutil.rmtree(folder / "run")
    return f"{len(kinds)} files"


def change_launch(recorded: Path, change: Callable[[dict], None]) -> None:
    """Changes the launcher's record of a run."""
    path = recorded / "run.json"
    launch = json.loads(path.read_text())
    change(launch)
    path.write_text(json.dumps(launch))


@in_folder
def be_silent(oomph: Path, folder: Path) -> str:
    """A program that allocated nothing for ten minutes before its end: the silence, and the last line, in all formats"""
    run(oomph, folder, program=[sys.executable, HERE / "blind/terminated.py"])
    recorded = folder / "run"

    def wait(launch: dict) -> None:
        launch["host"]["ended_micros"] += 600 * 1_000_000

    change_launch(recorded, wait)
    end = next(end for end in ENDS if end.name == "a scheduler")
    headline = explain_in_all_formats(oomph, recorded, end)
    silence = "nothing was allocated in the last 60"
    for form in FORMATS[:-1]:
        said = " ".join(explain(oomph, recorded, "--format", form, cwd=HERE / "blind").stdout.split())
        assert (silence if form != "json" else '"silence": { "seconds": 60') in said, f"{form}: {said}"
    return headline


@in_folder
def stay_open(oomph: Path, folder: Path) -> str:
    """A run without an end, as after `kill -9` of oomph: the memory by line, in all formats"""
    run(oomph, folder, program=[sys.executable, HERE / "work/killed.py"])
    change_launch(folder / "run", lambda launch: launch.update(ended=None))
    # 1.5 GiB of features, the model, and its optimizer's state.
    end = End("", "work/killed.py", "step 3: 1.5", 0, "steady", found=0)
    headline = explain_in_all_formats(oomph, folder / "run", end, "now")
    before = End("", ["true"], "no process of the program has used a GPU through PyTorch yet", 0, "unused", found=0)
    for path in (folder / "run").iterdir():
        if path.name != "run.json":
            path.unlink()
    explain_in_all_formats(oomph, folder / "run", before, "now")
    return headline


@in_folder
def name_hostile_files(oomph: Path, folder: Path) -> str:
    """A file whose name a terminal or a browser would act on"""
    program = folder / HOSTILE
    program.write_text("import torch\ntorch.zeros(9, device='cuda')\nraise ValueError('no')\n")
    done = run(oomph, folder, "--report", folder / "end.html", program=[sys.executable, program])
    assert done.returncode == 1 and "\x1b" not in done.stderr.split("oomph: ", 1)[1], done.stderr
    for form in FORMATS[:-1]:
        said = explain(oomph, folder / "run", "--format", form, cwd=folder).stdout
        assert "\x1b" not in said and "with ValueError" in said, f"{form}: {said!r}"
        assert form != "markdown" or "<img" not in said.replace("\\<", ""), said
    explain(oomph, folder / "run", "--html", folder / "again.html", cwd=folder)
    for page in ("end.html", "again.html"):
        text = (folder / page).read_text(encoding="utf-8")
        assert "<img" not in text and "\x1b" not in text and "&lt;img" in text, page
    return repr(HOSTILE)


@in_folder
def close_pipes(oomph: Path, folder: Path) -> str:
    """A reader that has gone is no error, and the answer goes to a file"""
    run(oomph, folder, program=[sys.executable, HERE / "work/value_error.py"])
    for form in FORMATS[:-1]:
        command = f'set -o pipefail; "$0" explain "$1" --format {form} | true'
        done = subprocess.run(["bash", "-c", command, oomph, folder / "run"], capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, done.stderr) == (1, ""), f"{form}: status {done.returncode}: {done.stderr}"
    done = subprocess.run(["bash", "-c", '"$0" explain "$1" > "$2"', oomph, folder / "run", folder / "file"], capture_output=True, text=True)
    text = (folder / "file").read_text()
    assert text.startswith("ended after step 4 with ValueError") and "oomph: " not in text and not done.stderr, text + done.stderr
    return text.splitlines()[0]


@in_folder
def refuse_one_file(oomph: Path, folder: Path) -> str:
    """Two outputs that go to one file are an error before the start, and a report without its folder too"""
    told = "`: the later one would replace the other"
    recorded = ["run", "--save", "run", "--", "sh", "-c", "exit 3"]
    subprocess.run([str(oomph), *recorded], capture_output=True, cwd=folder)
    cases = [
        ("run --report x --metrics ./x -- touch started", told),
        ("run --report x -- touch started > x", told),
        ("explain run --html x > x", told),
        ("check --html x --json-file ../{name}/x --gpu t4 -- touch started", told),
        ("run --report none/x -- touch started", "cannot write `none/x`"),
        ("run --report . -- touch started", "`.` would be replaced, and is no file"),
        ("run --format json -- touch started", "--report <FILE>"),
    ]
    for words, problem in cases:
        command = f'"$0" {words.format(name=folder.name)}'
        done = subprocess.run(["bash", "-c", command, oomph], capture_output=True, text=True, cwd=folder, timeout=PATIENCE)
        assert done.returncode == 2 and problem in done.stderr, f"{words}: status {done.returncode}: {done.stderr}"
        assert not (folder / "started").exists(), f"{words}: the program was started"
    return f"{len(cases)} refusals"


@in_folder
def do_not_start(oomph: Path, folder: Path) -> str:
    """A program that cannot be started, and one that a signal ends at once"""
    done = run(oomph, folder, "--report", folder / "end.json", program=["/none/program"])
    error = json.loads((folder / "end.json").read_text())
    documents.hold("error", error)
    assert done.returncode == 2 and "/none/program" in done.stderr and "/none/program" in error["error"]["message"], done.stderr
    shutil.rmtree(folder / "run", ignore_errors=True)
    done = run(oomph, folder, "--report", folder / "end.json", program=["sh", "-c", "kill -9 $$"])
    report = json.loads((folder / "end.json").read_text())
    assert done.returncode == 128 + signal.SIGKILL and report["end"] == {"how": "signal", "signal": 9}, f"{done.returncode}: {report}"
    return report["headline"]
