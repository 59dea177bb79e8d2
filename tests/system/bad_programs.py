"""Programs that fail, end early or never end: a report with the last words, or the reason for no verdict.

`box.assert_clean` runs after every case and checks that no process and no temporary file is left.
"""

import json

from harness import LIMIT_SECONDS, PROGRAMS, Box, Case, contains, expect
from refusals import MODEL, STEPS, no_noise, refuses, table

# Text of the script, what oomph says, whether the script's own traceback must be shown.
SCRIPTS = (
    ("a mistake in the syntax", "import torch\ndef f(:\n", ("SyntaxError", "script.py")),
    ("an exception", MODEL + "raise ValueError('no such width')\n", ("the program raised ValueError: no such width", "script.py:4")),
    ("an assertion without words", MODEL + "assert False\n", ("raised AssertionError\n", "script.py:4")),
    ("a rank without a launcher", MODEL + "torch.distributed.init_process_group('nccl')\n", ("environment variable RANK", "torchrun", "--world-size N")),
    ("an exception before torch", "raise ValueError('early')\n", ("ValueError: early", "script.py")),
    ("an exception of many lines", MODEL + "raise ValueError('one\\ntwo')\n", ("one\ntwo", "script.py:4")),
    ("an exception that cannot be shown", MODEL + "class E(Exception):\n    def __str__(self): raise TypeError('no')\nraise E\n", ("E", "script.py:6")),
    ("an assertion on the device's number", MODEL + "torch.zeros(1, device='cuda:7')\n", ("invalid device ordinal", "script.py:4")),
    ("a check of a computed value", MODEL + "if (torch.ones(4, 4, device='cuda') @ torch.ones(4, device='cuda')).sum().item() != 16:\n    raise RuntimeError('wrong sum')\n", ("RuntimeError: wrong sum", "script.py:5", "script.py:4 read a value", "assumed values")),
    ("a module that is not installed", "import torch\nimport nosuchmodule\n", ("ModuleNotFoundError", "nosuchmodule", "install")),
    ("exit status 3", "import sys, torch\nsys.exit(3)\n", ("exit status 3 before it used CUDA", "the arguments that it needs")),
    ("a package that is not there", "import there_is_no_such\nimport torch\n", ("exit status 1 before it used CUDA", "install what the script imports")),
    ("exit status 0 before CUDA", "import sys, torch\nsys.exit(0)\n", ("never used CUDA",)),
    ("a missing argument", "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--data', required=True)\np.parse_args()\n", ("--data", "exit status 2", "arguments")),
    ("no torch at all", "print('hello')\n", ("never imported PyTorch",)),
    ("an empty script", "", ("never imported PyTorch",)),
    ("a binary file", "\0\1\2", ("script.py",)),
    ("a process that aborts", "import os, torch\nos.abort()\n", ("signal 6",)),
    ("CUDA_VISIBLE_DEVICES of another machine", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\n" + MODEL, ("No CUDA GPUs are available", "script.py:4", "--gpus N")),
    ("os._exit before CUDA", "import os, torch\nos._exit(4)\n", ("exit status 4",)),
    ("recursion without end", MODEL + "def f():\n    f()\nf()\n", ("RecursionError", "script.py:5")),
    ("a device-side name that is wrong", "import torch\ntorch.zeros(1).to('coda')\n", ("RuntimeError", "coda", "script.py:2")),
)


def script_is_refused(box: Box, text: str, *says: str) -> None:
    """A program's own failure; its last words are shown."""
    box.write("script.py", text)
    refuses(box, says, "script.py")


def missing_entry_point(box: Box) -> None:
    """A function that the phantom lacks is named, with the line of the call."""
    text = MODEL + "import ctypes\ndef call():\n    ctypes.CDLL(None).nvshmem_malloc(64)\n    raise RuntimeError('nvshmem failed')\ncall()\n"
    box.write("script.py", text)
    refuses(box, ("nvshmem_malloc", "which the phantom GPU does not have", "script.py:7", "report"), "script.py")


def missing_by_the_way(box: Box) -> None:
    """A function that a library missed is not the cause of an error in the program's own data, nor is a value the cause of a missing file or argument."""
    text = MODEL + "import ctypes, subprocess\nctypes.CDLL(None).nvshmem_malloc(64)\n"
    box.write("script.py", text + "raise ValueError('no such split')\n")
    result = refuses(box, ("raised ValueError: no such split", "script.py:6"), "script.py")
    assert "nvshmem" not in result.stderr.split("error:")[-1], result
    box.write("script.py", MODEL + "model(torch.ones(1, 64, device='cuda')).sum().item()\nimport subprocess\nsubprocess.run(['nvidia-smi'], env={'PATH': '/nowhere'})\n")
    result = refuses(box, ("FileNotFoundError", "a file of that name on the PATH"), "script.py")
    assert "assumed values" not in result.stderr, result
    box.write("script.py", MODEL + "model(torch.ones(1, 64, device='cuda')).sum().item()\ntorch.optim.SGD(model.parameters(), rate=1)\n")
    result = refuses(box, ("unexpected keyword argument 'rate'", "script.py:5"), "script.py")
    assert "assumed values" not in result.stderr, result


def program_kills_itself(box: Box) -> None:
    """The records before a SIGKILL are a valid prefix: no verdict is possible."""
    box.write("script.py", MODEL + STEPS + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    result = box.check("--json", "--steps", "0", "script.py")
    expect(result, (result.status, result.report["verdict"]), (2, "incomplete"), "status and verdict")
    contains(result, result.report["reason"], "signal 9")
    expect(result, result.report["steps"], 3, "steps")
    no_noise(result)


def program_exits_early(box: Box) -> None:
    """An exit status that is not 0 leaves the answer open, though a step was done."""
    result = box.check("--json", PROGRAMS / "exits.py")
    expect(result, (result.status, result.report["verdict"]), (2, "incomplete"), "status and verdict")
    contains(result, result.report["reason"], "exit status 3")


def leaves_a_daemon(box: Box) -> None:
    """A process that the program leaves behind, in a session of its own, ends with the check."""
    daemon = "import os, signal\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        signal.pause()\n    os._exit(0)\nos.wait()\n"
    box.write("script.py", daemon + MODEL + STEPS)
    result = box.check("script.py")
    expect(result, result.status, 0, "the exit status")


def leaves_at_once(box: Box) -> None:
    """`os._exit` runs no exit handlers; what the program did counts all the same."""
    box.write("script.py", MODEL + STEPS + "import os\nos._exit(0)\n")
    result = box.check("--json", "--steps", "9", "script.py")
    expect(result, (result.status, result.report["verdict"]), (0, "fits"), "status and verdict")
    assert result.report["breakdown"], result


def end_is_unknown(box: Box) -> None:
    """If the program ends past all of Python, its last act is unknown: no claim that it fits."""
    box.write("script.py", MODEL + STEPS + "import ctypes\nctypes.CDLL(None)._exit(0)\n")
    result = box.check("--json", "--steps", "9", "script.py")
    expect(result, (result.status, result.report["verdict"]), (2, "incomplete"), "status and verdict")


def without_the_agent(box: Box) -> None:
    """A Python that ignores the environment does not start the agent."""
    box.write("script.py", MODEL + STEPS)
    refuses(box, ("agent was not started", "`python -I`"), "--", box.python, "-I", "script.py")


def time_is_up(box: Box) -> None:
    """A program that reaches no GPU in its time, and ignores SIGTERM, is ended."""
    box.write("script.py", "import signal, torch\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.pause()\n")
    refuses(box, ("did not use CUDA within", "--timeout"), "--timeout", "6", "script.py")


def ignores_the_request_to_end(box: Box) -> None:
    """A program that ignores SIGTERM is killed."""
    ignoring = "import signal, torch\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nx = torch.empty(9, device='cuda')\nsignal.pause()\n"
    box.write("script.py", ignoring)
    result = box.check("--json", "--timeout", LIMIT_SECONDS, "script.py")
    expect(result, (result.status, result.report["verdict"]), (2, "incomplete"), "status and verdict")


def last_words(box: Box) -> None:
    """The last words of a program are shown."""
    box.write("script.py", "import sys, torch\nx = torch.empty(9, device='cuda')\nsys.exit('the data folder is empty')\n")
    result = box.check("script.py")
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stdout, "exit status 1", "the data folder is empty")


def control_characters(box: Box) -> None:
    """JSON on a terminal neither runs an escape sequence nor turns the direction of writing."""
    box.write("script.py", MODEL + STEPS.replace("range(3)", "range(1)") + "raise RuntimeError('a\\x9b2J\\u202eb\\x7f')\n")
    result = box.check("--json", "script.py")
    expect(result, [letter for letter in "\x7f\x9b\u202e" if letter in result.stdout], [], "characters in standard output")
    contains(result, result.stdout, r"a\u009b2J\u202eb\u007f")
    contains(result, json.dumps(result.report, ensure_ascii=False), "a\x9b2J\u202eb\x7f")


CASES = [
    *table(lambda box, text, says: script_is_refused(box, text, *says), SCRIPTS, "the script has "),
    Case("a script that needs a file", lambda box: refuses(box, ("FileNotFoundError", "needs_file.py:6", "the files"), PROGRAMS / "needs_file.py")),
    Case("a script on the CPU alone", lambda box: refuses(box, ("never used CUDA", "--device cuda"), PROGRAMS / "no_cuda.py")),
    Case("an entry point that the phantom lacks", missing_entry_point),
    Case("an entry point that only a library missed", missing_by_the_way),
    Case("the program kills itself", program_kills_itself),
    Case("the program exits after a step", program_exits_early),
    Case("the program leaves a daemon", leaves_a_daemon),
    Case("the program leaves at once", leaves_at_once),
    Case("the end of the program is unknown", end_is_unknown),
    Case("a Python without the agent", without_the_agent),
    Case("the time is up before CUDA", time_is_up),
    Case("a program that ignores SIGTERM", ignores_the_request_to_end),
    Case("a program's last words", last_words),
    Case("control characters in an error", control_characters),
]
