"""The same programs by their snapshots alone: is the cause still the first finding of `explain`?

    python tests/blame/snapshots.py --oomph target/release/oomph [WORD ...]

`check --save` records each program that runs out, and `explain` reads nothing but the snapshot file, on a device that nobody names. Prints
one line for each program and a table by cause. Nothing fails: this is a measurement.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import expect
import judge
import proofs
import suite


def main() -> None:
    """Explains the snapshot of each program that runs out."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    chosen = [path for path in proofs.list_programs() if proofs.runs_out(path) and proofs.is_chosen(path, arguments.words)]
    with ThreadPoolExecutor(max_workers=arguments.jobs or os.cpu_count()) as pool:
        found = list(pool.map(lambda path: explain(oomph, path), chosen))
    all_of, right_of = Counter(), Counter()
    for path, rules in zip(chosen, found):
        expected = expect.read(path)
        cause, is_right = expected["cause"], rules[:1] and rules[0] in expected["first_finding"]
        all_of[cause] += 1
        right_of[cause] += bool(is_right)
        print(f"{'ok' if is_right else 'other':<6} {path.stem:<32} {cause:<20} {', '.join(rules[:3]) or 'nothing'}")
    print()
    for cause in sorted(all_of):
        print(f"{cause:<20} {right_of[cause]} of {all_of[cause]}")
    print(f"{'all':<20} {right_of.total()} of {all_of.total()}")


def explain(oomph: Path, path: Path) -> list[str]:
    """The rules of the findings about the snapshot that the program's check saves."""
    expected = expect.read(path)
    with tempfile.TemporaryDirectory() as folder:
        saved, snapshot = Path(folder) / "run", Path(folder) / "snapshot.pickle"
        options = ["--json", "--save", saved, "--gpu", "rtx-4090", "--vram", expected["vram"], "--python", sys.executable]
        subprocess.run(list(map(str, [oomph, "check", *options, path])), capture_output=True, timeout=judge.PATIENCE, cwd=folder)
        # Elsewhere, so that no record of the run lies beside the snapshot.
        shutil.move(saved / "rank0.snapshot.pickle", snapshot)
        shutil.rmtree(saved)
        done = subprocess.run([oomph, "explain", "--json", snapshot], capture_output=True, text=True, timeout=judge.PATIENCE, cwd=folder)
    return [finding["rule"] for finding in json.loads(done.stdout)["findings"]]


if __name__ == "__main__":
    main()
