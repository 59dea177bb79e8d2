"""Runs the cross-check in parts, each in a process with a phantom GPU.

    python tests/crosscheck/check.py --oomph target/release/oomph

The Python that runs this file runs the programs.
"""

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

# The programs of a case share a process, which imports PyTorch once.
AT_A_TIME = 4
SHARE = 0.5
SECONDS = 900


def main() -> int:
    """Exit status 1 if an equality fails."""
    arguments = suite.parser(__doc__).parse_args()
    names = program_names()
    parts = [names[start : start + AT_A_TIME] for start in range(0, len(names), AT_A_TIME)]
    rows = [(", ".join(part), partial(check, arguments.oomph, part)) for part in parts]
    cases = [suite.Case(name, run, group="programs", share=SHARE) for name, run in rows]
    return suite.run("crosscheck", cases, arguments)


def program_names() -> list[str]:
    """The keys of `PROGRAMS`, read without importing PyTorch."""
    tree = ast.parse((HERE / "programs.py").read_text(encoding="utf-8"))
    (table,) = (it.value for it in tree.body if isinstance(it, ast.Assign) and it.targets[0].id == "PROGRAMS")
    return [key.value for key in table.keys]


def check(oomph: Path, names: list[str]) -> str:
    """Runs some of the programs; returns their table, which ends with the part's last line."""
    command = [oomph, "phantom", "--gpu", "rtx-4090", "--", sys.executable, HERE / "crosscheck.py", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, f"expected exit status 0, found {done.returncode}\n{done.stdout}\n{done.stderr[-3000:]}"
    last = done.stdout.splitlines()[-1]
    assert last == f"{len(names)} programs, 0 problems", done.stdout
    return last


if __name__ == "__main__":
    sys.exit(main())
