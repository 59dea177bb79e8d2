"""Runs programs with a remedy, writes the same change into their source with `crates/patch`, and compares the peaks of both.

    cargo build --release -p oomph -p patch --example patch --bins
    python tests/remedies/patched.py --oomph target/release/oomph --patch target/release/examples/patch

A case is a program, its arguments, and remedies. It is run on the phantom with the agent applying the remedies; the agent's notes go to the
patcher; the patched program is run without remedies. The allocated peak must be the same, to the byte or within the bytes that the case
states, with the reason. If the table says so, nothing may be patched, and the reason and the code must be shown. Every remedy that a plan
may contain must have a case.

Without words or `--all`, the quickest case of each remedy is run.
"""

import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite
from byhand import peaks, records_of_fork
from forks import Forks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
EXAMPLES = ROOT / "examples"
AGENT = ROOT / "python" / "oomph" / "agent" / "inject"
PATIENCE = 900
SHARE = 0.1
# The settings are the environment's, and no agent's.
SETTINGS = "allocator-settings"
# Remedies that a plan may contain.
PLANNED = set(runpy.run_path(str(ROOT / "python" / "oomph" / "agent" / "remedies" / "table.py"))["PLANNED"])


@dataclass(frozen=True)
class Case:
    """A program with remedies, and the expected result."""

    program: Path
    # Texts as `report::Change` prints them: `autocast:dtype=bf16`.
    remedies: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    # Additional bytes that the patched source keeps alive: a name for a nameless value.
    apart: int = 0
    # Words of the reason, where nothing is patched.
    refused: str | None = None
    # The line that the agent would record, in a run too large for this machine.
    noted: int | None = None
    # A package without which the case is skipped.
    needs: str | None = None

    @property
    def name(self) -> str:
        """The name in the table."""
        return " ".join((",".join(self.remedies), self.program.stem, *self.arguments))


def examples() -> list[Case]:
    """Each remedy on the programs that users see first."""
    gpt2, mlp, resnet = (EXAMPLES / f"{name}.py" for name in ("gpt2", "mlp", "resnet50"))
    small = ("--batch-size", "2", "--seq-len", "256")
    images = ("--batch-size", "4", "--no-cudnn")
    return [
        Case(gpt2, ("chunked-cross-entropy",), small, refused="must be asked for hidden states"),
        Case(gpt2, ("optimizer-fused",), small),
        Case(gpt2, ("optimizer-foreach-off",), small),
        Case(gpt2, ("optimizer-8bit",), small, needs="bitsandbytes"),
        Case(gpt2, ("optimizer-adafactor",), small),
        Case(gpt2, ("autocast:dtype=bf16",), small),
        Case(gpt2, ("activation-checkpointing",), small),
        Case(gpt2, ("activation-offload",), small),
        Case(gpt2, ("batch-size:size=4",), ("--seq-len", "256")),
        Case(gpt2, ("optimizer-fused", "autocast:dtype=bf16", "activation-checkpointing"), small),
        Case(mlp, ("autocast:dtype=bf16",)),
        Case(mlp, ("activation-offload",)),
        Case(resnet, ("optimizer-fused",), images),
        Case(resnet, ("autocast:dtype=bf16",), images),
        Case(resnet, ("activation-checkpointing",), images),
        Case(resnet, ("activation-checkpointing:blocks=5",), images),
        Case(gpt2, ("activation-checkpointing:blocks=5",), small),
        Case(resnet, ("batch-size:size=4",), ("--no-cudnn",)),
    ]


def programs() -> list[Case]:
    """The programs of the remedies' own cases."""
    program = {path.stem: path for path in PROGRAMS.glob("*.py")}
    return [
        Case(program["mlp_adamw"], ("optimizer-fused",)),
        Case(program["mlp_adamw"], ("optimizer-foreach-off",)),
        Case(program["mlp_adamw"], ("optimizer-adafactor",)),
        Case(program["mlp_adamw"], ("optimizer-8bit",), needs="bitsandbytes"),
        Case(program["mlp_adamw"], ("optimizer-paged",), needs="bitsandbytes"),
        Case(program["mlp_adamw"], ("optimizer-offload",), needs="torchao"),
        Case(program["mlp_relu"], ("autocast:dtype=bf16",)),
        Case(program["mlp_relu"], ("inplace-activations",)),
        Case(program["mlp_relu"], ("activation-offload",)),
        Case(program["residual_blocks"], ("activation-checkpointing",)),
        Case(program["residual_blocks"], ("activation-checkpointing:blocks=3",)),
        Case(program["compiled_blocks"], ("activation-memory-budget:budget=0.3",)),
        Case(program["set_to_zero"], ("set-to-none",)),
        Case(program["zero_grad_late"], ("set-to-none:place=after-step",)),
        Case(program["evaluation"], ("no-grad-in-eval",)),
        Case(program["gpt2_eager"], ("sdpa",)),
        Case(program["multihead_attention"], ("sdpa",)),
        Case(program["tiny_lm"], ("chunked-cross-entropy",)),
        Case(program["wide_layers"], ("lora:rank=4",), needs="peft"),
        Case(program["gpt2_eager"], ("lora",), needs="peft"),
        Case(program["wide_layers"], ("weights-offload",), ("--infer",), needs="accelerate"),
        Case(program["wide_layers"], ("weights-4bit",), ("--infer",), refused="layers of bitsandbytes", needs="bitsandbytes"),
        Case(program["wide_layers"], ("weights-8bit",), ("--infer",), refused="layers of bitsandbytes", needs="bitsandbytes"),
        Case(
            program["residual_blocks"],
            ("fully-shard:gpus=4",),
            refused="started once for each GPU",
            noted=36,
        ),
        Case(program["data_loader"], ("gradient-accumulation:steps=4",)),
        Case(program["batch_argparse"], ("batch-size:size=64",)),
        Case(program["batch_constant"], ("batch-size:size=64",)),
        Case(program["batch_loader"], ("batch-size:size=64",)),
        Case(program["batch_trainer"], ("batch-size:size=64",), needs="accelerate"),
        Case(program["sequence_option"], ("sequence-length:length=128",)),
        Case(program["image_transforms"], ("resolution:size=96",), needs="torchvision"),
        Case(ROOT / "tests" / "programs" / "varying_sizes.py", (f"{SETTINGS}:conf=expandable_segments:True",)),
    ]


class Bench:
    """Runs and patches in a folder of its own."""

    def __init__(self, oomph: Path, patcher: Path, python: Path, folder: Path, forks: Forks) -> None:
        self.forks = forks
        self.oomph = oomph
        self.patcher = patcher
        self.python = python
        self.folder = folder

    def run(self, script: Path, case: Case, remedies: list[dict]) -> list[dict]:
        """The records of a run."""
        if not remedies:
            return records_of_fork(self.forks, self.folder, script, *case.arguments)
        place = Path(tempfile.mkdtemp(dir=self.folder))
        inside = [remedy for remedy in remedies if remedy["remedy"] != SETTINGS]
        own = {"PYTHONPATH": AGENT, "OOMPH_RUN_DIR": place, "OOMPH_STEPS": "3", "OOMPH_REMEDIES": json.dumps(inside)}
        own |= {"PYTORCH_CUDA_ALLOC_CONF": remedy["settings"]["conf"] for remedy in remedies if remedy["remedy"] == SETTINGS}
        settings = [f"{name}={value}" for name, value in own.items()]
        command = [self.oomph, "phantom", "--gpu", "rtx-4090", "--", "env", *settings, self.python, script, *case.arguments]
        done = subprocess.run(command, cwd=place, env=plain_environment(self.folder), capture_output=True, text=True, timeout=PATIENCE)
        marks = place / "rank0.marks.jsonl"
        assert done.returncode == 0 and marks.is_file(), f"{script.name} ended with {done.returncode} and said:\n{done.stderr[-2000:]}"
        return [json.loads(line) for line in marks.read_text(encoding="utf-8").splitlines()]

    def patched(self, case: Case, remedies: list[dict], records: list[dict]) -> tuple[Path, str, str]:
        """The changed program, the diff, and what was left to the user."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        notes, script = place / "records.jsonl", place / case.program.name
        notes.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        environment = os.environ | {"OOMPH_REMEDIES": json.dumps(remedies)}
        command = [self.patcher, case.program, notes, script]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        if done.stdout:
            self._applies(case, done.stdout, script)
        return script, done.stdout, done.stderr

    def _applies(self, case: Case, diff: str, script: Path) -> None:
        """`git apply` and `patch` make of the original what the patcher wrote."""
        for tool in (["git", "apply", "-"], ["patch", "-p1", "--quiet"]):
            place = Path(tempfile.mkdtemp(dir=self.folder))
            (place / case.program.name).write_bytes(case.program.read_bytes())
            done = subprocess.run(tool, cwd=place, input=diff.encode(), capture_output=True)
            assert done.returncode == 0, f"{tool[0]} refuses the diff: {done.stderr.decode()}\n{diff}"
            assert (place / case.program.name).read_bytes() == script.read_bytes(), f"{tool[0]} makes something else of the diff\n{diff}"


def weights_stay(bench: Bench) -> str:
    """Four micro-batches of 16 train as one batch of 64 does: the weights after 12 steps on the CPU differ by rounding alone."""
    case = Case(PROGRAMS / "weights_on_cpu.py", ("gradient-accumulation:steps=4",))
    parts = {
        12: {"kind": "divide-argument", "callee": "DataLoader", "keyword": "batch_size", "parts": 4},
        17: {"kind": "scale-loss", "steps": 4},
        19: {"kind": "gate-step", "optimizer": "SGD", "steps": 4},
    }
    records = [note("gradient-accumulation", case, line, action) for line, action in parts.items()]
    script, diff, left = bench.patched(case, [change(case.remedies[0])], records)
    assert diff and not left, f"the diff is\n{diff}\nand left to the user is\n{left}"
    paths = [bench.folder / "whole.pt", bench.folder / "parts.pt"]
    for program, path in zip((case.program, script), paths, strict=True):
        subprocess.run([bench.python, program, path], env=plain_environment(bench.folder), check=True)
    code = "import sys, torch; a, b = map(torch.load, sys.argv[1:]); print(max(float((x - y).abs().max()) for x, y in zip(a, b)))"
    done = subprocess.run([bench.python, "-c", code, *paths], check=True, capture_output=True, text=True)
    # Numbers of order 1 in float64.
    assert float(done.stdout) < 1e-12, f"weights differ by {done.stdout}\n{diff}"
    return f"weights differ by {float(done.stdout):.1e}"


def snippet_holds(bench: Bench) -> str:
    """The snippet for a model of transformers with its own loss: a program with the code has the remedy's peak."""
    case = Case(EXAMPLES / "gpt2.py", ("chunked-cross-entropy:chunks=4",), ("--batch-size", "2", "--seq-len", "256"))
    remedies = [change(text) for text in case.remedies]
    records = bench.run(case.program, case, remedies)
    _, diff, left = bench.patched(case, remedies, records)
    assert not diff, f"expected no diff, found\n{diff}"
    code = left.partition("\n")[2].replace("chunked_loss(inputs, labels)  #", "chunked_loss(tokens, tokens)  #")
    source = case.program.read_text(encoding="utf-8")
    line = "        loss = model(tokens, labels=tokens).loss\n"
    assert source.count(line) == 1, f"expected `{line}` once in {case.program}"
    script = bench.folder / case.program.name
    script.write_text(source.replace(line, textwrap.indent(code, " " * 8)), encoding="utf-8")
    applied, by_hand = peaks(records), peaks(bench.run(script, case, []))
    assert applied == by_hand, f"peaks {applied} applied and {by_hand} by hand, by this code:\n{code}"
    return f"{applied[0]:16,}"


def note(remedy: str, case: Case, line: int, action: dict | None = None) -> dict:
    """A record as the agent makes it."""
    made = {"applied": True, "action": action or {"kind": "apply"}, "text": ""}
    return {"kind": "remedy", "remedy": remedy, "file": case.program.name, "line": line} | made


def plain_environment(folder: Path) -> dict[str, str]:
    """Ours, without what would change a program or oomph."""
    theirs = ("OOMPH_", "PYTORCH_", "CUDA_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LD_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    return kept | {"OOMPH_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}


def change(text: str) -> dict:
    """`autocast:dtype=bf16` as the agent takes it."""
    # A colon separates settings, unless it is inside a value.
    name, *settings = re.split(r":(?=\w+=)", text)
    pairs = (setting.split("=", 1) for setting in settings)
    return {"remedy": name, "settings": {key: int(value) if value.isdecimal() else value for key, value in pairs}}


@cache
def has(python: Path, package: str | None) -> bool:
    """True if a Python finds the package."""
    code = f"import importlib.util as util, sys; sys.exit(util.find_spec({package!r}) is None)"
    return package is None or subprocess.run([python, "-c", code], check=False).returncode == 0


def records_of(bench: Bench, case: Case, remedies: list[dict]) -> list[dict]:
    """Of a run with the remedies, where one can be made here; and of what needs no agent."""
    if case.noted is not None:
        return [note(remedies[0]["remedy"], case, case.noted)]
    settings = [note(SETTINGS, case, 0) for remedy in remedies if remedy["remedy"] == SETTINGS]
    return bench.run(case.program, case, remedies) + settings


def check(bench: Bench, case: Case) -> str:
    """Returns the text to show; an `AssertionError` states the problem."""
    if not has(bench.python, case.needs):
        raise suite.Skip(f"needs {case.needs}")
    remedies = [change(text) for text in case.remedies]
    records = records_of(bench, case, remedies)
    notes = [record for record in records if record["kind"] == "remedy"]
    assert any(one["applied"] for one in notes), f"nothing was applied: {json.dumps(notes, indent=4)}"
    script, diff, left = bench.patched(case, remedies, records)
    if case.refused is not None:
        return left_to_user(case, diff, left)
    assert diff and not left, f"the diff is\n{diff}\nand left to the user is\n{left}\nof {json.dumps(notes, indent=4)}"
    applied, patched = peaks(records), peaks(bench.run(script, case, []))
    differences = [after - before for before, after in zip(applied, patched, strict=True)]
    assert max(map(abs, differences)) <= case.apart, f"peaks {applied} applied and {patched} patched ({differences})\n{diff}"
    return f"{applied[0]:16,}" + (f" {differences[0]:+,}" if any(differences) else "")


def left_to_user(case: Case, diff: str, left: str) -> str:
    """Checks that nothing is patched, and that the site, the reason and the code are shown."""
    first, _, code = left.partition("\n")
    is_placed = re.match(r"[a-z0-9-]+ at line [1-9]", first) is not None
    assert not diff and is_placed and case.refused in first, f"expected a line and `{case.refused}`, found `{left}` and the diff\n{diff}"
    assert code.strip() and "oomph remedy" not in code, f"expected code, found `{code}`"
    return f"left to the user: {first}"


def every_remedy_has_a_case(cases: list[Case]) -> str:
    """Every remedy that a plan may contain."""
    named = {change(text)["remedy"] for case in cases for text in case.remedies}
    assert named == PLANNED, f"remedies without a case: {sorted(PLANNED - named)}; cases of no such remedy: {sorted(named - PLANNED)}"
    return f"{len(PLANNED)} remedies"


def table(bench: Bench) -> list[suite.Case]:
    """All cases."""
    every = [*examples(), *programs()]
    return [
        suite.Case("every remedy has a case", partial(every_remedy_has_a_case, every)),
        suite.Case("gradient-accumulation weights_on_cpu", partial(weights_stay, bench)),
        suite.Case("chunked-cross-entropy gpt2, by hand", partial(snippet_holds, bench)),
        *(suite.Case(case.name, partial(check, bench, case), group="programs", share=SHARE) for case in every),
    ]


def main() -> int:
    """Exit status 1 if a case fails."""
    parser = suite.parser(__doc__)
    parser.add_argument("--patch", type=Path, required=True, help="the example `patch` of the crate of that name")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the Python that runs the programs [default: this one]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-patched-") as folder:
        oomph, python = arguments.oomph.absolute(), arguments.python.absolute()
        with Forks(oomph, python, plain_environment(Path(folder))) as forks:
            bench = Bench(oomph, arguments.patch.absolute(), python, Path(folder), forks)
            return suite.run("patched", table(bench), arguments)


if __name__ == "__main__":
    sys.exit(main())
