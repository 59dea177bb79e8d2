"""Answers for coding agents: the object, the silence around it, the variables that ask for it, and the skill."""

import json
import shlex
from functools import partial

from harness import AGENTS, EXAMPLES, Box, Case, Result, contains, expect

# The keys of every object, in their order.
KEYS = ("headline", "verdict", "spare_bytes", "cause", "changes", "next")
ERROR = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.43 GiB memory in use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.\n"

# Each pass keeps 2^24 numbers of 4 bytes.
KEEPS = """\
import torch
model = torch.nn.Linear(1024, 16384, bias=False, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
for _ in range(40):
    kept.append(model(torch.randn(1024, 1024, device="cuda")).detach())
    optimizer.zero_grad()
    model(torch.randn(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
"""


def read(result: Result) -> dict:
    """Returns the object of an answer, and checks its form."""
    expect(result, result.stderr, "", "standard error")
    answer = json.loads(result.stdout)
    expect(result, tuple(key for key in answer if key in KEYS), KEYS, "the keys")
    longest = max(map(len, result.stdout.splitlines()))
    expect(result, longest < 2000, True, f"whether a line of {longest} characters is short")
    return answer


def check(box: Box, *words, **options) -> Result:
    """`oomph check --agent` of a program that keeps a graph."""
    return box.run(box.oomph, "check", "--agent", "--python", box.python, *words, **options)


def does_not_fit(box: Box) -> None:
    """The object has the verdict, the missing bytes, and a next command that can be run as it stands."""
    words = ("--gpu", "rtx-4090", "--vram", "1GiB", EXAMPLES / "gpt2.py", "--batch-size", "2")
    answer = read(result := check(box, *words))
    expect(result, (result.status, answer["verdict"], answer["spare_bytes"] < 0), (1, "oom", True), "the verdict")
    expect(result, answer["need_bytes"] - answer["device_bytes"], -answer["spare_bytes"], "the missing bytes")
    command = shlex.split(answer["next"])
    expect(result, (command[:2], command[-2:]), (["oomph", "fit"], ["--batch-size", "2"]), "the next command")


def fits(box: Box) -> None:
    """Two calls print the same bytes, and the next command looks for the largest batch."""
    words = ("--gpu", "rtx-4090", EXAMPLES / "mlp.py")
    answer = read(first := check(box, *words))
    expect(first, check(box, *words).stdout, first.stdout, "the second answer")
    expect(first, (first.status, answer["verdict"], answer["cause"], answer["changes"]), (0, "fits", None, []), "the answer")
    contains(first, answer["next"], "oomph fit --max-batch --gpu rtx-4090")


def grows(box: Box) -> None:
    """A leak has its line and the bytes of each step."""
    box.write("train.py", KEEPS)
    answer = read(result := check(box, "--gpu", "rtx-4090", "--vram", "1GiB", "train.py"))
    cause = answer["cause"]
    expect(result, (cause["file"], cause["line"]), ("train.py", 6), "the place of the cause")
    expect(result, cause["growth"]["bytes_per_iteration"], 64 << 20, "the bytes of an iteration")


def explains(box: Box, name: str) -> None:
    """Each variable of an agent asks for the object, as does ours."""
    box.write("crash.log", ERROR)
    answer = read(result := box.run(box.oomph, "explain", "crash.log", env={name: "1"}))
    expect(result, (answer["verdict"], answer["ran_out"]["requested_bytes"]), ("oom", 2 << 30), "verdict and request")


def stays_for_people(box: Box) -> None:
    """`OOMPH_AGENT=0` says that a person reads, and an explicit format stays."""
    box.write("crash.log", ERROR)
    plain = box.run(box.oomph, "explain", "crash.log").stdout
    expect(None, box.run(box.oomph, "explain", "crash.log", env={"CLAUDECODE": "1", "OOMPH_AGENT": "0"}).stdout, plain, "the report")
    report = json.loads(box.run(box.oomph, "explain", "--json", "crash.log", env={"CLAUDECODE": "1"}).stdout)
    expect(None, report["schema_version"], 1, "the version of --json")


def fails(box: Box, words: tuple[str, ...], kind: str) -> None:
    """An error is an object of the same form, with the next step."""
    answer = read(result := box.run(box.oomph, words[0], "--agent", *words[1:]))
    expect(result, (result.status, answer["verdict"], answer["kind"]), (2, "error", kind), "status, verdict and kind")
    expect(result, bool(answer.get("hint") or answer["next"]), True, "whether a next step is named")


def no_torch(box: Box) -> None:
    """A Python without PyTorch is said in one sentence."""
    box.write("train.py", "import torch\n")
    bare = box.run("python3", "-m", "venv", "--without-pip", "bare")
    expect(bare, bare.status, 0, "the status of venv")
    answer = read(result := box.run(box.oomph, "check", "--agent", "--python", "bare/bin/python", "train.py"))
    expect(result, (result.status, answer["kind"]), (2, "no_torch"), "status and kind")


def skill(box: Box) -> None:
    """The skill is printed, or written into a folder of skills, over an older one."""
    printed = box.run(box.oomph, "skill")
    contains(printed, printed.stdout, "name: oomph", "oomph check --gpu", "spare_bytes")
    for _ in range(2):
        written = box.run(box.oomph, "skill", "--install", "my skills")
        expect(written, written.stdout, "my skills/oomph/SKILL.md\n", "the printed path")
    expect(written, (box.work / "my skills/oomph/SKILL.md").read_text(encoding="utf-8"), printed.stdout, "the file")
    box.write("taken", "")
    refused = box.run(box.oomph, "skill", "--install", "taken")
    expect(refused, refused.status, 2, "the status for a folder that is a file")
    contains(refused, refused.stderr, "taken")


CASES = [
    Case("--agent: does not fit", does_not_fit),
    Case("--agent: fits", fits),
    Case("--agent: a leak", grows),
    *(Case(f"{name}=1 oomph explain", partial(explains, name=name)) for name in (*AGENTS, "OOMPH_AGENT")),
    Case("OOMPH_AGENT=0", stays_for_people),
    Case("--agent: no such file", partial(fails, words=("explain", "none.log"), kind="no_such_file")),
    Case("--agent: no such GPU", partial(fails, words=("check", "--gpu", "rtx-9999", "train.py"), kind="unknown_name")),
    Case("--agent: no such option", partial(fails, words=("check", "--vramm", "1GiB"), kind="bad_arguments")),
    Case("--agent: no PyTorch", no_torch),
    Case("oomph skill", skill),
]
