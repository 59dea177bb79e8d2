"""Memory that each step leaves behind: its size, its line, and the step at which the device is full."""

from pathlib import Path

from harness import PROGRAMS, Box, Case, Result, contains, expect


# The rule for the objects that each program keeps.
RULES = {"leak.py": "growing-collection", "leak_graph.py": "retained-graph"}


def growth_of(box: Box, *words) -> tuple[Result, dict | None]:
    """The report's `growth`; the finding goes with it, and names the keeper of the memory."""
    result = box.check("--json", "--gpu", "rtx-4090", *words)
    report = result.report
    found = [finding["rule"] for finding in report["findings"] if finding["rule"] in RULES.values()]
    expected = [RULES[word.name] for word in words if isinstance(word, Path)] if report["growth"] else []
    expect(result, found, expected, "the findings about growth")
    return result, report["growth"]


def line_with(program: str, text: str) -> int:
    """The number of the only line that holds a text."""
    lines = (PROGRAMS / program).read_text(encoding="utf-8").splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if text in line]
    return number


def small_leak(box: Box) -> None:
    """Each loss is a scalar, in the allocator's smallest block."""
    result, growth = growth_of(box, "--steps", "30", PROGRAMS / "leak.py")
    assert growth is not None, result
    expect(result, growth["bytes_per_iteration"], 512, "growth.bytes_per_iteration")
    assert growth["location"]["file"].endswith("leak.py"), result
    expect(result, growth["location"]["line"], line_with("leak.py", "loss = "), "growth.location.line")
    # The device would be full after tens of millions of steps, and the program makes a few.
    expect(result, growth["full_at"], None, "growth.full_at")


def big_leak(box: Box) -> None:
    """A graph is kept: at least the output of the ReLU (2048 x 4096 floats) and the log-softmax (2048 x 10)."""
    result, growth = growth_of(box, "--steps", "30", PROGRAMS / "leak_graph.py")
    assert growth is not None, result
    kept = 2048 * 4096 * 4 + 2048 * 10 * 4
    assert kept <= growth["bytes_per_iteration"] <= kept + 4 * 512, result
    expect(result, growth["location"]["line"], line_with("leak_graph.py", "monitored = "), "growth.location.line")


def prediction_comes_true(box: Box) -> None:
    """The step named after ten steps is the step that runs out of memory when nothing stops the program."""
    card = ("--vram", "2GiB")
    told, growth = growth_of(box, *card, "--steps", "10", PROGRAMS / "leak_graph.py", "--steps", "100")
    assert growth is not None, told
    # The loop has 100 steps, and the device would be full before: what was not seen is no refusal.
    expect(told, (told.status, told.report["verdict"]), (0, "fits_so_far"), "status and verdict")
    ran, _ = growth_of(box, *card, "--steps", "0", PROGRAMS / "leak_graph.py", "--steps", "100")
    expect(ran, ran.status, 1, "the exit status")
    assert abs(ran.report["oom"]["step"] - growth["full_at"]) <= 1, f"{told}\n{ran}"


# Each pass of the loop at line 7 leaves 96 MiB, and the weight has as much: 128 passes of 12 GiB, less the weight and the context.
EXTRACTOR = """import torch
model = torch.nn.Linear(1024, 24576).cuda()
features = {}

@torch.no_grad()
def run(batches):
    for i, x in enumerate(batches):
        features[i] = model(x.cuda())

run([torch.randn(1024, 1024)] * 200)
"""


def loop_without_an_optimizer(box: Box) -> None:
    """The loop, its pass and its line are the first sentence."""
    script = box.write("extract.py", EXTRACTOR)
    result = box.check("--json", "--gpu", "rtx-4090", "--vram", "12GiB", script)
    growth = result.report["growth"]
    expect(result, result.report["findings"][0]["rule"], "growing-collection", "the first finding")
    expect(result, (growth["loop"]["line"], growth["location"]["line"]), (7, 8), "the loop and the line")
    expect(result, (growth["bytes_per_iteration"], growth["of_iterations"]), (96 << 20, 200), "the bytes of a pass, and the passes")
    context = result.report["gpu"]["context_bytes"]
    assert abs(growth["full_at"] - ((12 << 30) - context) // (96 << 20)) <= 1, result
    contains(result, result.report["headline"], "of 200; 96.00 MiB stay of each pass of the loop at extract.py:7 (extract.py:8), kept in the dict `features`")


def nothing_where_nothing_grows(box: Box, *words) -> None:
    """No growth is reported of a program that keeps nothing."""
    result, growth = growth_of(box, *words)
    expect(result, growth, None, "growth")
    expect(result, result.status, 0, "the exit status")


CLEAN = (
    ("a clean program", ("--steps", "30", PROGRAMS / "deep_mlp.py")),
    ("three steps, with the optimizer's state in the first", (PROGRAMS / "deep_mlp.py",)),
    ("accumulated gradients", ("--steps", "0", PROGRAMS / "accumulate.py")),
    ("a generation loop", ("--steps", "0", PROGRAMS / "inference.py")),
)

CASES = [
    Case("512 bytes a step", small_leak),
    Case("a graph a step", big_leak),
    Case("the device is full when it was said to be", prediction_comes_true),
    Case("a loop without an optimizer", loop_without_an_optimizer),
    *(
        Case(f"nothing grows: {name}", lambda box, words=words: nothing_where_nothing_grows(box, *words))
        for name, words in CLEAN
    ),
]
