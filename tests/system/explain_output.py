"""The output of `oomph explain`: at a terminal, in a pipe, on a full disk, as a page, with hostile text."""

import json
import os
import pty
import signal
from pathlib import Path

import pages
import samples
from explain import answer, explain, put
from harness import Box, Case, collect, contains, expect
from samples import LOG, SNAPSHOT


def help_at_a_terminal(box: Box) -> None:
    """Without FILE and with nobody but a person at standard input: help, not a silent wait."""
    ours, theirs = pty.openpty()
    result = explain(box, stdin=theirs)
    os.close(theirs)
    os.close(ours)
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "Usage: oomph explain", "Examples:", "--html", "2>&1 | oomph explain")


def help_is_complete(box: Box) -> None:
    """`--help` is an answer, and fits 80 columns."""
    result = explain(box, "--help", env={"COLUMNS": "80"})
    expect(result, (result.status, result.stderr), (0, ""), "status and standard error")
    contains(result, result.stdout, "Usage: oomph explain", "Examples:", "--json", "--format", "--html", "Exit status: 0")


def pipe_without_a_writer(box: Box) -> None:
    """A pipe that no program writes to is named, and Ctrl-C ends."""
    pipe = box.work / "pipe"
    os.mkfifo(pipe)
    for command in ("explain", "lint"):
        process = box.start(box.oomph, command, pipe)
        line = process.stderr.readline().decode()
        assert "waiting for a program to write to the pipe" in line and str(pipe) in line, line
        process.send_signal(signal.SIGINT)
        result = collect(process)
        expect(result, (result.status, result.stdout), (130, ""), "status and standard output")


def interrupted(box: Box) -> None:
    """Ctrl-C while a pipe says nothing."""
    pipe = box.work / "pipe"
    os.mkfifo(pipe)
    process = box.start(box.oomph, "explain", pipe)
    # Opening waits for the reader: then it reads.
    with pipe.open("wb"):
        process.send_signal(signal.SIGINT)
        result = collect(process)
    expect(result, (result.status, result.stdout), (130, ""), "status and standard output")
    contains(result, result.stderr, "error: interrupted")


def reader_goes_away(box: Box) -> None:
    """`| head` changes nothing."""
    name = put(box, "snapshot.pickle", SNAPSHOT)
    for form in ("terminal", "concise", "github", "json"):
        reader, writer = os.pipe()
        os.close(reader)
        result = explain(box, "--format", form, name, stdout=writer)
        os.close(writer)
        expect(result, (result.status, result.stderr), (1, ""), f"status and standard error of {form}")


def full_standard_output(box: Box) -> None:
    """A report that cannot be written is no success."""
    name = put(box, "crash.log", LOG)
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = explain(box, name, stdout=full)
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "cannot write the report")


def page_to_a_pipe(box: Box) -> None:
    """A pipe is no file to replace, also while nobody reads it and standard output is a file."""
    name = put(box, "crash.log", LOG)
    os.mkfifo(box.work / "page")
    with open(box.work / "printed", "w", encoding="utf-8") as printed:
        result = explain(box, "--html", "page", name, stdout=printed)
        both = explain(box, "--html", "printed", name, stdout=printed)
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "`page` would be replaced, and is no file")
    contains(both, both.stderr, "two outputs go to `printed`")


def hostile_names(box: Box) -> None:
    """Escape codes in the names of files, of frames and in messages reach no terminal."""
    escape = "\x1b]0;owned\x07\x1b[2J"
    name = put(box, f"crash{escape}\n.log", LOG.replace("images", f"images{escape}"))
    snapshot = put(box, "snapshot.pickle", samples.snapshot(3, file=f"/home/{escape}\u202e/train.py"))
    for form in ("terminal", "concise", "github"):
        result = explain(box, "--format", form, name, snapshot)
        expect(result, result.status, 1, "the exit status")
        found = [letter for letter in "\x1b\x07\u202e" if letter in result.stdout + result.stderr]
        assert not found, f"{form} prints {found}\n{result}"
    missing = explain(box, f"no{escape}.log")
    assert missing.status == 2 and "\x1b" not in missing.stderr and "\x07" not in missing.stderr, missing


def odd_paths(box: Box) -> None:
    """Blanks, a leading dash after `--`, and bytes that are no UTF-8."""
    for name in ("a folder/my crash.log", "-crash.log"):
        result = answer(box, "--", put(box, name, LOG))
        expect(result, result.report["inputs"][0]["path"], name, "the input's path")
    odd = os.fsencode(box.work) + b"/\xffcrash.log"
    with open(odd, "w", encoding="utf-8") as file:
        file.write(LOG)
    answer(box, os.fsdecode(odd))


def formats(box: Box) -> None:
    """Each format says the rule; lines for people are at most 80 columns wide."""
    files = put(box, "crash.log", LOG), put(box, "snapshot.pickle", SNAPSHOT)
    rules = [finding["rule"] for finding in answer(box, *files).report["findings"]]
    for form in ("terminal", "concise", "github"):
        result = explain(box, "--format", form, *files)
        expect(result, (result.status, result.stderr), (1, ""), "status and standard error")
        contains(result, result.stdout, *rules)
    shown = explain(box, *files)
    wide = [line for line in shown.stdout.splitlines() if len(line) > 80]
    assert not wide, "\n".join(["wider than 80 columns:", *wide])
    told = explain(box, "--format", "json", *files)
    expect(told, json.loads(told.stdout), answer(box, *files).report, "--format json")


def page(box: Box) -> None:
    """A single file without network access, besides the answer; it replaces an older page."""
    files = put(box, "crash.log", LOG), put(box, "snapshot.pickle", SNAPSHOT)
    put(box, "why.html", "older")
    result = answer(box, "--html", "why.html", *files)
    text = (box.work / "why.html").read_text(encoding="utf-8")
    contains(result, text, "<html", "</html>", result.report["findings"][0]["rule"])
    for loaded in pages.LOADING:
        assert loaded not in text, f"the page loads something: {loaded!r}"
    names = sorted(path.name for path in box.work.iterdir())
    expect(result, names, ["crash.log", "snapshot.pickle", "why.html"], "the files")
    expect(result, (box.work / "why.html").stat().st_mode & 0o777, 0o666 & ~_umask(), "the page's permissions")


def _umask() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("Umask:")[2].split()[0], 8)


def hostile_page(box: Box) -> None:
    """Texts of a snapshot are text on the page, never markup."""
    name = put(box, "snapshot.pickle", samples.snapshot(3, file="/home/</script><script>alert(1)</script><img src=x onerror=alert(2)>/train.py"))
    answer(box, "--html", "why.html", name)
    text = (box.work / "why.html").read_text(encoding="utf-8")
    for markup in ("<script>alert(1)", "<img src=x"):
        assert markup not in text, f"the page holds {markup!r}"


CASES = [
    Case("explain at a terminal", help_at_a_terminal),
    Case("explain --help", help_is_complete),
    Case("explain and a pipe without a writer", pipe_without_a_writer),
    Case("explain and Ctrl-C", interrupted),
    Case("explain and a reader that goes away", reader_goes_away),
    Case("explain and a full standard output", full_standard_output),
    Case("explain and a page to a pipe", page_to_a_pipe),
    Case("explain and hostile names", hostile_names),
    Case("explain and odd paths", odd_paths),
    Case("explain in all formats", formats),
    Case("explain --html", page),
    Case("explain --html of hostile names", hostile_page),
]
