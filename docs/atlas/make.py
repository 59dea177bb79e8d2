"""Makes the atlas: dry runs of public recipes on every GPU of the list, and the tables and the page that show them.

    python docs/atlas/make.py --oomph target/release/oomph --work DIR --tune-python PY --timm-python PY --timm DIR

`DIR` keeps the sweeps: the same command makes only what is missing. torchtune and bitsandbytes are in the environment of `--tune-python`,
timm's packages in that of `--timm-python`; `--timm` is a checkout of huggingface/pytorch-image-models.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE))

import join
import programs

# Other batches and switches run here, and count for every GPU on which the recipe itself allocates and reserves the same.
COMPARED = "rtx-4090"
# Optimizer steps of a training recipe.
STEPS = "2"


def main() -> int:
    """Sweeps, joins, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--tune-python", type=Path, required=True)
    parser.add_argument("--timm-python", type=Path, required=True)
    parser.add_argument("--timm", type=Path, required=True)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--join", action="store_true", help="run nothing: write the tables of what is there")
    arguments = parser.parse_args()
    for name in ("oomph", "work", "timm"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    if not arguments.join:
        render(arguments)
    chosen = [(arguments.tune_python, program) for program in programs.torchtune(arguments.tune_python, arguments.work)]
    chosen += [(arguments.timm_python, program) for program in programs.timm(arguments.work, arguments.timm)]
    if not arguments.join:
        for python, program in chosen:
            sweep(arguments, python, program, "own", program.own_rows(), program.gpus, [])
            if program.other_rows():
                sweep(arguments, python, program, "other", program.other_rows(), [COMPARED], program.other_words)
    join.write([program for _, program in chosen], list_gpus(arguments.oomph), HERE, steps=STEPS)
    return 0


def list_gpus(oomph: Path) -> list:
    """The GPUs of the atlas, as oomph knows them."""
    asked = [subprocess.run([oomph, "gpus", name, "--json"], check=True, capture_output=True).stdout for name in programs.GPUS]
    return [one[0] if isinstance(one, list) else one for one in map(json.loads, asked)]


def render(arguments: argparse.Namespace) -> None:
    """Writes torchtune's recipes with stand-ins for files."""
    for short, program in (("lora", "lora_finetune_single_device"), ("full", "full_finetune_single_device")):
        folder = arguments.work / "tune/yaml" / short
        command = [arguments.tune_python, HERE / "parts/render.py", folder, program, str(programs.LENGTH)]
        subprocess.run(command, check=True)


def sweep(arguments: argparse.Namespace, python: Path, program: programs.Program, kind: str, rows: list, gpus: list, words: list) -> None:
    """Makes what is missing of a sweep."""
    program.results.mkdir(parents=True, exist_ok=True)
    configurations = program.results / f"{kind}-{program.slug}.jsonl"
    configurations.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [arguments.oomph, "sweep", "--jobs", arguments.jobs, "--steps", STEPS, "--python", python, "--gpu", ",".join(gpus)]
    command += ["--configs", configurations, "--out", program.results / f"{kind}-{program.slug}"]
    command += [*([] if program.command[0].endswith(".py") else ["--"]), *program.command, *words]
    # 1: none of the configurations fits.
    status = subprocess.run(command, cwd=program.folder, env=os.environ | program.environment).returncode
    if status not in (0, 1):
        sys.exit(f"the sweep of {program.name} ended with status {status}")


if __name__ == "__main__":
    sys.exit(main())
