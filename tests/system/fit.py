"""`oomph fit`: the smallest change that makes a program fit, and the answer without such a change."""

import os
import signal
import time
from functools import partial

from harness import EXAMPLES, Box, Case, Result, collect, contains, expect

# Six layers of 16 MiB of weights each; activations of 128 MiB each at its own batch size.
TRAIN = """
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=16384)
args = parser.parse_args()
layers = [layer for _ in range(6) for layer in (nn.Linear(2048, 2048), nn.ReLU())]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    x = torch.randn(args.batch_size, 2048, device="cuda")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# A program beyond all remedies: one tensor, all of it in use at once.
HUGE = "import torch\nfor _ in range(2):\n    x = torch.ones(5 << 28, device='cuda')\n"
# Fails if the result has a type that NumPy lacks.
SHOWS = TRAIN.replace("loss = model(x).square", "out = model(x)\n    loss = out.square") + "    print(out.detach().cpu().numpy().max())\n"
# The same, set up by a YAML file: a batch in parts, and a checkpoint that makes the run cache refuse its runs.
OWN_FILE = """
import os
import torch
import yaml
from torch import nn

with open("run.yaml") as file:
    settings = yaml.safe_load(file)["train"]
layers = [layer for _ in range(6) for layer in (nn.Linear(2048, 2048), nn.ReLU())]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    for _ in range(settings["micro_batches"]):
        x = torch.randn(settings["batch"] // settings["micro_batches"], 2048, device="cuda")
        (model(x).square().mean() / settings["micro_batches"]).backward()
    optimizer.step()
    optimizer.zero_grad()
    if os.path.exists("last.pt"):
        torch.load("last.pt")
    torch.save({"step": 1}, "last.pt")
"""
SETTINGS = "# how we train\ntrain:\n  batch: 16384   # rows\n  micro_batches: 1   # 'parts'\n"
FLAT = TRAIN.replace("(args.batch_size, 2048", "(1024, 2048").replace("default=16384", "default=8")


def fit(box: Box, *words, **options):
    """`oomph fit` with the Python under test."""
    chosen = ["--python", box.python] if "--" not in words else []
    return box.run(box.oomph, "fit", *chosen, *words, **options)


def fits_already(box: Box) -> None:
    """A fitting program is not changed: one run that shows the fit, and a second in a separate process."""
    box.write("train.py", TRAIN)
    result = fit(box, "--gpu", "rtx-4090", "--json", "train.py")
    expect(result, result.status, 0, "status")
    report = result.report
    expect(result, (report["verdict"], report["plans"], report["runs"]), ("fits", [], 2), "verdict, plans, runs")
    shown = fit(box, "--gpu", "rtx-4090", "train.py")
    contains(shown, shown.stdout, "fits RTX 4090 as it is", "to spare")


def a_plan_holds(box: Box) -> None:
    """The first plan, made by `check --with`, fits on the GPU where the unchanged program does not; and folklore helps nothing."""
    box.write("train.py", TRAIN)
    card = ("--gpu", "rtx-4090", "--vram", "1500MiB")
    before = box.check(*card, "--json", "train.py")
    expect(before, before.report["verdict"], "oom", "verdict of check")
    result = fit(box, *card, "--try-all", "--json", "train.py")
    expect(result, (result.status, result.report["verdict"]), (0, "fits-with-plan"), "status, verdict")
    plan = result.report["plans"][0]
    changes = [written(change) for change in plan["remedies"] if change["remedy"] != "allocator-settings"]
    after = box.check(*card, "--with", ",".join(changes), "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of check with the plan")
    expect(after, after.report["peak"]["allocated_bytes"], plan["peak"]["allocated_bytes"], "peak")
    folklore(result)


def written(change: dict) -> str:
    """A change as `--with` takes it."""
    settings = (f"{key}={value}" for key, value in change.get("settings", {}).items())
    return ":".join([change["remedy"], *settings])


def the_patch_holds(box: Box) -> None:
    """The patched script fits without oomph's help."""
    box.write("train.py", TRAIN)
    card = ("--gpu", "rtx-4090", "--vram", "1500MiB")
    result = fit(box, *card, "--allow", "batch-size", "--emit", "diff", "train.py")
    expect(result, result.status, 0, "status")
    contains(result, result.stdout, "--- a/train.py", "+++ b/train.py")
    box.write("fit.patch", result.stdout)
    applied = box.run("patch", "-p1", "-i", "fit.patch")
    expect(applied, applied.status, 0, "status of patch")
    after = box.check(*card, "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of the patched script")


def a_file_is_changed_in_place(box: Box) -> None:
    """A key of the program's own YAML file: the patch is one for `patch` and for git, --apply asks, keeps a copy, and searches nothing."""
    box.write("train.py", OWN_FILE)
    settings = box.write("run.yaml", SETTINGS)
    words = ("--gpu", "rtx-4090", "--vram", "1500MiB", "train.py")
    found = fit(box, "--json", *words)
    plan = found.report["plans"][0]
    expect(found, [one["key"] for one in plan["settings"]], ["run.yaml#train.micro_batches"], "the settings of the plan")
    wanted = SETTINGS.replace("micro_batches: 1 ", f"micro_batches: {plan['settings'][0]['to']} ")
    started = time.monotonic()
    patch = fit(box, "--emit", "diff", *words)
    expect(patch, time.monotonic() - started < 1, True, "whether --emit diff takes less than a second after a search")
    contains(patch, patch.stderr, "from the search", "ago")
    box.write("fit.patch", patch.stdout)
    git = box.run("git", "apply", "--check", "fit.patch")
    expect(git, git.status, 0, "status of git apply")
    by_patch = box.run("patch", "-p1", "-i", "fit.patch", "-o", "patched.yaml")
    expect(by_patch, (by_patch.status, (box.work / "patched.yaml").read_text()), (0, wanted), "what patch makes of the file")
    asked = fit(box, "--apply", *words)
    expect(asked, (asked.status, settings.read_text()), (2, SETTINGS), "status without a terminal, and the file")
    applied = fit(box, "--apply", "--yes", *words)
    expect(applied, (applied.status, settings.read_text()), (0, wanted), "status of --apply --yes, and the file")
    expect(applied, (box.work / "run.yaml.orig").read_text(), SETTINGS, "the copy")
    after = box.check("--gpu", "rtx-4090", "--vram", "1500MiB", "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of check")
    expect(after, after.report["peak"]["allocated_bytes"], plan["peak"]["allocated_bytes"], "peak")
    changed = fit(box, "--apply", "--yes", *words)
    contains(changed, changed.stderr, "fits RTX 4090 as it is")


def nothing_helps(box: Box) -> None:
    """A program of one huge tensor: the smallest sufficient GPU is named."""
    box.write("huge.py", HUGE)
    result = fit(box, "--gpu", "rtx-4090", "--vram", "4GiB", "huge.py")
    expect(result, result.status, 1, "status")
    contains(result, result.stdout, "no allowed change makes it fit", "the smallest GPU is", "stays    10.00 GiB")


def keep_numerics(box: Box) -> None:
    """Nothing of another precision is tried, let alone applied."""
    box.write("train.py", TRAIN)
    result = fit(box, "--gpu", "rtx-4090", "--vram", "1500MiB", "--keep-numerics", "--json", "train.py")
    tried = {row["change"]["remedy"] for row in result.report["tried"]}
    expect(result, tried & {"autocast", "optimizer-8bit", "lora"}, set(), "remedies that change numbers")
    kinds = {plan["cost"]["exactness"] for plan in result.report["plans"]}
    expect(result, kinds <= {"identical", "up-to-rounding"}, True, "exactness of the plans")


def folklore(result: Result) -> None:
    """Advice of the guides that does nothing here is reported with 0 bytes."""
    effects = {row["change"]["remedy"]: row for row in result.report["tried"]}
    need = result.report["before"]["allocated_bytes"]
    for name in ("empty-cache", "gc-collect"):
        row = effects[name]
        expect(result, (row["effect"], row["peak"]["allocated_bytes"]), ("nothing", need), name)


def one_program(box: Box) -> None:
    """A plan, its patch, and a search that keeps numerics, all of one program in one folder, so that each reuses the earlier runs."""
    a_plan_holds(box)
    the_patch_holds(box)
    keep_numerics(box)


def largest_batch(box: Box) -> None:
    """The answer fits, and one sample more does not."""
    box.write("train.py", TRAIN)
    card = ("--gpu", "rtx-4090", "--vram", "2GiB")
    result = fit(box, *card, "--target", "100", "--max-batch", "--json", "train.py", "--batch-size", "64")
    found = result.report["max_batch"]
    expect(result, found["runs"] <= 8, True, "at most 8 runs")
    verdicts = [box.check(*card, "--json", "train.py", "--batch-size", found["size"] + more).report["verdict"] for more in (0, 1)]
    expect(result, verdicts, ["fits", "oom"], "verdicts of the answer and of one sample more")


def flat_batch(box: Box) -> None:
    """A peak that does not depend on the batch is said."""
    box.write("flat.py", FLAT)
    result = fit(box, "--gpu", "rtx-4090", "--max-batch", "flat.py")
    contains(result, result.stdout, "the peak does not depend on the batch size")


def every_size(box: Box) -> None:
    """More memory never needs a dearer plan, and each row is within its size."""
    box.write("train.py", TRAIN.replace("default=16384", "default=131072"))
    result = fit(box, "--gpu", "rtx-4090", "--any-gpu", "--json", "train.py")
    rows = result.report["by_vram"]
    expect(result, [row["total_bytes"] >> 30 for row in rows], [8, 12, 16, 24, 32, 40, 48, 80, 141], "sizes")
    sizes = [len(row["plan"]["remedies"]) for row in rows if row["plan"]]
    expect(result, sizes, sorted(sizes, reverse=True), "numbers of changes")
    for row in rows:
        within = row["plan"] is None or row["plan"]["peak"]["device_bytes"] <= row["target_bytes"]
        expect(result, within, True, f"the plan for {row['total_bytes']} fits")


# Two thirds of the need are weights, gradients and states of blocks, which can be divided.
SHARDED = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Linear(4096, 2048)
        self.widen = nn.Linear(2048, 4096)

    def forward(self, x):
        return x + self.widen(torch.relu(self.narrow(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(12))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for _ in range(3):
    loss = model(torch.randn(8, 4096, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# All remedies that would make the program fit on one GPU.
ON_ONE = "lora,autocast,optimizer-8bit,optimizer-paged,optimizer-adafactor,optimizer-offload,weights-8bit,weights-4bit,weights-offload"
# Remedies without use here: activations are small. Trying all of them takes most of the time.
BESIDE = "activation-checkpointing,activation-offload,inplace-activations,no-grad-in-eval,sdpa,chunked-cross-entropy,num-workers,pin-memory,empty-cache,gc-collect"


def several_gpus(box: Box) -> None:
    """A program that does not fit one GPU is divided among two, if there are two."""
    box.write("sharded.py", SHARDED)
    words = ("--gpu", "rtx-4090", "--vram", "3GiB", "--deny", f"{ON_ONE},{BESIDE}", "--json", "sharded.py")
    one = fit(box, *words)
    expect(one, (one.status, one.report["verdict"]), (1, "does-not-fit"), "status, verdict on one GPU")
    two = fit(box, "--gpus", "2", *words)
    expect(two, (two.status, two.report["verdict"]), (0, "fits-with-plan"), "status, verdict on two GPUs")
    changes = [written(change) for change in two.report["plans"][0]["remedies"]]
    expect(two, "fully-shard:gpus=2" in changes, True, "whether it is divided among two")
    tried = [row["change"]["settings"]["gpus"] for row in two.report["tried"] if row["change"]["remedy"] == "fully-shard"]
    expect(two, tried, [2], "among how many it was tried to divide")


def raising_program(box: Box) -> None:
    """Errors of the program itself are reported as by `check`."""
    box.write("bad.py", "import torch\nx = torch.ones(3, device='cuda')\nraise ValueError('no data')\n")
    result = fit(box, "bad.py")
    expect(result, result.status, 2, "status")
    contains(result, result.stderr, "ValueError", "no data", "bad.py:3")


def raising_remedy(box: Box) -> None:
    """With autocast the program fails: its own error is said, and the search goes on without autocast."""
    box.write("train.py", SHOWS)
    others = "gradient-accumulation,batch-size,empty-cache,gc-collect,num-workers,pin-memory,sdpa,chunked-cross-entropy,lora"
    words = ("--gpu", "rtx-4090", "--vram", "1500MiB", "--deny", others, "train.py")
    answer = fit(box, *words)
    contains(answer, answer.stdout, "fits RTX 4090 with", "\n  change   ", "\n  apply    ", "\n  more     -v: all plans")
    expect(answer, "What the program fails with" in answer.stdout, False, "whether the answer has what failed")
    result = fit(box, "-v", *words)
    expect(result, result.status, 0, "status")
    plans, _, rest = result.stdout.partition("What the program fails with")
    contains(result, plans, "fits RTX 4090 with", "\n  change   ")
    contains(result, " ".join(rest.split()), "autocast:dtype=bf16 TypeError: Got unsupported ScalarType BFloat16")
    expect(result, "autocast" in plans, False, "whether autocast is in a plan")


def chance(box: Box) -> None:
    """A program whose memory depends on the clock is said to."""
    text = "import time\nimport torch\nx = torch.ones((time.time_ns() // 1000) % 1000 + 1, 1 << 20, device='cuda')\n"
    box.write("chance.py", text)
    result = fit(box, "--gpu", "rtx-4090", "chance.py")
    contains(result, result.stdout, "two runs of the same program differ by")


def interrupted(box: Box, *signals: signal.Signals) -> None:
    """A signal in a search leaves no process and no file, and what was found is shown; also where two come at once."""
    box.write("train.py", TRAIN)
    process = box.start(box.oomph, "fit", "--python", box.python, "--gpu", "rtx-4090", "--vram", "1500MiB", "train.py")
    await_runs(box, 3)
    for number in signals:
        os.kill(process.pid, number)
    result = collect(process)
    contains(result, result.stdout, "interrupted")


def await_runs(box: Box, count: int) -> None:
    """Waits until `count` dry runs were begun: each has a folder with a record for as long as it lasts."""
    begun: set[str] = set()
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        begun.update(path.parent.name for path in box.temporary.glob("*/run.json"))
        if len(begun) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no search began: {len(begun)} runs, not {count}")


def unknown_remedy(box: Box) -> None:
    """A misspelt remedy is named, with the known names."""
    result = fit(box, "--deny", "autocats", "train.py")
    expect(result, result.status, 2, "status")
    contains(result, result.stderr, "autocats", "autocast")


def pages(box: Box) -> None:
    """Every remedy of the list has a page."""
    listed = box.run(box.oomph, "remedy")
    names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    expect(listed, len(names) >= 25, True, "at least 25 remedies")
    for name in names:
        page = box.run(box.oomph, "remedy", name)
        expect(page, (page.status, page.stdout.splitlines()[0]), (0, f"# {name}"), "status and first line")


def modules(box: Box) -> None:
    """`python -m package` is searched as a script is."""
    box.write("package/__init__.py", "")
    box.write("package/train.py", TRAIN)
    words = ("--gpu", "rtx-4090", "--json", "--", box.python, "-m", "package.train", "--batch-size", "64")
    result = fit(box, *words)
    expect(result, result.report["verdict"], "fits", "verdict")


def guide(box: Box, script: str, words: tuple, card: str) -> None:
    """A situation of the guides: a plan is found, and seen to fit."""
    result = fit(box, "--gpu", card, "--json", EXAMPLES / script, *words)
    expect(result, (result.status, result.report["verdict"]), (0, "fits-with-plan"), "status, verdict")
    plan = result.report["plans"][0]
    expect(result, plan["peak"]["device_bytes"] <= result.report["gpu"]["target_bytes"], True, "the plan is within the target")


CASES = [
    Case("fits already", fits_already),
    Case("a plan and its patch hold, folklore does nothing, numerics are kept", one_program, is_long=True),
    Case("a file of the program is changed in place", a_file_is_changed_in_place),
    Case("nothing helps", nothing_helps, is_long=True, is_extra=True),
    Case("largest batch", largest_batch, is_extra=True),
    Case("a batch that does not matter", flat_batch),
    Case("every size of memory", every_size, is_extra=True),
    Case("several GPUs", several_gpus, is_extra=True),
    Case("a program that raises", raising_program),
    Case("a remedy that raises", raising_remedy, is_extra=True),
    Case("a program of chance", chance),
    Case("Ctrl-C", lambda box: interrupted(box, signal.SIGINT)),
    Case("two signals at once", lambda box: interrupted(box, signal.SIGINT, signal.SIGTERM), is_extra=True),
    Case("a misspelt remedy", unknown_remedy),
    Case("pages", pages),
    Case("python -m", modules),
    Case("GPT-2 at 64 on 24 GiB", partial(guide, script="gpt2.py", words=("--batch-size", "64"), card="rtx-4090"), is_long=True, is_extra=True),
    Case("ResNet-50 at 256 on 12 GiB", partial(guide, script="resnet50.py", words=("--batch-size", "256"), card="rtx-3060"), is_long=True, is_extra=True),
]
