"""What stand-ins cost an operator: `torch.add` on the phantom with the agent, beside the phantom alone.

    python benches/values.py --oomph target/release/oomph --python .venv/bin/python

Three operands: of more than 1 MiB, of unknown values, of known values. The best of seven rounds of a thousand calls, in microseconds.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

PROGRAM = """
import sys, time, torch
large = torch.empty(1000, 1000, device="cuda")
unknown = torch.ones(8, 8, device="cuda") @ torch.ones(8, device="cuda")
known = torch.ones(8, device="cuda")
rows = []
for name, tensor in (("large", large), ("unknown", unknown), ("known", known)):
    best = float("inf")
    for _ in range(7):
        started = time.perf_counter()
        for _ in range(1000):
            torch.add(tensor, tensor)
        best = min(best, time.perf_counter() - started)
    rows.append(f"{name} {best * 1000}")
open(sys.argv[1], "w").write("\\n".join(rows))
"""


def main() -> None:
    """Prints a line for each operand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomph", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    arguments = parser.parse_args()
    oomph, python = arguments.oomph.absolute(), arguments.python.absolute()
    alone = measure([oomph, "phantom", "--gpu", "rtx-4090", "--", python])
    checked = measure([oomph, "check", "--gpu", "rtx-4090", "--python", python])
    print(f"{'torch.add of':14} {'phantom, us':>12} {'check, us':>12}")
    for name, microseconds in alone.items():
        print(f"{name:14} {microseconds:12.1f} {checked[name]:12.1f}")


def measure(command: list) -> dict[str, float]:
    """Runs the program; gives what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        program, output = Path(folder, "program.py"), Path(folder, "output.txt")
        program.write_text(PROGRAM)
        subprocess.run([*map(str, command), str(program), str(output)], check=True, capture_output=True)
        return {name: float(value) for name, value in (line.split() for line in output.read_text().splitlines())}


if __name__ == "__main__":
    main()
