"""Trains and saves without oomph, then again under `oomph check` in the same folder: what was saved must be what it was.

    target/frameworks/bin/python tests/frameworks/saves.py --oomph target/release/oomph [NAME ...]

Exit status 0: so it is; 1: not.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "programs/saves.py"
# Each with the suffixes of what makes up a checkpoint.
FRAMEWORKS = {
    "trainer": (".safetensors", ".pt", ".pth", ".bin"),
    "lightning": (".ckpt",),
    "accelerate": (".safetensors", ".bin"),
    "distributed": (".distcp", ".metadata"),
}
SECONDS = 300


def main():
    """All frameworks, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("names", nargs="*", help=", ".join(FRAMEWORKS))
    args = parser.parse_args()
    names = args.names or list(FRAMEWORKS)
    problems = [problem for name in names for problem in check(name, args.oomph)]
    print("\n".join([*problems, f"saves of {len(names)} frameworks, {len(problems)} problems"]))
    return 1 if problems else 0


def check(name, oomph):
    """What is wrong with one."""
    with tempfile.TemporaryDirectory() as folder:
        program = (sys.executable, PROGRAM, name)
        run(folder, *program)
        # The oldest is what a limit removes.
        for last in Path(folder, "saved").glob("checkpoint-*"):
            last.rename(last.with_name("checkpoint-0"))
        before = saved(folder, name)
        report = json.loads(run(folder, oomph, "check", "--gpu", "t4", "--steps", "100", "--json", "--", *program))
        after = saved(folder, name)
    if not before:
        yield f"{name}: expected checkpoints, found none"
    for file, digest in before.items():
        if after.get(file) != digest:
            yield f"{name}: expected {file} as it was, found it {'changed' if file in after else 'removed'}"
    if not any("there already" in note for note in report["notes"]):
        yield f"{name}: expected a note of what was there already, found {report['notes']}"


def run(folder, *words):
    """Runs a command, which must succeed; its standard output."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"{words}: expected exit status 0, found {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def saved(folder, name):
    """The checkpoints of a folder, each with a digest of its bytes."""
    files = [path for path in sorted(Path(folder).rglob("*")) if path.name.endswith(FRAMEWORKS[name])]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    sys.exit(main())
