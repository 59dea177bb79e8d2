"""Predictions of `oomph tune` from a single recording, beside the real allocator under the same settings.

The expected figures are the program's own output (`torch.cuda.max_memory_reserved`) with PyTorch 2.11 under each setting.
"""

import json
import os
import pickle
import pty
import signal
import threading
from functools import partial

import samples
from harness import PROGRAMS, Box, Case, Result, collect, contains, expect

MIB = 1 << 20
PROGRAM = PROGRAMS / "varying_sizes.py"
FRAGMENTS = PROGRAMS / "fragments.py"
CONF = "PYTORCH_CUDA_ALLOC_CONF"
# The setting, and what the program then reserves.
RESERVED = {"": 1074 * MIB, "max_split_size_mb:128": 2562 * MIB, "expandable_segments:True": 484 * MIB}
ALLOCATED = 965 * MIB // 2
KEYS = ("conf", "reserved_bytes", "allocated_bytes", "segments", "retries", "oom")


def on_the_phantom(box: Box, conf: str) -> list[int]:
    """The program's own peaks of allocated and reserved memory; its snapshot is in the working folder."""
    result = box.run(box.oomph, "phantom", "--gpu", "rtx-4090", "--", box.python, PROGRAM, env={CONF: conf})
    expect(result, result.status, 0, "the exit status")
    return [int(word) for word in result.stdout.split()[1:]]


def tune(box: Box, *words, status: int) -> Result:
    """`oomph tune`, which must end with `status`."""
    result = box.run(box.oomph, "tune", *words)
    expect(result, result.status, status, "the exit status")
    return result


def replayed(report: dict, conf: str) -> dict:
    """The result of a setting."""
    named = [*report["settings"], *report["guides"], report["current"]]
    return next(setting for setting in named if setting["conf"] == conf)


def one_recording_foretells_all(box: Box) -> None:
    """The default's recording predicts the reserved memory of three real runs under three settings, to the byte."""
    expected = {conf: [ALLOCATED, reserved] for conf, reserved in RESERVED.items()}
    found = {conf: on_the_phantom(box, conf) for conf in reversed(RESERVED)}
    result = tune(box, "--json", "snapshot.pickle", status=1)
    expect(result, found, expected, "what the real allocator does")
    report = result.report
    foretold = {conf: replayed(report, conf) for conf in RESERVED}
    told = {conf: [setting["allocated_bytes"], setting["reserved_bytes"]] for conf, setting in foretold.items()}
    expect(result, told, expected, "what the replay says")
    expect(result, report["recommended"]["conf"], "expandable_segments:True", "the recommended setting")
    expect(result, report["recommended"]["standing"], "verified", "its standing")
    expect(result, report["limit_bytes"], ALLOCATED, "the most bytes alive at once")


def the_answer_has_what_is_promised(box: Box) -> None:
    """The keys of `--json`, and the order of the settings."""
    on_the_phantom(box, "")
    result = tune(box, "--json", "snapshot.pickle", status=1)
    report = result.report
    for setting in [report["current"], *report["settings"], *report["front"]]:
        assert set(KEYS) <= set(setting), f"{setting} lacks a key of {KEYS}"
    order = [(setting["oom"], setting["too_costly"], setting["reserved_bytes"]) for setting in report["settings"]]
    expect(result, order, sorted(order), "the order of the settings")
    costs = [(setting["cost_us"], -setting["reserved_bytes"]) for setting in report["front"]]
    expect(result, costs, sorted(costs), "the order of the front")
    [trace] = report["traces"]
    expect(result, (trace["whole"], trace["agreement"]["exact"]), (True, True), "how the recording was replayed")
    expect(result, trace["recorded_reserved_bytes"], trace["replayed_reserved_bytes"], "what was reserved")
    [finding] = report["findings"]
    expect(result, finding["rule"], "fragmentation", "the finding")
    [remedy] = finding["remedies"]
    expect(result, (remedy["before_bytes"], remedy["after_bytes"]), (1074 * MIB, 484 * MIB), "what the remedy brings")
    words = {guide["conf"]: guide["effect"] for guide in report["guides"]}
    expect(result, words["max_split_size_mb:128"], "worse", "what 128 does")
    expect(result, words["max_split_size_mb:512"], "same", "what 512 does")
    expect(result, words["expandable_segments:True"], "better", "what expandable segments do")


def a_program_is_recorded_tuned_and_run_again(box: Box) -> None:
    """`tune -- COMMAND` runs the winner for real, and the run does what was foretold."""
    program = box.write("train.py", PROGRAM.read_text(encoding="utf-8"))
    words = ("tune", "--json", "--gpu", "rtx-4090", "--", box.python, program)
    result = box.run(box.oomph, *words)
    expect(result, result.status, 1, "the exit status")
    recommended = result.report["recommended"]
    expect(result, recommended["conf"], "expandable_segments:True", "the recommended setting")
    measured = {"reserved_bytes": 484 * MIB, "allocated_bytes": ALLOCATED, "retries": 0, "oom": False, "as_predicted": True}
    expect(result, recommended["measured"], measured, "what the second run came to")
    expect(result, result.report["device"]["name"], "NVIDIA GeForce RTX 4090", "the device")
    contains(result, recommended["how"], "replayed, and then run")


def a_program_that_runs_out_gets_through(box: Box) -> None:
    """A sufficient setting is found, from a kept run as well, and a real run under that setting succeeds."""
    words = ("--gpu", "rtx-4090", "--vram", "3.5GiB")
    kept = box.check(*words, "--save", "run", FRAGMENTS)
    expect(kept, kept.status, 1, "the exit status of check")
    of_run = tune(box, "--json", "run", status=1).report
    recorded = box.run(box.oomph, "tune", "--json", *words, "--", box.python, FRAGMENTS)
    expect(recorded, recorded.status, 1, "the exit status")
    for report in (of_run, recorded.report):
        expect(recorded, (report["current"]["oom"], report["recommended"]["oom"]), (True, False), "whether it runs out")
        expect(recorded, report["recommended"]["conf"].split(",")[0], "expandable_segments:True", "the setting")
        expect(recorded, report["findings"][0]["severity"], "error", "the severity")
    measured = recorded.report["recommended"]["measured"]
    expect(recorded, (measured["oom"], measured["as_predicted"]), (False, True), "the run under it")


def lines_work_where_they_are_pasted(box: Box) -> None:
    """The lines for bash and Python set exactly the value that was replayed."""
    on_the_phantom(box, "")
    result = tune(box, "--json", "snapshot.pickle", status=1)
    recommended = result.report["recommended"]
    conf, lines = recommended["conf"], recommended["lines"]
    shell = box.run("bash", "-c", f"{lines['bash']}; printenv {CONF}")
    expect(shell, shell.stdout, f"{conf}\n", "what bash sets")
    script = box.run(box.python, "-c", f"{lines['python']}\nprint(os.environ['{CONF}'])")
    expect(script, script.stdout, f"{conf}\n", "what Python sets")
    expect(result, lines["powershell"], f'$env:{CONF}="{conf}"', "the line for PowerShell")
    expect(result, lines["cmd"], f'set "{CONF}={conf}"', "the line for cmd")


def text(box: Box) -> None:
    """The report for people, in a log file: narrow, without colour, nothing on standard error."""
    on_the_phantom(box, "")
    result = tune(box, "snapshot.pickle", status=1)
    expect(result, result.stderr, "", "standard error")
    first = result.stdout.splitlines()[0]
    expect(result, first, "with expandable_segments:True 484.00 MiB are reserved, 590.00 MiB less than now", "the first line")
    contains(result, result.stdout, '    export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"\n', "1.05 GiB reserved")
    too_wide = [line for line in result.stdout.splitlines() if len(line) > 80 and CONF not in line]
    expect(result, too_wide, [], "the lines wider than 80 columns")
    concise = tune(box, "--format", "concise", "snapshot.pickle", status=1)
    expect(concise, concise.stdout.splitlines(), [first, f'export {CONF}="expandable_segments:True"'], "the short form")
    github = tune(box, "--format", "github", "snapshot.pickle", status=1)
    contains(github, github.stdout, "::warning title=fragmentation::the allocator reserves 1.05 GiB")


def a_setting_that_harms_is_named(box: Box) -> None:
    """Recorded under the setting of the guides, the remedy is to drop it; or what is better still."""
    on_the_phantom(box, "max_split_size_mb:128")
    result = tune(box, "--json", "snapshot.pickle", status=1)
    current = result.report["current"]
    expect(result, (current["conf"], current["reserved_bytes"]), ("max_split_size_mb:128", 2562 * MIB), "now")
    expect(result, result.report["findings"][0]["rule"], "allocator-setting-harmful", "the finding")


def nothing_to_gain(box: Box) -> None:
    """If the best setting is in force, the answer says so, and the status is 0."""
    on_the_phantom(box, "expandable_segments:True")
    result = tune(box, "--json", "snapshot.pickle", status=0)
    expected = "no setting is worth it: 484.00 MiB reserved, and no allocator could save more than 1.50 MiB of it"
    expect(result, (result.report["headline"], result.report["verdict"]), (expected, "nothing_better"), "the answer")


def too_small_a_device(box: Box) -> None:
    """The live memory does not fit: that is a proof for all settings."""
    on_the_phantom(box, "")
    result = tune(box, "--json", "--vram", "400MiB", "snapshot.pickle", status=1)
    report = result.report
    expected = "no setting helps: 482.50 MiB are alive at once, more than the 400.00 MiB that PyTorch can have"
    expect(result, (report["headline"], report["verdict"]), (expected, "oom"), "the answer")
    expect(result, (report["recommended"], report["findings"][0]["rule"]), (None, "need-exceeds-device"), "the finding")
    result = tune(box, "--json", "--vram", "500MiB", "snapshot.pickle", status=1)
    needs = result.report["needs"]
    # Cached memory is released before an error is raised, so even the default succeeds; but only by retries.
    expect(result, (needs["current_bytes"], needs["recommended_bytes"]), (484 * MIB, 484 * MIB), "the least memory")
    retries = (result.report["current"]["retries"], result.report["recommended"]["retries"])
    expect(result, retries, (2, 0), "retries now and then")


def several_recordings(box: Box) -> None:
    """The figures of a setting are the worst over all recordings."""
    for conf, name in (("", "rank0.pickle"), ("expandable_segments:True", "rank1.pickle")):
        on_the_phantom(box, conf)
        (box.work / "snapshot.pickle").rename(box.work / name)
    result = tune(box, "--json", "rank0.pickle", "rank1.pickle", status=1)
    expect(result, [trace["rank"] for trace in result.report["traces"]], [0, 1], "the ranks")
    expect(result, result.report["current"]["reserved_bytes_by_trace"], [1074 * MIB, 484 * MIB], "now")
    expect(result, replayed(result.report, "max_split_size_mb:128")["reserved_bytes_by_trace"], [2562 * MIB] * 2, "128")
    contains(result, " ".join(result.report["notes"]), "recorded under different settings")


def empty_cache(box: Box) -> None:
    """Emptying the cache where asked: after each batch nothing larger than one is ever held."""
    on_the_phantom(box, "")
    # Five weights with their segments, then a segment, a request and a free for the first batch.
    with open(box.work / "snapshot.pickle", "rb") as file:
        events = pickle.load(file)["device_traces"][0]
    frees = [index for index, event in enumerate(events) if event["action"] == "free_completed"]
    result = tune(box, "--json", "--empty-cache-at", frees[0], "snapshot.pickle", status=1)
    [tried] = result.report["empty_cache"]
    # After the first batch alone: 240 MiB are given back before 350 and 480 are asked for, and asked for again.
    expect(result, (tried["times"], tried["reserved_bytes"]), (1, (350 + 480 + 4) * MIB), "with one call")
    places = ",".join(map(str, frees))
    result = tune(box, "--json", "--empty-cache-at", places, "snapshot.pickle", status=1)
    [tried] = result.report["empty_cache"]
    expect(result, (tried["times"], tried["reserved_bytes"]), (len(frees), (480 + 4) * MIB), "with a call after each")
    wrong = tune(box, "--empty-cache-at", str(len(events)), "snapshot.pickle", status=2)
    contains(wrong, wrong.stderr, f"--empty-cache-at {len(events)}", f"the histories have {len(events)} at most")


BAD = (
    ("a damaged snapshot", samples.pickled(samples.SNAPSHOT)[:300], ("`bad` cannot be read as a snapshot",)),
    ("a damaged archive", samples.CUT_GZIP, ("`bad`",)),
    ("a log", samples.LOG.encode(), ("`bad` is a text, expected a memory snapshot", "_record_memory_history")),
    ("a snapshot without history", samples.pickled({**samples.SNAPSHOT, "device_traces": [[]]}), ("`bad` has no memory history",)),
    ("something else", bytes(range(256)), ("`bad` is neither a snapshot nor a text",)),
)


def bad(box: Box, content: bytes, parts: tuple[str, ...]) -> None:
    """An untunable file is named, with the found and the expected content."""
    (box.work / "bad").write_bytes(content)
    result = tune(box, "bad", status=2)
    expect(result, result.stdout, "", "standard output")
    contains(result, result.stderr, "error: ", *parts)


def long_history() -> dict:
    """Segments that come and go, a few hundred thousand times: a long search."""
    events = []
    for index in range(100_000):
        common = {"addr": 0x7F0000000000, "size": samples.BLOCK + index % 999 * 512, "stream": 0, "frames": [], "time_us": index}
        first = [{"action": "segment_alloc", **common, "size": 4 * samples.BLOCK}] if index == 0 else []
        events += [*first, *({"action": action, **common} for action in ("alloc", "free_requested", "free_completed"))]
    return {**samples.SNAPSHOT, "segments": [], "device_traces": [events]}


def interrupted(box: Box) -> None:
    """Ctrl-C ends the search with the best so far, and a note; until then a terminal shows the progress."""
    box.write("long.json", json.dumps(long_history()))
    terminal, end = pty.openpty()
    process = box.start(box.oomph, "tune", "--json", "long.json", stderr=end)
    os.close(end)
    shown = b""
    while b"at best" not in shown and process.poll() is None:
        shown += os.read(terminal, 4096)
    process.send_signal(signal.SIGINT)
    # The terminal's output must be read, or its writer waits.
    threading.Thread(target=drain, args=(terminal,), daemon=True).start()
    result = collect(process)
    expect(result, result.status, 130, "status")
    contains(result, shown.decode("utf-8", "replace"), "replaying", "at best")
    expect(result, result.report["search"]["interrupted"], True, "whether it was interrupted")
    contains(result, " ".join(result.report["notes"]), "the search was interrupted")


def drain(terminal: int) -> None:
    """Reads a terminal until nobody writes to it any more."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        os.close(terminal)


CASES = [
    Case("one recording foretells three runs", one_recording_foretells_all),
    Case("the answer has what is promised", the_answer_has_what_is_promised),
    Case("a program is recorded, tuned, and run again", a_program_is_recorded_tuned_and_run_again),
    Case("a program that runs out gets through", a_program_that_runs_out_gets_through),
    Case("lines work where they are pasted", lines_work_where_they_are_pasted),
    Case("text", text),
    Case("a setting that harms is named", a_setting_that_harms_is_named),
    Case("nothing to gain", nothing_to_gain),
    Case("too small a device", too_small_a_device),
    Case("several recordings", several_recordings),
    Case("empty_cache", empty_cache),
    *(Case(name, partial(bad, content=content, parts=parts)) for name, content, parts in BAD),
    Case("Ctrl-C", interrupted, alone=True),
]
