"""The extension of IPython in a real kernel: the rows of `%oomph`, and the memory that `%oomph free` frees.

    python tests/notebook/check.py --oomph target/debug/oomph [--half work|blind] [WORD ...]

README.md says what the first lines of a case mean. `terminal.py` has the cases of plain IPython and of bad input.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import example
import suite
import terminal
from kernel import MACHINE, Kernel, install

HALVES = "work", "blind"
SHARE = 0.3
# The outputs and `_`. A session may have names of its own for builtins.
SEEN = "[*Out], __import__('builtins').id(get_ipython().user_ns.get('_'))"
ROW = re.compile(r"(\S+) (variable|output|traceback|cycle|module|thread|graph|workspace|other) (\S+) (\S+)")


def main() -> int:
    """Exit status 1 if a case is not as its first lines say."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both]")
    parser.add_argument("--real", action="store_true", help="on the GPU of this machine")
    arguments = parser.parse_args()
    with install(arguments.oomph.absolute()) as package:
        programs = [path for half in HALVES for path in sorted(HERE.glob(f"{half}/*.py")) if arguments.half in (None, half)]
        group = "" if arguments.real else "programs"
        bodies = {f"{path.parent.name}/{path.stem}": partial(judge, package, path, arguments.real) for path in programs}
        cases = [suite.Case(name, body, group=group, share=SHARE) for name, body in bodies.items()]
        if arguments.half is None and not arguments.real:
            cases += terminal.list_cases(package) + example.list_cases(package)
        return suite.run("notebook", cases, arguments)


@dataclass
class Expected:
    """The first lines of a case, and its cells."""

    gpu: str = "rtx-4090"
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    frees: list[tuple[str, str]] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    fails: set[int] = field(default_factory=set)
    cells: list[str] = field(default_factory=list)


def read(path: Path) -> Expected:
    """Reads a case."""
    head, *cells = re.split(r"^# %%(.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = Expected()
    for line in head.splitlines():
        match = re.match(r"# (gpu|row|absent|free|says|fails): (.*)", line)
        if match:
            add(found, match[1], match[2].strip())
    for title, source in zip(cells[::2], cells[1::2]):
        again = re.fullmatch(r"\s*again (\d+)\s*", title)
        found.cells.append(found.cells[int(again[1]) - 1] if again else source.strip("\n"))
    assert found.cells, f"{path}: no cell"
    return found


def add(found: Expected, key: str, value: str) -> None:
    """Adds a line of the head."""
    if key == "gpu":
        found.gpu = re.sub(r"\s.*", "", value)
    elif key == "row":
        match = ROW.match(value)
        assert match, f"`row: {value}`: expected NAME KIND BYTES FREES"
        found.rows.append(match.groups())
    elif key == "free":
        found.frees.append(tuple(value.split()[:2]))
    elif key == "fails":
        found.fails.update(map(int, re.findall(r"\d+", value)))
    else:
        {"absent": found.absent, "says": found.says}[key].append(value)


def judge(package: Path, path: Path, is_real: bool) -> str:
    """Runs the cells and compares rows, sentences and freed bytes; returns the first sentence of `%oomph`."""
    expected = read(path)
    with Kernel(package, MACHINE if is_real else expected.gpu) as kernel:
        # Without a number, so that cell 2 of the file is `In [2]`.
        kernel.run("%load_ext oomph", store_history=False)
        said = [run_cell(kernel, number, source, expected) for number, source in enumerate(expected.cells, 1)]
        before = kernel.ask(SEEN)
        shown = kernel.run("%oomph").text
        answer = kernel.run("%oomph --json").text
        assert kernel.ask(SEEN) == before, "`%oomph` has changed `Out` or `_`"
        devices = json.loads(answer)["devices"]
        allocated = int(kernel.ask("__import__('torch').cuda.memory_allocated()"))
        problems = [*sums(devices, allocated), *widths(shown), *compare_rows(devices, expected)]
        for name, figure in expected.frees:
            now = int(kernel.ask("__import__('torch').cuda.memory_allocated()"))
            text = kernel.run(f"%oomph free {name}").text
            freed = now - int(kernel.ask("__import__('torch').cuda.memory_allocated()"))
            if figure != "~" and freed != compute(figure):
                problems.append(f"`%oomph free {name}` has freed {freed}, expected {compute(figure)}: {text}")
            said.append(text)
        everything = "\n".join([*said, shown])
        problems += [f"nothing says `{text}`" for text in expected.says if " ".join(text.split()) not in " ".join(everything.split())]
    assert not problems, "\n".join([*problems, shown, answer, *said])
    return shown.splitlines()[0]


def run_cell(kernel: Kernel, number: int, source: str, expected: Expected) -> str:
    """Runs a cell, which must end as the case says."""
    done = kernel.run(source)
    assert done.failed == (number in expected.fails), f"cell {number}: failed is {done.failed}\n{done.text}"
    return done.text


def compute(expression: str) -> int:
    """The value of an arithmetic expression."""
    return int(eval(expression, {}))


def sums(devices: list[dict], allocated: int):
    """A sum of rows that is not what PyTorch states."""
    total = sum(device["allocated_bytes"] for device in devices)
    counted = sum(row["counted_bytes"] for device in devices for row in device["rows"])
    if (total, counted) != (allocated, allocated):
        yield f"{total} allocated, the rows are {counted}, PyTorch says {allocated}"


def widths(shown: str):
    """Each line of the text that is too long."""
    for line in shown.splitlines():
        if len(line) > 80:
            yield f"a line has {len(line)} columns: {line}"


def compare_rows(devices: list[dict], expected: Expected):
    """Each row that is not as expected."""
    rows = {name: row for device in devices for row in device["rows"] for name in (row["name"], *row["aliases"])}
    for name, kind, size, frees in expected.rows:
        row = rows.get(name)
        if row is None:
            yield f"no row `{name}`"
            continue
        figures = [("kind", row["kind"], kind), ("bytes", row["bytes"], size), ("frees_bytes", row["frees_bytes"], frees)]
        for what, found, wanted in figures:
            if wanted != "~" and found != (wanted if what == "kind" else compute(wanted)):
                yield f"`{name}`: {what} is {found}, expected {wanted if what == 'kind' else compute(wanted)}"
    for name in expected.absent:
        if name in rows:
            yield f"a row `{name}`: {rows[name]}"


if __name__ == "__main__":
    sys.exit(main())
