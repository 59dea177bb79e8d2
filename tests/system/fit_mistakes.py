"""`oomph fit` of a program with a mistake: the mend is run, and made by `--emit diff` and `--apply`; sizes are looked for after it."""

from fit import fit
from harness import Box, Case, contains, expect

# The scores of all passes keep their graphs, in a module of the program's own.
SCORING = '''"""Scores a model."""
import torch


def score(model):
    total = 0
    for _ in range(24):
        loss = model(torch.randn(4096, 2048, device="cuda")).square().mean()
        loss.backward(retain_graph=True)
        total += loss
    return total / 24
'''
MAIN = """
import torch
from torch import nn
{start}
model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(2048, 2048), nn.ReLU())]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
total = 0
for step in range(24):
    x = torch.randn({rows}, 2048, device="cuda")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += model(x[:2048]).square().mean()
print(total)
"""
MISTAKE = "    total += model(x[:2048]).square().mean()\n"
MENDED = "    total += model(x[:2048]).square().mean().detach()\n"
CARD = ("--gpu", "rtx-4090", "--vram", "1500MiB")


def the_mend_is_the_plan(box: Box) -> None:
    """The peak that the report promises is the peak that `check` counts after `--apply`, and no size is changed."""
    text = MAIN.format(start="", rows=1024)
    script = box.write("train.py", text)
    found = fit(box, *CARD, "--json", "train.py")
    expect(found, (found.status, found.report["verdict"]), (0, "fits-with-plan"), "status and verdict")
    mend = found.report["cause"]["mend"]
    expect(found, mend["is_enough"], True, "whether the mend is enough")
    contains(found, found.report["headline"], "once a mistake is mended (train.py:14)")
    patch = fit(box, *CARD, "--emit", "diff", "train.py")
    box.write("fit.patch", patch.stdout)
    git = box.run("git", "apply", "--check", "fit.patch")
    expect(git, git.status, 0, "status of git apply")
    applied = fit(box, *CARD, "--apply", "--yes", "train.py")
    expect(applied, (applied.status, script.read_text()), (0, text.replace(MISTAKE, MENDED)), "status of --apply, and the file")
    after = box.check(*CARD, "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of check")
    expect(after, after.report["peak"]["allocated_bytes"], mend["peak"]["allocated_bytes"], "peak")


def sizes_come_after_the_mend(box: Box) -> None:
    """The mended program does not fit yet: the plan is one of the mended program, and both are in the patch."""
    script = box.write("train.py", MAIN.format(start="", rows=16384))
    card = ("--gpu", "rtx-4090", "--vram", "2GiB")
    words = (*card, "--deny", "autocast,optimizer-8bit,optimizer-paged,optimizer-adafactor,optimizer-offload")
    found = fit(box, *words, "--json", "train.py")
    expect(found, (found.status, found.report["verdict"]), (0, "fits-with-plan"), "status and verdict")
    expect(found, found.report["cause"]["mend"]["is_enough"], False, "whether the mend is enough")
    plan = found.report["plans"][0]
    patch = fit(box, *words, "--emit", "diff", "train.py")
    contains(patch, patch.stdout, "+" + MENDED)
    box.write("fit.patch", patch.stdout)
    git = box.run("git", "apply", "fit.patch")
    expect(git, git.status, 0, "status of git apply")
    contains(patch, script.read_text(), MENDED)
    after = box.check(*card, "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of check")
    expect(after, after.report["peak"]["allocated_bytes"], plan["peak"]["allocated_bytes"], "peak")


def a_module_is_mended(box: Box) -> None:
    """A mistake in a module of the program's own: the module is changed, the script is not."""
    module = box.write("scoring.py", SCORING)
    main = MAIN.format(start="import scoring", rows=256).replace(MISTAKE, "") + "print(scoring.score(model))\n"
    script = box.write("train.py", main)
    applied = fit(box, *CARD, "--apply", "--yes", "train.py")
    expect(applied, applied.status, 0, "status of --apply")
    expect(applied, script.read_text(), main, "the script")
    contains(applied, module.read_text(), ".detach()")
    after = box.check(*CARD, "--json", "train.py")
    expect(after, after.report["verdict"], "fits", "verdict of check")


CASES = [
    Case("the mend of a mistake is the plan", the_mend_is_the_plan),
    Case("sizes come after the mend", sizes_come_after_the_mend, is_long=True),
    Case("a mistake in a module", a_module_is_mended),
]
