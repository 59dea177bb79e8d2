"""`oomph sweep` and `oomph watch`: replayed configurations have the figures of runs, what is known is kept, and bad input is named."""

import fcntl
import json
from functools import partial
from pathlib import Path

from harness import Box, Case, Result, contains, expect

# The peak is a line in the batch; the width of a layer depends on another option.
TRAIN = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--kind", choices=["plain", "deep"], default="plain")
args = parser.parse_args()
if args.batch_size == 5 and args.kind == "deep":
    raise SystemExit("batches of five are not for deep networks")
layers = [torch.nn.Linear(args.width, args.width) for _ in range(2 if args.kind == "plain" else 4)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(args.batch_size, 2048, args.width, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GRID = ("--grid", "batch=1..9,kind=plain,deep", "--gpu", "rtx-4090")
# What a replay must say as a run says it.
FIGURES = ("number", "params", "gpu", "verdict", "need_bytes", "spare_bytes", "allocated_bytes", "reserved_bytes", "command", "error")


def sweep(box: Box, *words, **options) -> Result:
    """Runs the command with the Python under test, and with a cache of the case's own."""
    env = {"OOMPH_PYTHON": box.python, "OOMPH_CACHE_DIR": box.folder / "cache"}
    return box.run(box.oomph, "sweep", *words, env=env, **options)


def points_of(folder: Path) -> list[dict]:
    """The points of a sweep, in the order of the configurations and GPUs."""
    points = [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]
    return sorted(points, key=lambda point: (point["number"], point["gpu"]))


def figures_of(points: list[dict]) -> list[dict]:
    """The figures without the way to them."""
    return [{name: point[name] for name in FIGURES} for point in points]


def replays_are_runs(box: Box) -> None:
    """Every configuration has the figures of a dry run of its own, also those that were replayed."""
    box.write("train.py", TRAIN)
    some = sweep(box, *GRID, "--out", "some", "train.py")
    every = sweep(box, *GRID, "--out", "every", "--run-all", "train.py")
    expect(some, (some.status, every.status), (0, 0), "status")
    found, expected = points_of(box.work / "some"), points_of(box.work / "every")
    expect(some, figures_of(found), figures_of(expected), "points")
    expect(every, {point["how"] for point in expected}, {"run"}, "how with --run-all")
    replayed = sum(point["how"] == "replayed" for point in found)
    expect(some, replayed >= 4, True, f"whether four of {len(found)} were replayed, and not {replayed}")
    failed = [point for point in found if point["verdict"] == "failed"]
    expect(some, [point["params"] for point in failed], [{"batch": 5, "kind": "deep"}], "the configurations that fail")
    contains(some, failed[0]["error"], "batches of five are not for deep networks")
    contains(some, found[2]["command"], "train.py --batch-size 2 --kind plain")
    expect(some, (box.work / "some" / "points.parquet").read_bytes()[:4], b"PAR1", "the first bytes of the table")


def only_what_is_missing(box: Box) -> None:
    """A sweep goes on where it was stopped, and begins anew once the program has changed."""
    box.write("train.py", TRAIN)
    words = ("--grid", "batch=1..3,width=256,512", "--gpu", "rtx-4090", "--json", "--out", "kept", "train.py")
    whole = sweep(box, *words).report
    file = box.work / "kept" / "points.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    # The last line of a killed call is cut.
    file.write_text("".join(lines[:3]) + lines[3][:40])
    again = sweep(box, *words)
    expect(again, (again.report["runs"], again.report["kept"]), (3, 3), "runs and kept points")
    expect(again, figures_of(again.report["points"]), figures_of(whole["points"]), "points")
    expect(again, again.report["is_partial"], False, "whether points are missing")
    box.write("train.py", TRAIN.replace("range(3)", "range(4)"))
    changed = sweep(box, *words)
    expect(changed, (changed.report["runs"], changed.report["kept"]), (6, 0), "runs and kept points after a change")
    contains(changed, " ".join(changed.report["notes"]), "every configuration was asked again")


def one_run_for_many_gpus(box: Box) -> None:
    """GPUs of one compute capability share their runs, and each is judged by its own memory and context."""
    box.write("train.py", TRAIN)
    found = sweep(box, "--grid", "batch=64,512", "--gpu", "rtx-3060,rtx-3090,rtx-4090", "--json", "train.py")
    report = found.report
    expect(found, (report["configurations"], report["runs"]), (2, 4), "configurations and runs")
    ampere = [gpu for gpu in report["gpus"] if gpu["run_for"].endswith("3090")]
    expect(found, len(ampere), 2, "GPUs that were run for the RTX 3090")
    verdicts = {(point["params"]["batch"], point["gpu"].split()[-1]): point["verdict"] for point in report["points"]}
    expect(found, verdicts[64, "3060"], "fits", "verdict of 64 on the RTX 3060")
    expect(found, verdicts[512, "3060"], "oom", "verdict of 512 on the RTX 3060")
    alone = sweep(box, "--grid", "batch=64,512", "--gpu", "rtx-3060", "--json", "train.py").report["points"]
    shared = [point for point in report["points"] if point["gpu"].endswith("3060")]
    expect(found, figures_of(shared), figures_of(alone), "points of the RTX 3060, shared and alone")
    for point in report["points"]:
        expect(found, point["need_bytes"] + point["spare_bytes"], point["capacity_bytes"], "need and spare bytes")


def an_entry_point_is_forked(box: Box) -> None:
    """The entry point of a package gets each configuration's words, as the script does."""
    tool = box.write("bin/tool", f"#!{box.python}\n{TRAIN}")
    tool.chmod(0o755)
    box.write("train.py", TRAIN)
    words = ("--grid", "batch=1,4,9", "--gpu", "rtx-4090", "--json")
    script = sweep(box, *words, "train.py").report["points"]
    path = f"{tool.parent}:{box.environment['PATH']}"
    for command in (["tool"], [str(tool)]):
        found = box.run(
            box.oomph, "sweep", *words, "--", *command, "--batch-size", "2", env={"PATH": path, "OOMPH_CACHE_DIR": box.folder / "cache"}
        )
        points = found.report["points"]
        expect(found, [point["need_bytes"] for point in points], [point["need_bytes"] for point in script], "needs of the entry point and the script")
        contains(found, points[2]["command"], f"{command[0]} --batch-size 9")


def refused(words: tuple, status: int, text: str, box: Box) -> None:
    """The error names what was found and what was expected, before anything runs."""
    box.write("train.py", TRAIN)
    box.write("bad.jsonl", '{"batch": 8}\n{"batch": \n')
    box.write("other.jsonl", '{"batch": 8}\n{"width": 8}\n')
    found = sweep(box, *words, "--gpu", "rtx-4090", "train.py")
    expect(found, found.status, status, "status")
    contains(found, found.stderr, text)


def another_sweep(box: Box) -> None:
    """Two sweeps do not share a folder, neither later nor at the same time."""
    box.write("train.py", TRAIN)
    expect(first := sweep(box, "--grid", "batch=1,2", "--gpu", "rtx-4090", "--out", "kept", "train.py"), first.status, 0, "status")
    other = sweep(box, "--grid", "batch=3,4", "--gpu", "rtx-4090", "--out", "kept", "train.py")
    expect(other, other.status, 2, "status of another sweep")
    contains(other, other.stderr, "`kept` holds another sweep")
    with (box.work / "kept" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = sweep(box, "--grid", "batch=1,2", "--gpu", "rtx-4090", "--out", "kept", "train.py")
    expect(busy, busy.status, 2, "status of a second call")
    contains(busy, busy.stderr, "another oomph is at work in `kept`")


def a_save_is_answered(box: Box) -> None:
    """The change of the need is that of the edited line, and an error is said."""
    script = box.write("train it.py", TRAIN)
    watch = box.start(box.oomph, "watch", "--json", "--gpu", "rtx-4090", "--saves", "3", "train it.py", env={"OOMPH_PYTHON": box.python}, text=True)
    first = json.loads(watch.stdout.readline())
    # Two layers of 512 by 512 and 512 become layers of 1024.
    script.write_text(TRAIN.replace('"--width", type=int, default=512', '"--width", type=int, default=1024'))
    wider = json.loads(watch.stdout.readline())
    script.write_text(TRAIN.replace("import torch\n", "import torch\nraise KeyError('width')\n"))
    failed = json.loads(watch.stdout.readline())
    script.write_text("# A comment moves every line.\n" + TRAIN)
    moved = json.loads(watch.stdout.readline())
    _, stderr = watch.communicate(timeout=60)
    result = Result([str(box.oomph), "watch"], watch.returncode, "", stderr)
    expect(result, (first["verdict"], wider["verdict"], watch.returncode), ("fits", "fits", 0), "verdicts and status")
    expect(result, wider["change_bytes"], wider["need_bytes"] - first["need_bytes"], "change of the need")
    expect(result, wider["change_bytes"] > 0 and len(wider["lines"]) > 0, True, "whether lines are named")
    expect(result, (failed["verdict"], "KeyError" in failed["error"]), ("failed", True), "verdict of a program that raises")
    expect(result, moved["need_bytes"], first["need_bytes"], "need after a comment")


REFUSED = {
    "an option that the program does not know": (("--grid", "--depth=1,2"), 2, "the program has no setting `--depth`; it has `--batch-size`"),
    "a value that the option does not take": (("--grid", "kind=plain,wide"), 2, "`--kind` does not take wide; it takes plain, deep"),
    "a range without values": (("--grid", "batch=9..1"), 2, "`9..1` is no range"),
    "ten million configurations": (("--grid", "batch=1..10000,width=1..1000"), 2, "the grid has 10,000,000 configurations, more than 20,000"),
    "a damaged line of configurations": (("--configs", "bad.jsonl"), 2, "`bad.jsonl` is no list of configurations: line 2"),
    "configurations with other names": (("--configs", "other.jsonl"), 2, "configuration 2 has other names than the first"),
    "a Ray cluster without Ray": (("--grid", "batch=1,2", "--ray", "auto"), 2, "Ray is not installed in this Python"),
    "an unknown GPU among several": (("--grid", "batch=1", "--gpu", "rtx-4090,rtx-9999"), 2, "rtx-9999"),
}
CASES = [
    Case("a replayed configuration has the figures of its run", replays_are_runs),
    Case("a stopped sweep goes on", only_what_is_missing),
    Case("one run answers for a compute capability", one_run_for_many_gpus),
    Case("a folder has one sweep", another_sweep),
    Case("the entry point of a package gets its words", an_entry_point_is_forked),
    *(Case(f"{name} is refused", partial(refused, *case)) for name, case in REFUSED.items()),
    Case("watch: an answer at each save", a_save_is_answered),
]
