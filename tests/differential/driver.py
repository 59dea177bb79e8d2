"""Random programs in real PyTorch on the phantom: the operations and PyTorch's results. README.md has the format.

    oomph phantom --gpu rtx-4090 -- python tests/differential/driver.py --seed 1 --programs 100 --operations 500

PyTorch's allocator cannot be reset to its initial state, so each program runs in a child that is forked after
`import torch` and before the first CUDA call. The allocator reads its settings, and the phantom its device, at that call.
"""

import argparse
import json
import os
import random
import signal
import sys
import traceback

import torch

import plans
import race
from machine import Machine

# Seconds after which a program counts as hanging.
PATIENCE = 120


def main() -> None:
    """Writes one line of JSON for each program; exit status 1 if a program could not be run."""
    arguments = parsed()
    failures = 0
    for number in arguments.only or range(arguments.programs):
        if not in_a_child(lambda: run(arguments, number)):
            failures += 1
            print(f"seed {arguments.seed}, program {number}: could not be run", file=sys.stderr, flush=True)
    if failures:
        print(f"{failures} programs could not be run", file=sys.stderr)
    sys.exit(bool(failures))


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--operations", type=int, default=500)
    parser.add_argument("--kinds", default=",".join(plans.KINDS), help="which kinds of operations there may be; default all")
    parser.add_argument("--race", action="store_true", help="threads that do not take turns, and allocate and free alone")
    parser.add_argument("--only", type=int, nargs="+", help="run these programs of the seed alone")
    arguments = parser.parse_args()
    if arguments.race:
        arguments.kinds = "streams,fraction"
    arguments.kinds = [kind for kind in arguments.kinds.split(",") if kind]
    unknown = set(arguments.kinds) - set(plans.KINDS)
    if unknown:
        parser.error(f"unknown kinds {sorted(unknown)}; known are {', '.join(plans.KINDS)}")
    return arguments


def in_a_child(body) -> bool:
    """Runs `body` in a forked child; returns `True` on success."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(PATIENCE)
            # Kept until the end: PyTorch aborts if a pool is deleted while another is entered.
            machine = body()
            sys.stdout.flush()
            status = 0 if machine else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def run(arguments: argparse.Namespace, number: int) -> Machine:
    """Runs a program, writes its line, and returns the objects that own its memory.

    Program `number` of a seed does not depend on earlier programs.
    """
    chance = random.Random(f"{arguments.seed}.{number}")
    plan = plans.Plan.drawn(chance, arguments.kinds, torch.__version__)
    if arguments.race:
        plan.settings = plan.settings.replace("release_lock_on_cudamalloc:True", "release_lock_on_cudamalloc:False")
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = plan.settings
    os.environ["OOMPH_DEVICE"] = with_total(os.environ.get("OOMPH_DEVICE", ""), plan.device_bytes)
    machine = Machine(plan)
    if arguments.race:
        race.play(plan, f"{arguments.seed}.{number}", machine, arguments.operations)
    else:
        plans.play(plan, chance, machine, arguments.operations)
    line = {"seed": arguments.seed, "number": number, "kinds": plan.kinds} | machine.record()
    # One write per line: only a crash cuts a line.
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    return machine


def with_total(device: str, total_bytes: int) -> str:
    """The phantom's device variable with another size of memory."""
    fields = [field for field in device.split(";") if field and not field.startswith("total_bytes=")]
    return ";".join([*fields, f"total_bytes={total_bytes}"])


if __name__ == "__main__":
    main()
