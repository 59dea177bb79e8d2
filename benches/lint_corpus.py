"""What linters find in the pairs of `crates/lint/corpus`, beside each other.

    python benches/lint_corpus.py --oomph target/release/oomph [--tools ENVIRONMENT] [HALF ...]

`--tools` is a virtual environment with other linters (`pip install torchfix torch-preflight ruff`); what it lacks is skipped, and said.
Each version of each case becomes a folder; a tool reads all folders in one run. A mistake is found if a tool says more in the version with
the mistake than in the mended one, of whatever code. A false alarm is a finding in a mended version or a look-alike of a code by which the
tool has found a mistake anywhere. The seconds are those on a core.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "crates/lint/corpus"
BLOCK = re.compile(r"^```(diff|python)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Runs every tool on every half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True, type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, help="a virtual environment")
    parser.add_argument("halves", nargs="*", default=["seen", "more", "blind"])
    arguments = parser.parse_args()
    scripts = (arguments.tools or pathlib.Path("none")).resolve() / "bin"
    for half in arguments.halves:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            pairs, alikes = write_cases(CORPUS / half, root)
            print(f"{half}: {len(pairs)} mistakes, {len(pairs) + len(alikes)} versions without one")
            print(f"{'':<18}{'found':>12}{'false alarms':>14}{'seconds':>10}")
            for name, command, read in tools(arguments.oomph.resolve(), scripts):
                report(name, command, read, root, pairs)


def report(name, command, read, root, pairs) -> None:
    """Runs a tool and prints its row."""
    if not shutil.which(command[0]):
        print(f"{name:<18}{'not installed':>26}")
        return
    seconds, output = run(command, root)
    found = collections.Counter()
    for path, code in read(output):
        parts = pathlib.Path(os.path.relpath(root / path, root)).parts
        found[parts[0], parts[1], code] += 1
    codes = {code for _, _, code in found}
    hits, scored = 0, set()
    for case in pairs:
        better = {code for code in codes if found[case, "before", code] > found[case, "after", code]}
        hits += bool(better)
        scored |= better
    alarms = sum(count for (_, version, code), count in found.items() if version == "after" and code in scored)
    print(f"{name:<18}{f'{hits} of {len(pairs)}':>12}{alarms:>14}{seconds:>10.2f}", flush=True)


def write_cases(half: pathlib.Path, root: pathlib.Path) -> tuple[list[str], list[str]]:
    """Writes the versions of each case; the names of pairs and of look-alikes."""
    pairs, alikes = [], []
    for page in sorted(half.glob("*.md")):
        for number, part in enumerate(re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]):
            blocks = BLOCK.findall(part)
            case = f"{page.stem}_{number}"
            (pairs if any(kind == "diff" for kind, _, _ in blocks) else alikes).append(case)
            for index, (kind, name, body) in enumerate(blocks):
                name = name.strip() or f"main{index}.py"
                lines = body.splitlines()
                versions = {"after": [line[1:] for line in lines if line[:1] != "-"] if kind == "diff" else lines}
                if kind == "diff":
                    versions["before"] = [line[1:] for line in lines if line[:1] != "+"]
                for version, text in versions.items():
                    path = root / case / version / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text("\n".join(text) + "\n")
    return pairs, alikes


def run(command: list[str], folder: pathlib.Path) -> tuple[float, str]:
    """Runs a command in a folder: seconds on a core, and what it printed."""
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, done.stdout


def tools(oomph: pathlib.Path, scripts: pathlib.Path):
    """Each tool: its name, its command, and the reader of its output."""
    concise = re.compile(r"^(\S+\.py):\d+(?::\d+)?:? \[?([A-Z]+\d+)\]?", re.MULTILINE)

    def lines(output: str):
        return [(at[1], at[2]) for at in concise.finditer(output)]

    def own(output: str):
        return [(it["location"]["file"], it["rule"]) for it in json.loads(output)["findings"]]

    def preflight(output: str):
        return [(it["path"], it["code"]) for it in json.loads(output)["diagnostics"]]

    yield "oomph", [str(oomph), "lint", "--isolated", "--json", "."], own
    yield "oomph --pedantic", [str(oomph), "lint", "--isolated", "--pedantic", "--json", "."], own
    yield "torch-preflight", [str(scripts / "torch-preflight"), "check", "-j", "1", "-f", "json", "."], preflight
    yield "TorchFix", [str(scripts / "torchfix"), "-j", "1", "--select=ALL", "."], lines
    yield "ruff", [str(scripts / "ruff"), "check", "--isolated", "--select", "A,ASYNC,B,BLE,C4,F,FURB,NPY,PERF,PL,RET,RUF,S,SIM,TRY", "--output-format", "concise", "."], lines


if __name__ == "__main__":
    main()
