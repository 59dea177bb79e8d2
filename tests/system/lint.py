"""`oomph lint` and `oomph rule` as a user runs them: files, folders, settings, baselines, fixes, formats."""

import json
import os
import pty
import signal
import tomllib

import documents
from harness import PROGRAMS, ROOT, Box, Case, Result, collect, contains, expect, like_others
from mistake import BOTH, CLEAN, COLUMN, END, LINE, MENDED, MISTAKE, RULE

NOT_PYTHON = "import torch\nprint 'x'\n"
STYLE = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader(data)\n"


def lint(box: Box, *words, status: int, **options) -> Result:
    """Runs `oomph lint` and checks its exit status."""
    result = box.run(box.oomph, "lint", *words, **options)
    expect(result, result.status, status, "the exit status")
    return result


def places(result: Result) -> list[tuple[str, str]]:
    """Returns the findings of `--json` as file names below the working folder and rules."""
    found = [(finding["location"]["file"], finding["rule"]) for finding in result.report["findings"]]
    return [(name.partition("/work/")[2], rule) for name, rule in found]


def terminal(box: Box) -> None:
    """The report shows the finding at its line, the advice and the number of fixes."""
    box.write("train.py", MISTAKE)
    result = lint(box, "train.py", status=1)
    expect(result, result.stderr, "", "standard error")
    contains(result, result.stdout, f"error[{RULE}]", f"train.py:{LINE}:{COLUMN}", "11 |         total += loss", "^^^^^^^^^^^^^")
    contains(result, " ".join(result.stdout.split()), f"oomph rule {RULE}", "1 finding in 1 file: 1 error", "1 can be mended with --fix")


def clean(box: Box) -> None:
    """A clean file is reported as such."""
    box.write("train.py", CLEAN)
    expect(None, lint(box, status=0).stdout, "no finding in 1 file\n", "standard output")


def concise(box: Box) -> None:
    """Each finding is a line."""
    box.write("train.py", MISTAKE)
    result = lint(box, "--format", "concise", "train.py", status=1)
    [line] = result.stdout.splitlines()
    expect(result, line.startswith(f"train.py:{LINE}:{COLUMN}: error[{RULE}] "), True, f"the beginning of {line!r}")


def as_json(box: Box) -> None:
    """A finding has the keys of all commands, its end and its fix."""
    box.write("train.py", MISTAKE)
    result = lint(box, "--json", "train.py", status=1)
    [finding] = result.report["findings"]
    shared = {"rule", "severity", "message", "location", "evidence", "remedies"}
    expect(result, set(finding), shared | {"cell", "end", "fix", "certainty", "proof"}, "the keys of a finding")
    place = {"file": str(box.work / "train.py"), "line": LINE, "column": COLUMN}
    expect(result, (finding["location"], finding["end"]), (place, {"line": LINE, "column": END}), "its place")
    edit = {"start": {"line": LINE, "column": END}, "end": {"line": LINE, "column": END}, "text": ".detach()"}
    expect(result, finding["fix"], {"is_safe": True, "edits": [edit]}, "its fix")
    counts = {key: result.report[key] for key in ("unreadable", "files", "hidden", "fixed", "notes")}
    expect(result, counts, {"unreadable": [], "files": 1, "hidden": 0, "fixed": 0, "notes": []}, "the rest")


def github(box: Box) -> None:
    """A finding is a workflow command at its line."""
    box.write("my train.py", MISTAKE)
    result = lint(box, "--format", "github", status=1)
    contains(result, result.stdout, f"::error file=my train.py,line={LINE},col={COLUMN},title={RULE}::")


def sarif(box: Box) -> None:
    """The log has the fields required by SARIF 2.1.0, the region and the fix."""
    box.write("my train.py", MISTAKE)
    log = json.loads(lint(box, "--format", "sarif", status=1).stdout)
    [run] = log["runs"]
    [found] = run["results"]
    expect(None, (log["version"], run["tool"]["driver"]["name"]), ("2.1.0", "oomph lint"), "version and tool")
    expect(None, run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"], found["ruleId"], "the rule by index")
    place = found["locations"][0]["physicalLocation"]
    region = {"startLine": LINE, "startColumn": COLUMN, "endLine": LINE, "endColumn": END}
    expect(None, place, {"artifactLocation": {"uri": "my%20train.py"}, "region": region}, "the place")
    [change] = found["fixes"][0]["artifactChanges"]
    expect(None, change["replacements"][0]["insertedContent"], {"text": ".detach()"}, "the fix")
    moved = json.loads(lint(box_with(box, "my train.py", "\n\n" + MISTAKE), "--format", "sarif", status=1).stdout)
    same = [log["runs"][0]["results"][0]["partialFingerprints"] for log in (log, moved)]
    expect(None, same[0], same[1], "the fingerprint of a finding that moved down")


def box_with(box: Box, name: str, text: str) -> Box:
    """Returns the box with another file."""
    box.write(name, text)
    return box


def standard_input(box: Box) -> None:
    """`-` reads standard input under the name given by the user."""
    path = box.write("elsewhere.txt", MISTAKE)
    for name, shown in (([], "<stdin>"), (["--stdin-filename", "train.py"], "train.py")):
        with path.open() as file:
            result = lint(box, "--format", "concise", *name, "-", status=1, stdin=file)
        expect(result, result.stdout.startswith(f"{shown}:{LINE}:"), True, f"the name {shown}")


def folders(box: Box) -> None:
    """Third-party code is skipped unless named."""
    names = ("a b/train.py", "x.ipynb.py", "ignored/train.py", ".hidden/train.py", "venv/lib/train.py", "node_modules/m/train.py")
    for name in names:
        box.write(name, MISTAKE)
    box.write("readme.txt", MISTAKE)
    box.write(".gitignore", "ignored/\n")
    box.write("venv/pyvenv.cfg", "")
    usual = ["a b/train.py", "x.ipynb.py"]
    cases = (
        ([], usual),
        (["."], usual),
        (["a b", "a b/train.py"], usual[:1]),
        (["--no-gitignore"], ["a b/train.py", "ignored/train.py", "x.ipynb.py"]),
        (["--exclude", "a b/"], usual[1:]),
        (["--include", "*.txt"], ["readme.txt"]),
        (["ignored/train.py", ".hidden"], [".hidden/train.py", "ignored/train.py"]),
    )
    for words, expected in cases:
        result = lint(box, "--json", *words, status=1)
        expect(result, [name for name, _ in places(result)], expected, f"the files of {words}")


def settings(box: Box) -> None:
    """The nearest settings file counts; the command line overrides the file."""
    box.write("sub/train.py", MISTAKE + STYLE)
    box.write("pyproject.toml", '[tool.ruff]\nline-length = 99\n[tool.oomph.lint]\npedantic = true\n')
    style = {RULE, "workers-unset"}
    cases = [([], style), (["--isolated"], {RULE}), (["--select", RULE], {RULE}), (["--ignore", RULE], style - {RULE})]
    for words, expected in cases:
        result = lint(box, "--json", *words, status=1)
        expect(result, {rule for _, rule in places(result)}, expected, f"the rules of {words}")
    box.write("sub/oomph.toml", f'[lint]\nselect = ["ALL"]\nignore = ["{RULE}"]\n')
    result = lint(box, "--json", status=1, cwd=box.work / "sub")
    expect(result, {rule for _, rule in places(result)}, style - {RULE}, "the rules of the nearer file")
    box.write("sub/oomph.toml", '[lint]\nexclude = ["train.py"]\n')
    lint(box, "train.py", status=1, cwd=box.work / "sub")
    refused(lint(box, status=2, cwd=box.work / "sub"), "no Python file and no notebook", "--exclude")


def settings_of_the_page(box: Box) -> None:
    """The settings that docs/lint.md shows are accepted, and allowed by their schema, which allows no key that the program refuses."""
    _, _, page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8").partition("```toml\n")
    text, _, _ = page.partition("```")
    shown = tomllib.loads(text)["tool"]["oomph"]
    documents.hold("oomph-toml", shown)
    allowed = documents.validator("oomph-toml").schema["$defs"]["LintTable"]["properties"]
    expect(text, sorted(allowed), sorted(shown["lint"]), "the keys of the schema and those of the page")
    box.write("pyproject.toml", text)
    box.write("train.py", MISTAKE)
    lint(box, "--write-baseline", "lint-baseline.json", status=0)
    lint(box, status=0)


def refused(result: Result, *parts: str) -> None:
    """Checks for exit status 2, an empty standard output, and an error with these words."""
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "error: ", *parts)


SETTINGS = (
    ("oomph.toml", "[lint]\nselekt = []\n", ("oomph.toml", "line 2", "unknown field `selekt`", "`select`")),
    ("oomph.toml", "[lint\n", ("oomph.toml", "line 1")),
    ("oomph.toml", "[tune]\n", ("unknown field `tune`",)),
    ("oomph.toml", '[lint]\nignore = ["acumulated-graph"]\n', ("no rule `acumulated-graph`", "did you mean `accumulated-graph`?")),
    ("pyproject.toml", "[tool.oomph.lint]\npedantic = 3\n", ("pyproject.toml", "line 2", "expected a boolean")),
    ("oomph.toml", '[lint]\nexclude = ["a{b"]\n', ("`a{b` is no pattern",)),
)


def settings_are_refused(box: Box, name: str, text: str, says: tuple[str, ...]) -> None:
    """An error in the settings is reported with file and line."""
    box.write("train.py", MISTAKE)
    box.write(name, text)
    refused(lint(box, status=2), *says)


def baseline(box: Box) -> None:
    """A baseline hides recorded findings, also after they moved; new findings are shown, fixed ones reported as gone."""
    box.write("train.py", MISTAKE)
    written = lint(box, "--write-baseline", "known.json", status=0)
    contains(written, written.stderr, "1 finding is in the baseline")
    documents.hold("baseline", json.loads((box.work / "known.json").read_text()))
    box.write("train.py", "# moved down\n" + MISTAKE)
    result = lint(box, "--baseline", "known.json", status=0)
    contains(result, result.stdout, "no finding", "1 of the baseline not shown")
    box.write("train.py", MISTAKE + MISTAKE)
    result = lint(box, "--baseline", "known.json", "--json", status=1)
    expect(result, (len(result.report["findings"]), result.report["hidden"]), (1, 1), "what is new, what is known")
    box.write("train.py", CLEAN)
    contains(result, lint(box, "--baseline", "known.json", status=0).stdout, "no longer found, of the baseline: 1")
    box.write("oomph.toml", '[lint]\nbaseline = "known.json"\n')
    box.write("train.py", MISTAKE)
    lint(box, status=0)
    box.write("known.json", '{"version": 7, "findings": []}')
    refused(lint(box, status=2), "known.json", "version 7; expected 1")
    box.write("known.json", "[")
    refused(lint(box, status=2), "known.json", "EOF")


def baseline_of_a_part(box: Box) -> None:
    """File names are relative to the baseline's folder, not to the working folder; files that were not linted are not gone; recorded findings are not fixed."""
    box.write("src/train.py", MISTAKE)
    box.write("other.py", MISTAKE)
    lint(box, "--write-baseline", "known.json", status=0)
    entries = json.loads((box.work / "known.json").read_text())["findings"]
    expect(None, [entry["file"] for entry in entries], ["other.py", "src/train.py"], "the names")
    for words in (["--baseline", "../known.json", "train.py"], ["--baseline", "../known.json", "--fix", "../src/train.py"]):
        result = lint(box, *words, status=0, cwd=box.work / "src")
        contains(result, result.stdout, "1 of the baseline not shown")
        expect(result, "gone" in result.stdout, False, "whether it calls the other file's gone")
    expect(result, (box.work / "src/train.py").read_text(), MISTAKE, "the file with a known mistake")
    result = lint(box, "--ignore", RULE, "--baseline", "known.json", status=0)
    expect(result, "gone" in result.stdout, False, "whether it calls gone what a rule was not asked for")
    (box.work / "other.py").unlink()
    contains(result, lint(box, "--baseline", "known.json", "src", status=0).stdout, "no longer found, of the baseline: 1")


def unreadable(box: Box) -> None:
    """A file that is not Python is reported with the line; the other files are linted."""
    box.write("old.py", NOT_PYTHON)
    (box.work / "bytes.py").write_bytes(b"import torch\n\xff\xfe\x00")
    box.write("train.py", MISTAKE)
    result = lint(box, "--format", "concise", status=1)
    contains(result, result.stdout, f"train.py:{LINE}", "old.py: line 2 is no Python", "bytes.py: line 2 is not UTF-8")
    lint(box, "train.py", "old.py", status=2)
    lint(box, "bytes.py", status=2)
    (box.work / "train.py").unlink()
    result = lint(box, status=0)
    contains(result, result.stdout, "`old.py` was left out: line 2 is no Python")


def unreadable_by_permission(box: Box) -> None:
    """Files and folders without read permission, named and found in a folder."""
    box.write("train.py", MISTAKE).chmod(0)
    box.write("closed/train.py", MISTAKE)
    (box.work / "closed").chmod(0)
    box.write("open.py", CLEAN)
    for words, status, says in ((["train.py"], 2, ("Permission denied",)), ([], 0, ("`train.py` was left out", "not read", "closed"))):
        result = box.run(*like_others(), box.oomph, "lint", *words)
        expect(result, result.status, status, "the exit status")
        contains(result, result.stdout, *says)
    (box.work / "closed").chmod(0o700)
    link = box.work / "itself.py"
    link.symlink_to(link)
    refused(lint(box, "itself.py", status=2), "itself.py", "symbolic links")


WORDS = (
    (["nowhere.py"], ("nothing at `nowhere.py`",)),
    (["empty"], ("no Python file and no notebook to lint in `empty`", "--include")),
    (["--select", "acumulated-graph"], ("no rule `acumulated-graph`", "did you mean `accumulated-graph`?", "oomph rule")),
    (["--fix", "--diff"], ("cannot be used with",)),
    (["--config", "none.toml"], ("`none.toml` cannot be used: there is no such file",)),
    (["--baseline", "none.json"], ("cannot read `none.json`",)),
    (["--write-baseline", "empty"], ("`empty` would be replaced, and is no file",)),
    (["--write-baseline", "train.py"], ("`train.py` exists and is not a lint baseline",)),
)


def words_are_refused(box: Box, words: list[str], says: tuple[str, ...]) -> None:
    """Errors on the command line."""
    box.write("train.py", MISTAKE)
    (box.work / "empty").mkdir()
    refused(lint(box, *words, status=2), *says)


def suppressed(box: Box) -> None:
    """A comment suppresses findings on its line; `--no-suppressions` shows them."""
    box.write("train.py", MISTAKE.replace("total += loss", f"total += loss  # oomph: ignore[{RULE}]"))
    lint(box, status=0)
    lint(box, "--no-suppressions", status=1)


def pages(box: Box) -> None:
    """`oomph rule` lists the rules, and prints the pages of both kinds."""
    result = box.run(box.oomph, "rule")
    contains(result, result.stdout, RULE, "growing-collection", "with --pedantic")
    for name, folder in ((RULE, "lint"), ("growing-collection", "rules")):
        result = box.run(box.oomph, "rule", name)
        expect(result, (result.status, result.stdout), (0, (ROOT / "docs" / folder / f"{name}.md").read_text()), "the page")
    result = box.run(box.oomph, "rule", "acumulated-graph")
    refused(result, "no rule `acumulated-graph`", "did you mean `accumulated-graph`?")


def watch(box: Box) -> None:
    """`--watch` lints changed and new files until Ctrl-C."""
    box.write("train.py", CLEAN)
    terminal, end = pty.openpty()
    process = box.start(box.oomph, "lint", "--watch", "--format", "concise", stdout=end, stderr=end)
    os.close(end)
    read_until(terminal, "watching 1 file;")
    box.write("new.py", MISTAKE)
    shown = read_until(terminal, "watching 2 files;")
    process.send_signal(signal.SIGINT)
    result = collect(process)
    expect(result, result.status, 130, "status")
    contains(result, shown, f"new.py:{LINE}:{COLUMN}: error[{RULE}]")
    read_until(terminal, "interrupted")
    os.close(terminal)


def read_until(terminal: int, words: str) -> str:
    """Returns the output on the terminal up to these words."""
    shown = ""
    while words not in shown:
        shown += os.read(terminal, 4096).decode("utf-8", "replace")
    return shown


def help_is_complete(box: Box) -> None:
    """`--help` goes to standard output and fits 80 columns if possible."""
    result = box.run(box.oomph, "lint", "--help", env={"COLUMNS": "80"})
    expect(result, (result.status, result.stderr), (0, ""), "status and standard error")
    contains(result, result.stdout, "Usage: oomph lint", "Examples:", "Exit status: 0", "# oomph: ignore[RULE]", "pyproject.toml")


def hostile_text(box: Box) -> None:
    """Control characters in file names and source are escaped."""
    box.write("a\x1b[2Jb.py", MISTAKE.replace("total += loss", "total += loss  # \x1b[31m\u202e"))
    for form in ("terminal", "concise", "github"):
        result = lint(box, "--format", form, status=1)
        expect(result, "\x1b" in result.stdout or "\u202e" in result.stdout, False, f"whether {form} lets escapes through")


def seen_in_a_run(box: Box) -> None:
    """A leak found in a run names the line of the mistake in the source; an unrelated finding names no line."""
    result = box.check("--gpu", "rtx-4090", "--json", PROGRAMS / "leak.py")
    found = {finding["rule"]: finding for finding in result.report["findings"]}
    lines = (PROGRAMS / "leak.py").read_text().splitlines()
    [kept] = [number for number, line in enumerate(lines, 1) if "losses.append(loss)" in line]
    grown = found["growing-collection"]
    [seen] = [it for it in grown["evidence"] if it["source"] == "oomph lint"]
    expect(result, seen["what"], "`graph-in-collection` in the source", "the rule of lint")
    expect(result, seen["value"].endswith(f"leak.py:{kept}"), True, f"the line of {seen}")
    expect(result, "oomph rule graph-in-collection" in grown["remedies"][-1]["how"], True, "the remedy")
    again = box.check("--gpu", "rtx-4090", "--json", "--steps", "12", "--save", box.folder / "run", PROGRAMS / "leak.py")
    explained = box.run(box.oomph, "explain", "--json", box.folder / "run")
    told = [it for finding in explained.report["findings"] for it in finding["evidence"] if it["source"] == "oomph lint"]
    expect(again, seen in told, True, "whether explain says the same of the saved run")


CASES = [
    Case("check and explain name lint's rule", seen_in_a_run),
    Case("a terminal is told where and what", terminal),
    Case("no finding", clean),
    Case("lint --format concise", concise),
    Case("lint --json", as_json),
    Case("lint --format github", github),
    Case("lint --format sarif", sarif),
    Case("lint of standard input", standard_input),
    Case("lint of folders", folders),
    Case("settings of lint", settings),
    Case("the settings of the page", settings_of_the_page),
    *(Case(f"settings of lint: {' '.join(says)}", lambda box, row=(name, text, says): settings_are_refused(box, *row)) for name, text, says in SETTINGS),
    Case("a baseline", baseline),
    Case("a baseline of a part", baseline_of_a_part),
    Case("files that are no Python", unreadable),
    Case("a file that may not be read", unreadable_by_permission),
    *(Case(f"lint {' '.join(words)}", lambda box, row=(words, says): words_are_refused(box, *row)) for words, says in WORDS),
    Case("comments that silence", suppressed),
    Case("pages of rules", pages),
    Case("--watch", watch),
    Case("lint --help", help_is_complete),
    Case("escape sequences in source", hostile_text),
]
