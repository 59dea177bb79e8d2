"""The table of replaced functions (Note [Replacements] in `python/oomph/agent/hooks`), in processes of `oomph check`.

    python tests/hooks/check.py --oomph target/release/oomph [WORD ...]

- in a plain program the parts that act in every dry run replace their names and no part more, each name once
- a library of our own making, in which a release has renamed a parameter and removed a function, is named in the report
- each name of the table has been met by a test, in some version of the library
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))
sys.path.insert(2, str(HERE.parents[1] / "python"))

import suite
from oomph.agent.hooks.table import ROWS

KNOWN = HERE.parents[1] / "python/oomph/agent/hooks/known.json"
# What acts in every dry run on a phantom GPU.
PARTS = ("hooks.", "position.", "memory.", "process.finish", "libraries", "host.", "ranks.groups", "ranks.objects", "ranks.integers", "values.", "scenery.", "life.")
# Modules that PyTorch imports when they are needed, and a name that is there for the time of a snapshot.
LATE = ("torch.utils.checkpoint", "torch.utils.model_zoo", "torch.distributed.checkpoint.state_dict_saver", "torch")
# What the plain program calls, and some of what it does not.
CALLED = {
    "torch.optim.optimizer:Optimizer.__init__", "torch.optim.optimizer:Optimizer.add_param_group", "torch.optim.optimizer:Optimizer.zero_grad",
    "torch.optim.sgd:SGD.step", "torch.autograd.graph:_engine_run_backward", "torch.nn.modules.module:Module.cuda",
}  # fmt: skip
UNCALLED = {"torch.optim.adam:Adam.step", "torch.nn.modules.module:Module.to", "torch.serialization:load", "torch.cuda.memory:empty_cache"}
# The loader of timm, in a release that does not exist. The agent knows `load_state_dict(checkpoint_path, …)`.
RELEASE = {
    "timm/__init__.py": "__version__ = '99.1'\n",
    "timm/models/__init__.py": "",
    "timm/models/_helpers.py": "def load_state_dict(file, use_ema=True):\n    return {}\n",
    "timm/models/_hub.py": "def fetch_cached_file(url):\n    return url\n",
    "program.py": f"import timm.models._helpers, timm.models._hub\n{(HERE / 'work/plain.py').read_text(encoding='utf-8')}",
}
SENTENCE = "oomph replaces functions that have changed since it was last tested: download_cached_file (gone), load_state_dict of timm 99.1"


def main() -> int:
    """Exit status 1 if a case fails."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    cases = [
        suite.Case("a plain program", partial(check_plain, oomph), group="process"),
        suite.Case("a release that renamed", partial(check_release, oomph), group="process"),
        suite.Case("names that no test has met", check_met, group="table"),
    ]
    return suite.run("hooks", cases, arguments)


def check_plain(oomph: Path) -> str:
    """Compares the process with the table: the parts in `PARTS` have replaced all names of PyTorch, and no other part a name."""
    with tempfile.TemporaryDirectory() as folder:
        replaced = Path(folder, "replaced.jsonl")
        ask(oomph, HERE / "work/plain.py", {"OOMPH_REPLACED": str(replaced)})
        rows = [json.loads(line) for line in replaced.read_text(encoding="utf-8").splitlines()]
    found = {row["name"]: row for row in rows}
    assert len(rows) == len(found), "a name is replaced twice"
    own = {name for name, row in ROWS.items() if any(part.startswith(PARTS) for part in row.parts)}
    certain = {name for name in own if ROWS[name].library in ("torch", "os", "ctypes") and ROWS[name].module not in LATE}
    assert certain <= set(found) <= own, f"missing: {sorted(certain - set(found))}; more: {sorted(set(found) - own)}"
    called = {name for name, row in found.items() if row["is_run"] and row["library"].startswith("torch ")}
    assert called >= CALLED, f"not called: {sorted(CALLED - called)}"
    assert not called & UNCALLED, f"called: {sorted(called & UNCALLED)}"
    return f"{len(found)} names"


def check_release(oomph: Path) -> str:
    """The report names the function that has other parameters, and the one that is gone."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in RELEASE.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text, encoding="utf-8")
        # The release is none to keep.
        replaced = {"OOMPH_REPLACED": f"{folder}/replaced.jsonl"}
        notes = ask(oomph, Path(folder, "program.py"), replaced)["notes"]
    assert SENTENCE in notes, notes
    return SENTENCE


def check_met() -> str:
    """Every row has parameters in `known.json`."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    met = {name for name, entry in known.items() if set(entry["parameters"]) - {"absent"}}
    never = [name for name in ROWS if not any(other.startswith(name[:-1]) if name.endswith("*") else other == name for other in met)]
    listed = (HERE / "work/unmet.txt").read_text(encoding="utf-8").split()
    assert sorted(never) == sorted(listed), f"not listed: {sorted(set(never) - set(listed))}; met by now: {sorted(set(listed) - set(never))}"
    return f"{len(ROWS)} names, {len(never)} in no recorded run"


def ask(oomph: Path, program: Path, variables: dict[str, str]) -> dict:
    """The report on a program."""
    command = [oomph, "check", "--python", sys.executable, "--gpu", "rtx-4090", "--json", program.name]
    ran = subprocess.run(command, cwd=program.parent, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


if __name__ == "__main__":
    sys.exit(main())
