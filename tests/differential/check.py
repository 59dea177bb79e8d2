"""Runs random programs in real PyTorch on the phantom, and the same operations in the allocator model: every answer must be equal.

    python tests/differential/check.py --oomph target/release/oomph --golden target/release/examples/golden

The Python that runs this file runs the programs. README.md has longer runs.
"""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

SECONDS = 900
# The options of each case; programs 0 to 299 of the first seed, 0 to 99 of the second.
PARTS = {
    "seed 1, programs 0 to 149": ("--seed", 1, "--only", *range(150)),
    "seed 1, programs 150 to 299": ("--seed", 1, "--only", *range(150, 300)),
    "seed 2, programs 0 to 49, racing": ("--seed", 2, "--race", "--only", *range(50)),
    "seed 2, programs 50 to 99, racing": ("--seed", 2, "--race", "--only", *range(50, 100)),
}


def main() -> int:
    """Exit status 1 if an answer differs."""
    parser = suite.parser(__doc__)
    parser.add_argument("--golden", type=Path, required=True, help="the example `golden` of the crate allocator")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-differential-") as folder:
        cases = [
            suite.Case(name, partial(check, arguments, Path(folder) / f"{number}.jsonl", options))
            for number, (name, options) in enumerate(PARTS.items())
        ]
        return suite.run("differential", cases, arguments)


def check(arguments, programs: Path, options: tuple) -> str:
    """Runs programs, then the model on their records."""
    command = [arguments.oomph, "phantom", "--gpu", "rtx-4090", "--", sys.executable, HERE / "driver.py", *map(str, options)]
    with programs.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, timeout=SECONDS)
    assert done.returncode == 0, f"the driver ended with {done.returncode}\n{done.stderr.decode(errors='replace')[-3000:]}"
    compared = subprocess.run([arguments.golden, programs], capture_output=True, text=True, timeout=SECONDS)
    assert compared.returncode == 0, f"the model ended with {compared.returncode}\n{compared.stdout[-3000:]}{compared.stderr[-3000:]}"
    programs.unlink()
    return compared.stdout.splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())
