"""The words of a verdict: what makes a program that fits one that fits so far, and growth that fills the device before its loop ends."""

from functools import partial

from harness import Box, Case, contains, expect

# The body of the loop begins at line 11.
PROGRAM = """import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []

def evaluate():
    model(torch.ones(4096, 1024, device="cuda"))

{before}
for step in range(1, 2001):
    {skip}
    model(torch.ones(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
    {after}
"""
# A matrix of 256 MiB that nothing computed. Of each selected element there are two indices of 8 bytes and the element itself, 20 bytes: 0.62 GiB
# for a half, 1.25 GiB for all.
SELECTS = """import torch
a = torch.randn(8192, 8192, device="cuda")
b = a @ a
chosen = b[b > 0]
"""

MORE = """import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while more():
    model(torch.ones(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
"""


def program(before: str = "", skip: str = "pass", after: str = "pass") -> str:
    """A loop of 2,000 steps."""
    return PROGRAM.format(before=before, skip=skip, after=after)


# Name, script, options, verdict, exit status, steps or `None`, kinds and lines of the conditions, words of the first sentence.
CASES_OF_WORDS = (
    ("steps that repeat", program(), ("--steps", "3"), "fits", 0, 3, [], "fits RTX"),
    ("short steps", program(), ("--steps", "0"), "fits", 0, 2000, [], "fits RTX"),
    (
        "an evaluation far off",
        program(after="if step % 1000 == 0: evaluate()"),
        ("--steps", "3"),
        *("fits_so_far", 0, None, [("not_run", 14)], "not run: evaluate (train.py:14)"),
    ),
    # The calls in the conditions and the bodies change nothing that is known.
    ("a loop that asks a function", "def more():\n    return next(numbers) < 300\nnumbers = iter(range(999))\n" + MORE, (), "fits", 0, None, [], "fits RTX"),
    ("a loop that asks an unknown object", "class Odd:\n    __slots__ = ()\n    def __getattr__(self, name): return self\n    def __call__(self, *_): return self\n    def __len__(self): return 10**18\nodd = Odd()\nmore = lambda: odd.any(1).of[0] if False else True\n" + MORE, (), "fits", 0, None, [], "fits RTX"),
    ("a source longer than what is followed", program() + "print()\n" * 12_000, ("--steps", "3"), "fits_so_far", 0, None, [("unread", 10_014)], "the rest of its source was not read (train.py:10014)"),
    ("with --strict", program(after="if step % 1000 == 0: evaluate()"), ("--strict", "--steps", "3"), "fits_so_far", 1, None, [("not_run", 14)], "so far"),
    ("an evaluation that is run", program(after="if step % 10 == 0: evaluate()"), (), "fits", 0, None, [], "fits RTX"),
    ("--steps is exact", program(after="if step % 10 == 0: evaluate()"), ("--steps", "3"), "fits_so_far", 0, 3, [("not_run", 14)], "so far"),
    ("steps without a gradient", program(before="for _ in range(5): optimizer.step()"), ("--steps", "3"), "fits", 0, 3, [], "fits RTX"),
    ("no step at all", program(skip="continue"), (), "fits_so_far", 0, 0, [("no_step", 3)], "no optimizer step trained a parameter (train.py:3)"),
    ("an error after a step", program(after="if step == 2: raise ValueError('bad')"), (), "fits_so_far", 0, 2, [], "after 2 of 3 steps the program raised ValueError"),
    # 16 MiB of each step: 6 GiB less the context and the rest are some 350 steps.
    (
        "growth until the device is full",
        program(after="kept.append(torch.ones(4 << 20, device='cuda'))"),
        ("--vram", "6GiB"),
        *("oom", 1, None, None, "16.00 MiB stay of each step (train.py:14), kept in the list `kept`"),
    ),
    ("growth that ends in time", program(after="kept.append(torch.ones(4 << 20, device='cuda')) if step < 20 else None"), ("--vram", "6GiB"), "fits", 0, None, [], "fits"),
    ("a share that decides nothing", SELECTS, ("--vram", "4GiB"), "fits", 0, 0, [], "fits RTX"),
    (
        "a share that decides",
        SELECTS,
        ("--vram", "2GiB"),
        *("fits_so_far", 0, 0, [("assumed", 4)], "if half of the elements are selected (train.py:4, --fraction)"),
    ),
    ("the share that the user chose", SELECTS, ("--vram", "4GiB", "--fraction", "0.5"), "fits_so_far", 0, 0, [("assumed", 4)], "so far"),
    ("a share without which it fits", SELECTS, ("--vram", "1500MiB"), "oom", 1, 0, None, "too little, if half of the elements are selected (train.py:4, --fraction)"),
)


def check(box: Box, script: str, options: tuple, verdict: str, status: int, steps: int | None, conditions: list | None, says: str) -> None:
    """The JSON and the first sentence."""
    path = box.write("train.py", script)
    result = box.check("--json", "--gpu", "rtx-4090", *options, path)
    report = result.report
    expect(result, (result.status, report["verdict"]), (status, verdict), "status and verdict")
    if steps is not None:
        expect(result, report["steps"], steps, "the steps")
    if conditions is not None:
        found = [(it["kind"], (it.get("location") or {}).get("line")) for it in report.get("conditions", [])]
        expect(result, found, conditions, "the conditions")
    contains(result, report["headline"], says)


CASES = [Case(name, partial(check, script=script, options=options, verdict=verdict, status=status, steps=steps, conditions=conditions, says=says)) for name, script, options, verdict, status, steps, conditions, says in CASES_OF_WORDS]
