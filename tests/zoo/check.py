"""Runs the whole zoo on a phantom GPU and compares every peak with the table that is kept in peaks.json.

    python tests/zoo/check.py [--oomph PATH] [--update]

The Python that runs this file runs the zoo: it needs torch, torchvision and transformers in the versions of the table.
A phantom GPU is deterministic, so any difference is a failure. Exit status 0: all as kept; 1: not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "peaks.json"
GPU = "rtx-4090"
AT_ONCE = 2
SECONDS_FOR_ALL = 3600
PACKAGES = ("torch", "torchvision", "transformers")
# The longest first. The detectors' shapes depend on values, and what is assumed of those is the business of `check`.
FILES = {"layers": "phantom", "language": "phantom", "vision": "phantom", "detection": "check"}


def main():
    """The whole comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", default="oomph", help="the oomph to test (default: the one on PATH)")
    parser.add_argument("--update", action="store_true", help="keep the peaks of this run as the table")
    args = parser.parse_args()
    with ThreadPoolExecutor(AT_ONCE) as pool, tempfile.TemporaryDirectory() as folder:
        parts = list(pool.map(lambda file: run(args.oomph, file, Path(folder)), FILES))
    results, problems = {}, []
    for part, found in parts:
        results.update(part)
        problems += found
    print_table(results)
    if not args.update:
        problems += differences(results)
    elif not problems:
        keep(results)
    print("\n".join(problems))
    failed = {problem.split(":")[0] for problem in problems}
    print(f"{len(results.keys() - failed)} passed, {len(failed)} failed")
    return 1 if problems else 0


def run(oomph, file, folder):
    """Runs one file of the zoo; gives its results by name and precision, and what went wrong."""
    out = folder / f"{file}.jsonl"
    script = [str(HERE / f"{file}.py"), "--out", str(out)]
    if FILES[file] == "phantom":
        command = [oomph, "phantom", "--gpu", GPU, "--", sys.executable, *script]
    else:
        command = [oomph, "check", "--gpu", GPU, "--steps", "0", "--verbose", "--", sys.executable, *script]
    # What torch.compile compiles is compiled anew: benchmarking candidates takes memory, finding them cached does not.
    variables = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_FOR_ALL, env=variables)
        status, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired as error:
        status, said = f"none after {SECONDS_FOR_ALL} s", (error.stderr or b"").decode(errors="replace")
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return read(file, [json.loads(line) for line in lines], status, said)


def read(file, records, status, said):
    """Sorts the records of one file into peaks and problems; a file that ended early is a problem too."""
    results, problems = {}, []
    for record in records:
        name = f"{file}/{record['name']} {record['precision']}"
        results[name] = [record.get("allocated"), record.get("reserved")]
        if "error" in record:
            problems.append(f"{name}: {record['error']}")
    if status != 0 and not problems:
        problems.append(f"{file}: expected exit status 0, found {status}\n{said[-4000:]}")
    return results, problems


def made_with():
    """What the peaks depend on: the versions and the GPU."""
    return {package: version(package) for package in PACKAGES} | {"gpu": GPU}


def keep(results):
    """Writes the table, one line per entry, so that a difference reads well in version control."""
    lines = [f"    {json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results)]
    head = json.dumps(made_with(), indent=2)[:-2]
    text = head + ',\n  "peaks": {\n' + ",\n".join(lines) + "\n  }\n}\n"
    TABLE.write_text(text, encoding="utf-8")


def differences(results):
    """What differs from the table that is kept: its environment, what it lacks, what it has besides, what it says."""
    if not TABLE.exists():
        return [f"table: {TABLE.name} is not there (--update makes it)"]
    kept = json.loads(TABLE.read_text(encoding="utf-8"))
    peaks = kept.pop("peaks")
    if kept != made_with():
        return [f"environment: the table was made with {kept}, this is {made_with()}"]
    problems = [f"{name}: is in the table and did not run" for name in sorted(peaks.keys() - results.keys())]
    for name, found in results.items():
        if name not in peaks:
            problems.append(f"{name}: ran and is not in the table (--update keeps it)")
        elif None not in found and found != peaks[name]:
            problems.append(f"{name}: expected allocated, reserved = {peaks[name]}, found {found}")
    return problems


def print_table(results):
    """The peaks for people."""
    print(f"{'program':56} {'allocated':>16} {'reserved':>16}")
    for name, (allocated, reserved) in results.items():
        print(f"{name:56} {allocated if allocated else '-':>16} {reserved if reserved else '-':>16}")


if __name__ == "__main__":
    sys.exit(main())
