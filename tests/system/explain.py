"""`oomph explain` as a command: its inputs, its answers, and its refusals."""

import json
import os
from subprocess import PIPE

import samples
from harness import PROGRAMS, Box, Case, Result, collect, contains, expect, like_others
from refusals import no_noise, refused, table
from samples import BLOCK, FORMS, HEALTHY, LOG, MIB, SNAPSHOT

# The keys that `explain --json` promises, and the keys of each error.
KEYS = {"version", "inputs", "findings", "ooms", "peak", "breakdown"}
OOM = {"framework", "device_index", "requested_bytes", "total_bytes", "free_bytes", "allocated_bytes", "reserved_bytes", "reserved_unallocated_bytes", "process_bytes", "allowed_bytes", "other_processes"}
FINDING = {"rule", "severity", "message", "location", "evidence", "remedies"}


def explain(box: Box, *words, **options) -> Result:
    """A run of `oomph explain`."""
    return box.run(box.oomph, "explain", *words, **options)


def put(box: Box, name: str, content: bytes | str | dict) -> str:
    """Writes a file in the working folder; a dict becomes the pickle of a snapshot. Returns the file's name."""
    if isinstance(content, dict):
        content = samples.pickled(content)
    path = box.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def answer(box: Box, *words, status: int = 1, **options) -> Result:
    """A run that must answer, with nothing on standard error; the JSON keeps its promises."""
    result = explain(box, "--json", *words, **options)
    expect(result, (result.status, result.stderr), (status, ""), "status and standard error")
    report = result.report
    assert KEYS <= report.keys(), f"without {KEYS - report.keys()}\n{result}"
    assert all(FINDING <= finding.keys() for finding in report["findings"]), result
    assert all(OOM <= oom.keys() for oom in report["ooms"]), result
    return result


def refuses(box: Box, says: tuple[str, ...], *words, **options) -> None:
    """A run that must refuse: a single error, and the next step."""
    refused(explain(box, *words, **options), *says)


# ---- inputs ----


def is_the_sample(result: Result) -> None:
    """The report is of `samples.SNAPSHOT`: ten blocks, made on line 7, of which each is a segment."""
    report = result.report
    expect(result, report["peak"]["allocated_bytes"], 10 * BLOCK, "peak.allocated_bytes")
    expect(result, report["peak"]["reserved_bytes"], 10 * BLOCK, "peak.reserved_bytes")
    expect(result, sum(part["bytes"] for part in report["breakdown"]), 10 * BLOCK, "the sum of the breakdown")
    expect(result, [entry["kind"] for entry in report["inputs"]], ["snapshot"], "the kinds of the inputs")
    site = report["sites"][0]
    expect(result, (site["bytes"], site["count"], site["location"]["line"]), (10 * BLOCK, 10, 7), "the first site")


def form_is_read(box: Box, content: bytes) -> None:
    """A snapshot in some form, under a name that says nothing of it; through a file, a pipe and standard input."""
    name = put(box, "some file.log", content)
    is_the_sample(answer(box, name))
    with (box.work / name).open("rb") as stdin:
        is_the_sample(answer(box, "-", stdin=stdin))
    through_a_pipe(box, content)


def through_a_pipe(box: Box, content: bytes) -> None:
    """A named pipe has no length, and cannot be read twice."""
    pipe = box.work / "pipe"
    os.mkfifo(pipe)
    process = box.start(box.oomph, "explain", "--json", pipe)
    with pipe.open("wb") as writer:
        writer.write(content)
    result = collect(process)
    expect(result, (result.status, result.stderr), (1, ""), "status and standard error")
    is_the_sample(result)


def log_is_read(box: Box, encoding: str = "utf-8") -> None:
    """The figures of a message, from a file and from standard input, named or not."""
    name = put(box, "crash.log", LOG.encode(encoding))
    with (box.work / name).open("rb") as stdin:
        results = [answer(box, name), answer(box, "-", stdin=stdin)]
    with (box.work / name).open("rb") as stdin:
        results.append(answer(box, stdin=stdin))
    for result, path in zip(results, (name, "-", "-"), strict=True):
        expect(result, (result.report["inputs"][0]["path"], result.report["inputs"][0]["kind"]), (path, "text"), "the input")
        [oom] = result.report["ooms"]
        found = oom["framework"], oom["device_index"], oom["requested_bytes"], oom["free_bytes"]
        expect(result, found, ("cuda", 0, 512 * MIB, 211 * MIB), "the figures of the error")
        expect(result, [other["pid"] for other in oom["other_processes"]], [48213], "other processes")
        expect(result, result.report["findings"][0]["rule"], "other-process-memory", "the first finding")


def nothing_is_found(box: Box) -> None:
    """A log without an error: exit status 2, as for any input that `explain` cannot use, and a sentence to that effect."""
    name = put(box, "healthy.log", HEALTHY)
    expect(result := answer(box, name, status=2), (result.report["ooms"], result.report["findings"]), ([], []), "errors and findings")
    shown = explain(box, name)
    expect(shown, (shown.status, shown.stderr), (2, ""), "status and standard error")
    contains(shown, shown.stdout, "no out-of-memory error in this text")


def log_behind_nuls(box: Box) -> None:
    """A log that logrotate truncated while its writer kept the offset: a hole before the text, which reads as NUL bytes."""
    hole, text = 64 * MIB, LOG.encode()
    with (box.work / "sparse.log").open("wb") as file:
        file.seek(hole)
        file.write(text)
    result = answer(box, "sparse.log")
    plain = answer(box, put(box, "crash.log", LOG))
    expect(result, result.report["ooms"], plain.report["ooms"], "the errors, with their lines")
    refuses(box, ("`program` is neither", "00 00"), put(box, "program", bytes(4096) + b"\x7fELF\x02\x01\x01\0\0"))


def many_errors(box: Box) -> None:
    """A job that retried without end: the report says how often it failed, and is about the last error."""
    count = 5000
    lines = [
        'Traceback (most recent call last):\n  File "/home/me/train.py", line 31, in main\n    loss.backward()\n'
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {number}.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free.\n"
        for number in range(1, count + 1)
    ]
    result = answer(box, put(box, "retries.log", "".join(lines)))
    ooms = result.report["ooms"]
    expect(result, sum(oom.get("group", {"errors": 1})["errors"] for oom in ooms), count, "the number of errors")
    first, last = ooms[0], ooms[-1]
    expect(result, (first["group"]["first_line"], last["line"]), (4, 4 * count), "the lines of the first and the last error")
    expect(result, last["requested_bytes"], count * MIB, "the request of the last error")
    assert len(ooms) < 10, f"{len(ooms)} artifacts\n{result}"
    shown = explain(box, "retries.log")
    contains(shown, shown.stdout, f"one of {count} errors", "4.88 GiB requested")
    whole = explain(box, "-v", "retries.log")
    contains(whole, whole.stdout, f"{count} errors", "since line 4", "4.88 GiB requested")


def silent_pipe(box: Box) -> None:
    """A pipe that sends nothing: after some seconds one line on standard error, and the answer is the same."""
    process = box.start(box.oomph, "explain", "--json", stdin=PIPE)
    remark = process.stderr.readline().decode()
    process.stdin.write(LOG.encode())
    process.stdin.close()
    process.stdin = None
    result = collect(process)
    expect(result, (result.status, result.stderr, len(result.report["ooms"])), (1, "", 1), "status, the rest of standard error, errors")
    contains(result, remark, "waiting for standard input", "oomph explain FILE", "Ctrl-C")


def log_and_snapshot(box: Box) -> None:
    """A log and a snapshot of the same crash: a single report, with the figures of both."""
    result = answer(box, put(box, "crash.log", LOG), put(box, "snapshot.pickle", SNAPSHOT))
    expect(result, [entry["kind"] for entry in result.report["inputs"]], ["text", "snapshot"], "the kinds of the inputs")
    expect(result, result.report["peak"]["allocated_bytes"], 10 * BLOCK, "peak.allocated_bytes")
    expect(result, len(result.report["ooms"]), 1, "the number of errors")
    assert result.report["comparison"] is None, f"a log and a snapshot are compared\n{result}"


def segments_without_a_history(box: Box) -> None:
    """The pickled list of `torch.cuda.memory_snapshot()`: the memory in use, without a history."""
    name = put(box, "segments.pickle", samples.pickled(SNAPSHOT["segments"]))
    report = explain(box, "--json", name).report
    reserved = sum(segment["total_size"] for segment in SNAPSHOT["segments"])
    assert [device["device"] for device in report["devices"]] == [SNAPSHOT["segments"][0]["device"]], report["devices"]
    assert report["peak"]["reserved_bytes"] == reserved > 0, report["peak"]
    kept = {**SNAPSHOT, "device_traces": []}
    report = explain(box, "--json", put(box, "no_traces.pickle", kept)).report
    assert report["peak"]["reserved_bytes"] == reserved, report["peak"]


def before_and_after(box: Box) -> None:
    """Two snapshots of no rank are compared, in the order of the command line."""
    before = put(box, "before.pickle", samples.snapshot(4, ran_out=False))
    after = put(box, "after.pickle", samples.snapshot(10))
    result = answer(box, before, after)
    comparison = result.report["comparison"]
    expect(result, [peak["allocated_bytes"] for peak in comparison["peaks"]], [4 * BLOCK, 10 * BLOCK], "the peaks")
    expect(result, comparison["sites"][0]["bytes"], [4 * BLOCK, 10 * BLOCK], "what differs most")
    expect(result, len(comparison["sides"]), 2, "the number of sides")


def ranks_are_one_job(box: Box) -> None:
    """Snapshots with ranks in their names are one job, named one by one or as a folder."""
    for rank, blocks in enumerate((10, 4)):
        put(box, f"job/rank{rank}.pickle", samples.snapshot(blocks, device=rank, ran_out=rank == 0))
    put(box, "job/notes.txt", "nothing of interest\n")
    put(box, "job/.hidden/rank7.pickle", b"damaged")
    for words in (("job",), ("job/rank0.pickle", "job/rank1.pickle")):
        result = answer(box, *words)
        expect(result, [entry["rank"] for entry in result.report["inputs"]], [0, 1], "the ranks")
        expect(result, result.report["peak"]["allocated_bytes"], 10 * BLOCK, "the fullest rank's peak")


def saved_run(box: Box) -> None:
    """A run saved by `check --save` is explained as it was checked."""
    saved = box.work / "run"
    checked = box.check("--json", "--vram", "600MiB", "--save", saved, PROGRAMS / "leak_graph.py")
    expect(checked, checked.status, 1, "the exit status of check")
    result = answer(box, saved)
    for key in ("allocated_bytes", "reserved_bytes"):
        expect(result, result.report["peak"][key], checked.report["peak"][key], f"peak.{key}")
    assert "run" in [entry["kind"] for entry in result.report["inputs"]], result


def part_of_a_folder_is_damaged(box: Box) -> None:
    """Unreadable files of a folder are reported; the rest is explained."""
    put(box, "job/rank0.pickle", samples.pickled(SNAPSHOT)[:-100])
    put(box, "job/rank1.log", LOG)
    result = explain(box, "--json", "job")
    expect(result, (result.status, len(result.report["ooms"])), (1, 1), "status and number of errors")
    contains(result, result.stderr, "warning: left out", "rank0.pickle", "as a snapshot")
    no_noise(result)


# ---- refusals ----

REFUSED = (
    ("a file that is not there", {}, ("nothing.log",), ("there is no file `nothing.log`",)),
    ("an empty file", {"empty.log": b""}, ("empty.log",), ("`empty.log` is empty", "2>&1")),
    ("an empty gzip", {"empty.gz": samples.gzip.compress(b"")}, ("empty.gz",), ("`empty.gz` is empty",)),
    ("an image", {"plot.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, ("plot.png",), ("`plot.png` is neither", "89 50 4e 47")),
    ("a zip of images", {"plots.zip": samples.zipped("plot.png", b"\x89PNG\0\0")}, ("plots.zip",), ("plots.zip", "among 1 members")),
    ("a pickle of something else", {"list.pkl": samples.pickled([1, 2])}, ("list.pkl",), ("list.pkl", "expected")),
    ("a pickle with code", {"evil.pkl": samples.pickled(samples.Code("touch executed"))}, ("evil.pkl",), ("`evil.pkl` cannot be read as a snapshot", "GLOBAL is refused")),
    ("a cut pickle", {"cut.pkl": FORMS["a pickle"][:-100]}, ("cut.pkl",), ("`cut.pkl` cannot be read as a snapshot",)),
    ("a cut gzip", {"cut.gz": samples.CUT_GZIP}, ("cut.gz",), ("`cut.gz` cannot be read as a snapshot",)),
    ("a gzip with a wrong checksum", {"sum.gz": samples.WRONG_CHECKSUM}, ("sum.gz",), ("`sum.gz` is damaged",)),
    ("a cut zip", {"cut.zip": FORMS["zip"][:-30]}, ("cut.zip",), ("`cut.zip` is damaged",)),
    ("cut JSON", {"cut.json": FORMS["JSON"][:-30]}, ("cut.json",), ("`cut.json` cannot be read as a snapshot",)),
    ("a folder without anything", {"job/plot.png": b"\x89PNG\0"}, ("job",), ("nothing in the folder `job`", "1 file")),
    ("a file named twice", {"a.log": LOG.encode()}, ("a.log", "a.log"), ("`a.log` was named twice",)),
    ("one good file and one bad", {"a.log": LOG.encode()}, ("a.log", "b.log"), ("there is no file `b.log`",)),
    ("a word for no format", {"a.log": LOG.encode()}, ("--format", "xml", "a.log"), ("'xml'", "terminal", "github")),
    ("--json and --format", {"a.log": LOG.encode()}, ("--json", "--format", "json", "a.log"), ("cannot be used with",)),
    ("a page in a folder that is not there", {"a.log": LOG.encode()}, ("--html", "no/why.html", "a.log"), ("cannot write `no/why.html`",)),
    ("a page in place of a folder", {"a.log": LOG.encode(), "why.html/x": b""}, ("--html", "why.html", "a.log"), ("`why.html` would be replaced",)),
)


def refuses_files(box: Box, files: dict[str, bytes], words: tuple, says: tuple[str, ...]) -> None:
    """A refusal; nothing was executed, and nothing half written is left."""
    for name, content in files.items():
        put(box, name, content)
    before = sorted(path for path in box.work.rglob("*"))
    refuses(box, says, *words)
    left = sorted(path for path in box.work.rglob("*"))
    assert left == before, f"left behind: {set(left) - set(before)}"


def empty_standard_input(box: Box) -> None:
    """Nothing on standard input is no answer."""
    refuses(box, ("`-` is empty", "2>&1"))
    refuses(box, ("`-` is empty",), "-")


def without_permission(box: Box) -> None:
    """A file of another user."""
    put(box, "secret.log", LOG)
    (box.work / "secret.log").chmod(0)
    result = box.run(*like_others(), box.oomph, "explain", "secret.log")
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "cannot read `secret.log`", "ermission denied")


def damage(box: Box) -> None:
    """Flipped bits: an answer or a refusal, never a crash."""
    whole = FORMS["a pickle"]
    for position in range(0, len(whole), len(whole) // 25):
        name = put(box, "flipped.pkl", whole[:position] + bytes([whole[position] ^ 0x10]) + whole[position + 1 :])
        result = explain(box, "--json", name)
        assert result.status in (0, 1, 2), f"bit {position}\n{result}"
        assert (result.status == 2) == ("error" in json.loads(result.stdout)), f"bit {position}\n{result}"
        no_noise(result)


CASES = [
    *table(form_is_read, FORMS.items(), "explain takes "),
    *table(refuses_files, REFUSED, "explain refuses "),
    Case("explain takes a log", log_is_read),
    Case("explain takes a log in UTF-16", lambda box: log_is_read(box, "utf-16")),
    Case("explain takes a log behind NUL bytes", log_behind_nuls),
    Case("explain counts many errors", many_errors),
    Case("explain and a pipe that is silent", silent_pipe),
    Case("explain finds nothing", nothing_is_found),
    Case("explain joins a log and a snapshot", log_and_snapshot),
    Case("explain takes segments without a history", segments_without_a_history),
    Case("explain compares two snapshots", before_and_after),
    Case("explain takes ranks as one job", ranks_are_one_job),
    Case("explain takes a saved run", saved_run),
    Case("explain leaves out a damaged part of a folder", part_of_a_folder_is_damaged),
    Case("explain refuses an empty standard input", empty_standard_input),
    Case("explain refuses a file without permission", without_permission),
    Case("explain and flipped bits", damage),
]
