"""Runs PyTorch's own parser of PYTORCH_CUDA_ALLOC_CONF on random texts and prints a JSON line for each.

    oomph phantom --gpu rtx-4090 -- python tests/settings/fuzz.py --seed 1 --cases 1000 |
        cargo run --release -p allocator --example settings

A line has the release, the `way` in which PyTorch got the text, the settings `before` (null for the first text of a
process), the text, and either the settings `after` or the exception. The ways:

set          a call in a running process (`torch.cuda.memory._set_allocator_settings`)
environment  the first parse of a forked process, from the variable
import       a fresh process that imports torch with the variable set, which includes the parsers of load time
"""

import argparse
import json
import mmap
import os
import random
import re
import struct
import subprocess
import sys
import warnings

import peek
import texts

VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"
CHANGE_TO_DEFAULTS = 0.2
IMPORTING = "import json, sys; sys.path.insert(0, sys.argv[1]); import fuzz; fuzz.imported(json.loads(sys.argv[2]))"


def main():
    """Prints the requested lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, required=True, help="texts given to a running process")
    parser.add_argument("--first", type=int, default=0, help="texts given through the variable of a forked process")
    parser.add_argument("--imports", type=int, default=0, help="texts given through the variable of a fresh process")
    parser.add_argument("--restart", type=int, default=500, help="texts after which a running process is replaced")
    arguments = parser.parse_args()
    os.environ.pop(VARIABLE, None)
    os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"
    torch = silent_torch()
    layout = peek.layout(torch)
    source = texts.Texts(random.Random(arguments.seed), peek.known(torch, texts.samples()))
    for start in range(0, arguments.cases, arguments.restart):
        batch = [source.next("set") for _ in range(min(arguments.restart, arguments.cases - start))]
        while batch:
            reached = mmap.mmap(-1, 4)
            if not forked(lambda: told(torch, layout, source, batch, reached)):
                break
            ended = struct.unpack("i", reached[:4])[0]
            line(release(torch), "set", None, batch[ended], ("crash", ""), None)
            batch = batch[ended + 1 :]
    for _ in range(arguments.first):
        text = for_variable(source.next("environment"))
        if "backend" not in text:
            if forked(lambda: first(torch, layout, text)):
                line(release(torch), "environment", None, text, ("crash", ""), None)
    for _ in range(arguments.imports):
        fresh(for_variable(source.next("import")), layout, release(torch))


def for_variable(text):
    """The text without characters that a variable cannot hold."""
    return text.replace("\0", " ")


def silent_torch():
    """Imports the interpreter's torch, without its warnings."""
    warnings.simplefilter("ignore")
    import torch

    return torch


def release(torch):
    """`2.11` as a pair of numbers."""
    return tuple(int(part) for part in torch.__version__.split(".")[:2])


def forked(act):
    """Calls a function in a forked process; returns `True` if a signal ended the process."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status) and status:
            sys.exit("the forked process did not end well")
        return os.WIFSIGNALED(status)
    act()
    sys.stdout.flush()
    os._exit(0)


def told(torch, layout, source, batch, reached):
    """Sets the texts in order in a running process, now and then from defaults."""
    tell = peek.setter(torch)
    tell("")
    for number, text in enumerate(batch):
        reached[:4] = struct.pack("i", number)
        if source.random.random() < CHANGE_TO_DEFAULTS:
            tell(texts.defaults(release(torch)))
        before = peek.read(torch, layout)
        raised = outcome(lambda text=text: tell(text))
        line(release(torch), "set", before, text, raised, peek.read(torch, layout))


def first(torch, layout, text):
    """Sets the variable before the first parse of this process."""
    os.environ[VARIABLE] = text
    raised = outcome(lambda: parse_variable(torch, text))
    line(release(torch), "environment", None, text, raised, None if raised else peek.read(torch, layout))


def parse_variable(torch, text):
    """Makes torch parse the variable: by a snapshot, or, in releases whose snapshots lack settings, by setting the text again."""
    if torch._C._cuda_getAllocatorBackend() == "native" and release(torch) >= (2, 3):
        torch._C._cuda_memorySnapshot(*peek.NO_MEMPOOL[release(torch) >= (2, 8)])
    else:
        peek.setter(torch)(text)


def fresh(text, layout, of):
    """Imports torch in a fresh process with the text in the variable."""
    here = os.path.dirname(os.path.abspath(__file__))
    run = subprocess.run(
        [sys.executable, "-c", IMPORTING, here, json.dumps(layout)],
        env={**os.environ, VARIABLE: text, "TORCH_SHOW_CPP_STACKTRACES": "0"},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if run.returncode == 0:
        print(run.stdout, end="", flush=True)
        return
    said = re.search(r"terminate called after throwing an instance of '(.*)'\s+what\(\):\s*(.*)", run.stderr)
    if not said:
        sys.exit(f"a fresh process ended with {run.returncode} for {text!r}:\n{run.stderr}")
    line(of, "import", None, text, ("terminate", said[2]), None)


def imported(layout):
    """The fresh process."""
    text = os.environ[VARIABLE]
    torch = silent_torch()
    raised = outcome(lambda: parse_variable(torch, text))
    line(release(torch), "import", None, text, raised, None if raised else peek.read(torch, layout))


def outcome(act):
    """The class and the first line of an exception, or `None`."""
    try:
        act()
    except Exception as error:  # noqa: BLE001: whatever torch raises is the answer
        return type(error).__name__, str(error)
    return None


def line(of, way, before, text, raised, after):
    """Prints one line."""
    record = {"release": f"{of[0]}.{of[1]}", "way": way, "before": before, "text": text}
    record |= {"raised": raised[0], "message": raised[1]} if raised else {}
    print(json.dumps(record | {"after": after}, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
