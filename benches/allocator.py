"""The allocator model beside the real allocator, on the same recorded requests.

    python benches/allocator.py --oomph target/release/oomph --python .venv/bin/python [--snapshot FILE]

The real one is PyTorch's own library, called from C++ on the phantom GPU, without tensors and without Python; the model is
`cargo run --release -p allocator --example speed`. Both get the requests of a training run (benches/snapshots.py), and both
must come to the same peak of reserved bytes. Also: how long the model takes for 500 settings on all cores, and
for the proofs of 20 causes.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

REPEATS = 20
SETTINGS = 500


def main() -> None:
    """Measures both and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--snapshot", type=pathlib.Path, help="a recorded history; default: one of 165 MB is made")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        snapshot = arguments.snapshot or make(arguments, folder)
        operations = folder / "operations"
        model = run_model(snapshot, operations)
        real = run_real(arguments, folder, operations)
        show(model, real)


def make(arguments: argparse.Namespace, folder: pathlib.Path) -> pathlib.Path:
    """A snapshot of 165 MB, 1.8 million events."""
    out = folder / "snapshot.pickle"
    script = pathlib.Path(__file__).with_name("snapshots.py")
    options = ["--oomph", arguments.oomph, "--python", arguments.python, "--megabytes", "165"]
    subprocess.run([sys.executable, script, *options, out], check=True, stdout=sys.stderr)
    return out


def run_model(snapshot: pathlib.Path, operations: pathlib.Path) -> dict:
    """Replays in the model; writes the requests for the other."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "allocator", "--example", "speed", "--"]
    out = subprocess.run([*command, str(SETTINGS), snapshot, operations], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def run_real(arguments: argparse.Namespace, folder: pathlib.Path, operations: pathlib.Path) -> dict:
    """Builds against the installed PyTorch, and runs on the phantom."""
    where = "import pathlib, torch; print(pathlib.Path(torch.__file__).parent)"
    torch = pathlib.Path(subprocess.check_output([arguments.python, "-c", where], text=True).strip())
    # NVIDIA's wheel lacks a part of its headers, which Triton's has.
    headers = [torch / "include", *torch.parent.glob("nvidia/cu*/include"), torch.parent / "triton/backends/nvidia/include"]
    program = folder / "allocator"
    libraries = [f"-L{torch}/lib", "-lc10", "-lc10_cuda", f"-Wl,-rpath,{torch}/lib", "-Wl,--unresolved-symbols=ignore-all"]
    source = pathlib.Path(__file__).with_suffix(".cpp")
    includes = [option for folder in headers for option in ("-isystem", folder)]
    subprocess.run(["c++", "-std=c++20", "-O2", *includes, source, "-o", program, *libraries], check=True)
    command = [os.path.abspath(arguments.oomph), "phantom", "--gpu", "h200", "--", program, operations, str(REPEATS)]
    seconds, count, reserved = subprocess.check_output(command, text=True).split()
    return {"seconds": float(seconds), "operations": int(count), "reserved_bytes": int(reserved)}


def show(model: dict, real: dict) -> None:
    """The table."""
    rates = [real["operations"] / real["seconds"] / 1e6, model["operations"] / model["seconds"] / 1e6]
    print(f"{'':28}{'million operations/s':>22}{'peak reserved':>20}")
    print(f"{'real allocator (C++)':28}{rates[0]:>22.2f}{real['reserved_bytes']:>20}")
    print(f"{'model, one core':28}{rates[1]:>22.2f}{model['reserved_bytes']:>20}")
    print(f"ratio {rates[1] / rates[0]:.1f}; {model['events'] / model['seconds'] / 1e6:.1f} million events a second")
    print(f"{SETTINGS} settings of {model['history_events']} events on all cores: {model['settings_seconds']:.1f} s")
    print(f"{model['causes']} causes of {model['history_events']} events, each replayed without it on two devices, on all cores: {model['causes_seconds']:.1f} s")
    if real["reserved_bytes"] != model["reserved_bytes"]:
        sys.exit("the two differ")


if __name__ == "__main__":
    main()
