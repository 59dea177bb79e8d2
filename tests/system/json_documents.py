"""The reports and errors of each command with `--json`, held to their schemas."""

import html
import json
import re

import documents
import samples
from harness import PROGRAMS, Box, Case, Result, contains, expect
from mistake import MISTAKE
from refusals import MLP, no_noise

HEAD = ["schema_version", "headline", "verdict", "spare_bytes", "next"]
# The name of a temporary file.
_TEMPORARY = re.compile(r"\.oomph-\w+")
# The name of a schema, the exit status, the verdict, the words.
REPORTS = (
    ("check", 0, "fits", ("check", MLP)),
    ("check", 1, "oom", ("check", "--vram", "600MiB", PROGRAMS / "leak_graph.py")),
    ("check", 2, "incomplete", ("check", PROGRAMS / "exits.py")),
    ("fit", 0, "fits", ("fit", MLP)),
    ("explain", 1, "oom", ("explain", "crash.log")),
    ("explain", 2, "nothing_to_explain", ("explain", "healthy.log")),
    ("tune", 1, "oom", ("tune", "snapshot.pickle")),
    ("lint", 0, "clean", ("lint", "good.py")),
    ("lint", 1, "found", ("lint", "bad.py")),
    ("lint", 2, "incomplete", ("lint", "broken.py")),
)
FILES = {
    "crash.log": samples.LOG.encode(),
    "healthy.log": samples.HEALTHY.encode(),
    "snapshot.pickle": samples.pickled(samples.SNAPSHOT),
    "good.py": b"print(1)\n",
    "bad.py": MISTAKE.encode(),
    "broken.py": b"import torch\ndef (\n",
    "raises.py": b"import torch\nraise ValueError('no such width')\n",
    "plain.py": b"print(1)\n",
    "empty.log": b"",
    "cut.pickle": samples.pickled(samples.SNAPSHOT)[:300],
    "baseline.json": b"[]",
    "script with \x1b[31m.py": b"import torch\nraise ValueError\n",
}
# The kind of an error, the file, the line, the next command, and the words of the command.
ERRORS = (
    ("no_such_file", "none.py", None, None, ("check", "none.py")),
    ("wrong_file", ".", None, None, ("check", ".")),
    ("unknown_name", None, None, "oomph gpus", ("check", "--gpu", "l5", "plain.py")),
    ("bad_arguments", None, None, None, ("check", "--gpu", "l4", "--vram", "100MiB", "plain.py")),
    ("bad_arguments", None, None, "oomph check --help", ("check", "--vram", "lots", "plain.py")),
    ("bad_arguments", None, None, "oomph check --help", ("check",)),
    ("bad_arguments", None, None, "oomph check --help", ("check", "--jsno", "plain.py")),
    ("bad_arguments", None, None, "oomph check --help", ("check", "--steps=-1", "plain.py")),
    ("bad_arguments", None, None, "oomph explain --help", ("explain", "--nonsense", "crash.log")),
    ("bad_arguments", None, None, "oomph --help", ("chekc",)),
    ("unwritable_file", "no/page.html", None, None, ("check", "--html", "no/page.html", "plain.py")),
    ("no_program", None, None, None, ("check", "--", "no-such-program")),
    ("no_python", "/no/python", None, None, ("check", "--python", "/no/python", "plain.py")),
    ("program_failed", "raises.py", 2, None, ("check", "raises.py")),
    ("no_cuda", None, None, None, ("check", "plain.py")),
    ("program_failed", "script with \x1b[31m.py", 2, None, ("check", "script with \x1b[31m.py")),
    ("no_such_file", "none.py", None, None, ("fit", "none.py")),
    ("program_failed", "raises.py", 2, None, ("fit", "raises.py")),
    ("no_batch_size", None, None, None, ("fit", "--max-batch", PROGRAMS / "leak_graph.py")),
    ("no_such_file", "none.log", None, None, ("explain", "none.log")),
    ("wrong_file", "empty.log", None, None, ("explain", "empty.log")),
    ("damaged_file", "cut.pickle", None, None, ("explain", "cut.pickle")),
    ("wrong_file", "crash.log", None, None, ("tune", "crash.log")),
    ("bad_arguments", None, None, None, ("tune", "--empty-cache-at", "99999", "snapshot.pickle")),
    ("no_such_file", "none", None, None, ("lint", "none")),
    ("wrong_file", "baseline.json", None, None, ("lint", "--baseline", "baseline.json", "good.py")),
    ("unknown_name", None, None, "oomph gpus", ("gpus", "l5")),
    ("no_such_file", "none.xml", None, None, ("top", "--once", "--from", "none.xml")),
    ("wrong_file", "plain.py", None, None, ("top", "--once", "--from", "plain.py")),
)


def place(box: Box) -> None:
    """Puts the files of all cases."""
    for name, content in FILES.items():
        (box.work / name).write_bytes(content)


def run(box: Box, words: tuple, *options: str) -> Result:
    """A command with options of its own behind its name."""
    command, *rest = words
    python = ["--python", box.python] if command in ("check", "fit") and not {"--", "--python"} & set(rest) else []
    return box.run(box.oomph, command, *options, *python, *rest)


def report(box: Box, schema: str, status: int, verdict: str, words: tuple) -> None:
    """The report agrees with the schema, and the headline with the text, the page and the Markdown."""
    place(box)
    result = run(box, words, "--json")
    document = json.loads(result.stdout)
    documents.hold(schema, document)
    expect(result, list(document)[: len(HEAD)], HEAD, "the first keys")
    expect(result, (result.status, document["verdict"]), (status, verdict), "status and verdict")
    has_page = words[0] in ("check", "explain")
    shown = run(box, words, *(("--html", "page.html") if has_page else ()))
    contains(shown, " ".join(shown.stdout.split()), document["headline"])
    if has_page:
        contains(shown, html.unescape((box.work / "page.html").read_text(encoding="utf-8")), f"<h1>{document['headline']}</h1>")
    if words[0] != "lint":
        page = run(box, words, "--format", "markdown")
        expect(page, _unescaped(page.stdout.splitlines()[0]), f"### oomph {words[0]}: {document['headline']}", "the heading")


def _unescaped(text: str) -> str:
    return text.replace("\\", "")


def error(box: Box, kind: str, file: str | None, line: int | None, following: str | None, words: tuple) -> None:
    """The error agrees with the schema; `--json` changes neither standard error nor the exit status."""
    place(box)
    plain, result = run(box, words), run(box, words, "--json")
    expect(result, (plain.status, plain.stdout), (2, ""), "status and standard output without --json")
    found = documents.parse_error(result.stdout)
    expect(result, (result.status, found["kind"], found["line"]), (2, kind, line), "status, kind and line")
    expect(result, (found["file"] or "").removeprefix(f"{box.work}/"), file or "", "the file")
    expect(result, " ".join(found["next"] or ()), following or "", "the next command")
    # A usage names the options that were given.
    expect(result, *(_TEMPORARY.sub("", it.stderr.partition("\nUsage: ")[0]) for it in (result, plain)), "standard error")
    contains(result, result.stderr, found["message"].splitlines()[0])
    if words[-1] == "raises.py":
        contains(result, found["output"], "ValueError: no such width")
    no_noise(result)


def in_a_file(box: Box) -> None:
    """`--json-file` has the error, too; a script's own option of this name names no file for oomph."""
    place(box)
    result = box.check("--json-file", "it.json", "raises.py")
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    text = (box.work / "it.json").read_text(encoding="utf-8")
    expect(result, documents.parse_error(text)["kind"], "program_failed", "the kind")
    result = box.check("--json-file=of_options.json", "--nonsense", "plain.py")
    expect(result, documents.parse_error((box.work / "of_options.json").read_text(encoding="utf-8"))["kind"], "bad_arguments", "the kind")
    result = box.check("--nonsense", "plain.py", "--json-file", "baseline.json")
    expect(result, (result.status, (box.work / "baseline.json").read_text()), (2, "[]"), "status, and the script's file")


def lists(box: Box) -> None:
    """The list of GPUs, and one of them, which are data without a verdict."""
    for words in ((), ("l4",)):
        result = box.run(box.oomph, "gpus", *words, "--json")
        expect(result, result.status, 0, "status")
        documents.hold("gpus", json.loads(result.stdout))


CASES = [
    Case("JSON of gpus", lists),
    *(Case(f"JSON of {words[0]}: {verdict}", lambda box, row=(schema, status, verdict, words): report(box, *row)) for schema, status, verdict, words in REPORTS),
    *(Case(f"JSON of an error {number}: {row[-1][0]}, {row[0]}", lambda box, row=row: error(box, *row)) for number, row in enumerate(ERRORS)),
    Case("JSON of an error in a file", in_a_file),
]
