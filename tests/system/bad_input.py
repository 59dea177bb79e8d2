"""Input without anything to check: a clear sentence, a hint, exit status 2, and no remains.

`box.assert_clean` runs after every case and checks that no process and no temporary file is left.
"""

import json
import os
import subprocess
from pathlib import Path

from harness import EXAMPLES, LIMIT_SECONDS, PROGRAMS, Box, Case, Result, Skip, collect, contains, expect, like_others

MLP = EXAMPLES / "mlp.py"
MODEL = "import torch\nmodel = torch.nn.Linear(64, 64).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
STEPS = "for _ in range(3):\n    model(torch.randn(8, 64, device='cuda')).sum().backward()\n    optimizer.step()\n"


def refused(result: Result, *says: str) -> None:
    """Checks oomph's own refusal: nothing on standard output, a single error, and the next step."""
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "error: ", *says)
    assert "hint: " in result.stderr or "try '--help'" in result.stderr, f"expected a hint\n{result}"
    no_noise(result)


def no_noise(result: Result) -> None:
    """Nothing of our insides, and no escape codes."""
    for noise in ("panicked", "RUST_BACKTRACE", "oomph agent:", "_oomph_agent", "oomph/agent", "\x1b"):
        assert noise not in result.stdout + result.stderr, f"unexpected {noise!r}\n{result}"


def refuses(box: Box, says: tuple[str, ...], *words, **options) -> Result:
    """Runs a check that must be refused."""
    result = box.check(*words, **options)
    refused(result, *says)
    return result


# ---- arguments ----

ARGUMENTS = (
    ("no script", (), ("required arguments were not provided",)),
    ("a script that is not there", ("nothing.py",), ("there is no file `nothing.py`",)),
    ("a folder", (PROGRAMS,), ("is a folder, expected a Python script", "python -m package")),
    ("an unknown GPU", ("--gpu", "rtx4091", MLP), ("no GPU is known as `rtx4091`", "rtx-4090", "oomph gpus")),
    ("an ambiguous GPU", ("--gpu", "rtx-6000", MLP), ("quadro-rtx-6000", "rtx-6000-ada-generation")),
    ("no name of a GPU", ("--gpu", "", MLP), ("GPU",)),
    ("--vram 0", ("--vram", "0", MLP), ("`0` is zero",)),
    ("--vram nonsense", ("--vram", "nonsense", MLP), ("`nonsense` is not a size", "16GiB")),
    ("--vram -1GiB", ("--vram=-1GiB", MLP), ("`-1GiB`",)),
    ("--vram beyond all bounds", ("--vram", "99999999999999TiB", MLP), ("99999999999999TiB",)),
    ("--vram less than a context", ("--vram", "100MiB", MLP), ("a CUDA context alone takes",)),
    ("--timeout 0", ("--timeout", "0", MLP), ("expected seconds above 0",)),
    ("--timeout nan", ("--timeout", "nan", MLP), ("nan",)),
    ("--steps -1", ("--steps=-1", MLP), ("-1",)),
    ("--fraction 2", ("--fraction", "2", MLP), ("expected a number from 0 to 1",)),
    ("--gpus 0", ("--gpus", "0", MLP), ("0 is not in 1..=64",)),
    ("--json and --format", ("--json", "--format", "concise", MLP), ("cannot be used with",)),
    ("--format nonsense", ("--format", "nonsense", MLP), ("nonsense", "concise, github, markdown, json")),
    ("--html in a folder that is not there", ("--html", "nowhere/page.html", "spins.py"), ("cannot write `nowhere/page.html`", "--html")),
    ("--json-file in a folder that is not there", ("--json-file", "nowhere/it.json", "spins.py"), ("cannot write `nowhere/it.json`", "--json-file")),
    ("--html of a folder", ("--html", "/", "spins.py"), ("`/` would be replaced, and is no file", "--html")),
    ("a misspelt option", ("--jsno", MLP), ("no option `--jsno`", "--help")),
    ("no command after --", ("--",), ("required arguments were not provided",)),
    ("a command that is not there", ("--", "no-such-program", "x"), ("`no-such-program` is not in PATH", "is the environment active?")),
    ("a command that is a path to nothing", ("--", "./no/such/program"), ("there is no program `./no/such/program`", "paths start at the current folder")),
    ("a command that is a folder", ("--", PROGRAMS), ("is a folder, expected a program", "python -m package")),
    ("a command that is a file without the right", ("--", MLP), ("is not executable", "-- python train.py")),
    ("a folder to save in that is a file", ("--save", MLP, MLP), ("cannot write the run folder", "mlp.py")),
)


# ---- programs ----

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


def command_cannot_be_started(box: Box) -> None:
    """Every command that starts a program names the reason, though the system's error is the same for all."""
    (box.work / "moved").write_text("#!/no/such/bin/python\n")
    (box.work / "empty path").mkdir()
    (box.work / "moved").chmod(0o755)
    cases = (
        ("no-such-program", "`no-such-program` is not in PATH"),
        ("./missing", "there is no program `./missing`"),
        ("./empty path", "`./empty path` is a folder, expected a program"),
        ("./moved", "`./moved` cannot be started: its first line names `/no/such/bin/python`, which is not there"),
        ("", "`` is not in PATH"),
    )
    for command in ("check", "fit", "tune", "run", "phantom"):
        # Where oomph becomes the program, `execvp` runs such a text in a shell.
        for program, says in (it for it in cases if command == "run" or it[0] != "./text"):
            saved = ("--save", f"run of {cases.index((program, says))}") if command == "run" else ()
            result = box.run(box.oomph, command, *saved, "--", program)
            expect(result, result.status, 2, f"the exit status of `{command} -- {program}`")
            contains(result, result.stderr, says, "hint:")


def script_is_a_pipe(box: Box) -> None:
    """A pipe cannot be read again, and may never be written to."""
    os.mkfifo(box.work / "pipe")
    refuses(box, ("`pipe` is a pipe, expected a Python script", "write it to a file"), "pipe")


def control_characters(box: Box) -> None:
    """JSON on a terminal neither runs an escape sequence nor turns the direction of writing."""
    box.write("script.py", MODEL + STEPS.replace("range(3)", "range(1)") + "raise RuntimeError('a\\x9b2J\\u202eb\\x7f')\n")
    result = box.check("--json", "script.py")
    expect(result, [letter for letter in "\x7f\x9b\u202e" if letter in result.stdout], [], "characters in standard output")
    contains(result, result.stdout, r"a\u009b2J\u202eb\u007f")
    contains(result, json.dumps(result.report, ensure_ascii=False), "a\x9b2J\u202eb\x7f")


def reads_standard_input(box: Box) -> None:
    """A script's standard input is the user's."""
    box.write("script.py", "import sys\nassert sys.stdin.read() == 'words'\n" + MODEL + STEPS)
    words = box.write("input.txt", "words")
    with words.open() as stdin:
        result = box.check("script.py", stdin=stdin)
    expect(result, result.status, 0, "the exit status")


def shell_script(box: Box) -> None:
    """A shell script is run by bash, and that is said."""
    box.write("train.py", MODEL + STEPS)
    box.write("run.sh", f"'{box.python}' train.py\n")
    result = box.check("run.sh", "an argument")
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "note: `run.sh` is a shell script")


def notebook(box: Box) -> None:
    """A notebook is run cell by cell; its lines are named by cell."""
    cells = [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": "%matplotlib inline\n" + MODEL}, {"cell_type": "code", "source": STEPS}]
    box.write("train.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    result = box.check("-v", "train.ipynb")
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "note: `train.ipynb` is a notebook")
    contains(result, result.stdout, "train.ipynb:cell ")


# ---- Pythons ----


def environment_with(box: Box, version: str | None) -> Path:
    """A virtual environment, with a package `torch` that has nothing but `version.py`."""
    folder = box.folder / "environment"
    made = box.run(box.python, "-m", "venv", "--without-pip", folder)
    expect(made, made.status, 0, "the exit status of venv")
    if version is not None:
        [packages] = folder.glob("lib/python3*/site-packages")
        (packages / "torch").mkdir()
        (packages / "torch" / "__init__.py").write_text("raise ImportError('a stand-in')\n")
        (packages / "torch" / "version.py").write_text(version)
    return folder / "bin" / "python"


PYTHONS = (
    ("without torch", None, ("has no PyTorch", "--python")),
    ("with torch for the CPU", "__version__ = '2.11.0+cpu'\ncuda = None\n", ("2.11.0+cpu", "built without CUDA", "pip install torch", "no GPU is needed")),
    ("with an old torch", "__version__ = '1.13.1+cu117'\ncuda = '11.7'\n", ("1.13.1+cu117 is not supported", "2.5 to 2.", "--python")),
    ("with a torch of the future", "__version__ = '2.110.0'\ncuda = '15.0'\n", ("2.110.0 is not supported",)),
    ("with a damaged torch", "__version__ = \n", ("PyTorch", "version.py")),
    ("with a torch for ROCm", "__version__ = '2.11.0+rocm6.4'\ncuda = None\nhip = '6.4'\n", ("2.11.0+rocm6.4", "CUDA")),
)


def python_is_refused(box: Box, version: str | None, *says: str) -> None:
    """Missing parts of a Python are found before the script is started."""
    refuses(box, says, MLP, python=environment_with(box, version))


def active_environment_is_taken(box: Box) -> None:
    """Without --python the active environment's Python runs the script."""
    folder = environment_with(box, None).parents[1]
    result = box.run(box.oomph, "check", MLP, env={"VIRTUAL_ENV": folder})
    refused(result, str(folder), "has no PyTorch")


def no_python(box: Box) -> None:
    """A missing Python, and a file that is not a Python."""
    refuses(box, ("there is no Python", "/no/such/python", "--python"), MLP, python=Path("/no/such/python"))
    refuses(box, ("/bin/true",), MLP, python=Path("/bin/true"))


def torch_in_a_command_line(box: Box) -> None:
    """After `--` the Python is the user's choice, including its missing parts."""
    refuses(box, ("torch",), "--", environment_with(box, None), MLP)


# ---- places ----


def unshared(box: Box, options: str, folder: Path, *command) -> Result:
    """Runs a command where a file system of its own lies on `folder`, which ends with the command."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    if subprocess.run(["unshare", *user, "--mount", "true"], capture_output=True).returncode != 0:
        raise Skip("this machine lets us mount nothing")
    folder.mkdir(exist_ok=True)
    script = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
    return box.run("unshare", *user, "--mount", "sh", "-c", script, "sh", options, folder, *command)


def check_unshared(box: Box, options: str, folder: Path, *words, **environment) -> Result:
    """A check under `unshared`."""
    command = ("env", *(f"{name}={value}" for name, value in environment.items()), box.oomph, "check", "--python", box.python)
    return unshared(box, options, folder, *command, *words)


def cache_is(box: Box, options: str, *says: str) -> None:
    """A cache folder on a file system with some defect."""
    folder = box.folder / "cache"
    refused(check_unshared(box, options, folder, MLP, OOMPH_CACHE_DIR=folder), str(folder), "OOMPH_CACHE_DIR=", *says)


def cache_without_permission(box: Box) -> None:
    """A cache folder of another user."""
    folder = box.folder / "cache"
    folder.mkdir(mode=0o500)
    command = (*like_others(), box.oomph, "check", "--python", box.python, MLP)
    refused(box.run(*command, env={"OOMPH_CACHE_DIR": folder}), str(folder), "ermission denied", "OOMPH_CACHE_DIR=")
    assert not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}"


def cache_below_a_file(box: Box) -> None:
    """A cache folder in an impossible place."""
    file = box.write("file", "")
    refuses(box, ("cannot unpack the phantom GPU", "OOMPH_CACHE_DIR="), MLP, env={"OOMPH_CACHE_DIR": file / "cache"})
    none = dict.fromkeys(("OOMPH_CACHE_DIR", "XDG_CACHE_HOME", "HOME"))
    refuses(box, ("neither HOME nor XDG_CACHE_HOME",), MLP, env=none)


def full_disk(box: Box, options: str) -> None:
    """No room for the record: no verdict based on half of the record."""
    full = box.folder / "full"
    result = check_unshared(box, options, full, MLP, TMPDIR=full)
    expect(result, result.status, 2, "the exit status")
    assert "fits" not in result.stdout, result
    contains(result, result.stderr, "o space left", "hint: ")
    assert "panicked" not in result.stderr and "Traceback" not in result.stderr, result


def full_standard_output(box: Box) -> None:
    """A report that cannot be written is no success."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = box.check(MLP, stdout=full)
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "cannot write the report")


def closed_standard_output(box: Box) -> None:
    """A reader that went away, as `| head -c 0` does, changes nothing."""
    reader, writer = os.pipe()
    os.close(reader)
    result = box.check(MLP, stdout=writer)
    os.close(writer)
    expect(result, (result.status, result.stderr), (0, ""), "status and standard error")


def blanks_in_paths(box: Box) -> None:
    """The cache, the folder for temporary files, the script and its arguments may hold blanks."""
    words = (PROGRAMS / "path with spaces" / "my train.py", "an argument", "")
    result = box.check("--verbose", "--steps", "0", *words, env={"OOMPH_CACHE_DIR": box.folder / "a cache"})
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "['an argument', '']")
    contains(result, result.stdout, "my train.py:")


def odd_bytes_in_paths(box: Box) -> None:
    """A script whose name is no UTF-8, in a folder with a colon."""
    folder = os.fsencode(box.work) + b"/a:b"
    os.mkdir(folder)
    script = folder + b"/\xfftrain.py"
    with open(script, "w", encoding="utf-8") as file:
        file.write(MODEL + STEPS)
    # PyTorch itself makes no snapshot of a program with such a name.
    refuses(box, ("is not UTF-8", "rename"), os.fsdecode(script))
    result = box.check("--", box.python, os.fsdecode(script))
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "left no snapshot", "is not UTF-8", "rename")


def relative_cache(box: Box) -> None:
    """A cache named relative to the user's folder, which the program leaves."""
    box.write("script.py", "import os, subprocess, sys\nos.chdir('/')\n" + MODEL + STEPS)
    result = box.check("script.py", env={"OOMPH_CACHE_DIR": "here"})
    expect(result, result.status, 0, "the exit status")
    words = (box.oomph, "phantom", "--", "sh", "-c", f"cd / && exec '{box.python}' -c 'import torch; torch.zeros(1).cuda()'")
    ran = box.run(*words, env={"OOMPH_CACHE_DIR": "here"})
    expect(ran, ran.status, 0, "the exit status")


def two_at_once(box: Box) -> None:
    """Two commands that start with an empty cache unpack one."""
    cache = box.folder / "cache"
    words = (box.oomph, "check", "--python", box.python, MLP)
    pair = [box.start(*words, env={"OOMPH_CACHE_DIR": cache}) for _ in range(2)]
    for result in map(collect, pair):
        expect(result, result.status, 0, "the exit status")
    left = [path.name for path in cache.iterdir()]
    assert len(left) == 1, f"the cache holds {left}"


def damaged_cache(box: Box) -> None:
    """A cache that an interrupted `rm -r` left half empty is filled again."""
    cache = box.folder / "cache"
    expect(first := box.check(MLP, env={"OOMPH_CACHE_DIR": cache}), first.status, 0, "the exit status")
    [folder] = cache.iterdir()
    for path in folder.rglob("*.py"):
        path.unlink()
    again = box.check(MLP, env={"OOMPH_CACHE_DIR": cache})
    expect(again, again.status, 0, "the exit status")


# ---- the look ----


def narrow_and_plain(box: Box, *words) -> None:
    """In a file: at most 80 columns, and no escape codes."""
    target = box.work / "report.txt"
    with target.open("w") as file:
        result = box.check(*words, stdout=file)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines and result.status in (0, 1), result
    wide = [line for line in lines if len(line) > 80]
    assert not wide, "\n".join(["wider than 80 columns:", *wide])
    assert "\x1b" not in "\n".join(lines) + result.stderr, f"escape codes\n{result}"


NARROW = (
    ("mlp", ("--gpu", "rtx-4090", MLP)),
    ("gpt2 that does not fit", ("--gpu", "rtx-3060", EXAMPLES / "gpt2.py")),
    ("resnet50", ("--gpu", "h100-sxm", EXAMPLES / "resnet50.py", "--batch-size", "2")),
    ("value-dependent shapes", (PROGRAMS / "value_shapes.py",)),
)


def table(function, rows, prefix: str) -> list[Case]:
    """A case for each row: its name, then the arguments of `function`."""
    return [Case(prefix + name, lambda box, rest=rest: function(box, *rest)) for name, *rest in rows]


CASES = [
    *table(lambda box, words, says: refuses(box, says, *words), ARGUMENTS, ""),
    *table(lambda box, text, says: script_is_refused(box, text, *says), SCRIPTS, "the script has "),
    *table(lambda box, version, says: python_is_refused(box, version, *says), PYTHONS, "a Python "),
    *table(lambda box, words: narrow_and_plain(box, *words), NARROW, "80 plain columns: "),
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
    Case("commands that cannot be started", command_cannot_be_started),
    Case("a script that is a pipe", script_is_a_pipe),
    Case("control characters in an error", control_characters),
    Case("a shell script", shell_script),
    Case("a notebook", notebook),
    Case("standard input is the script's", reads_standard_input),
    Case("the active environment's Python", active_environment_is_taken),
    Case("a Python that is none", no_python),
    Case("a command line without torch", torch_in_a_command_line),
    Case("a cache mounted read-only", lambda box: cache_is(box, "ro", "Read-only file system")),
    Case("a cache mounted noexec", lambda box: cache_is(box, "noexec", "mounted noexec")),
    Case("a cache on a full disk", lambda box: cache_is(box, "size=64k", "o space left")),
    Case("a cache without permission", cache_without_permission),
    Case("a cache below a file, or nowhere", cache_below_a_file),
    Case("a disk that is full at once", lambda box: full_disk(box, "nr_inodes=1")),
    Case("a disk that fills up", lambda box: full_disk(box, "size=16k")),
    Case("a disk too small for the snapshot", lambda box: full_disk(box, "size=24k")),
    Case("a full standard output", full_standard_output),
    Case("a closed standard output", closed_standard_output),
    Case("blanks in paths", blanks_in_paths),
    Case("odd bytes in paths", odd_bytes_in_paths),
    Case("a relative cache", relative_cache),
    Case("a cache with a colon", lambda box: refuses(box, ("are split at `:`", "OOMPH_CACHE_DIR="), MLP, env={"OOMPH_CACHE_DIR": box.folder / "a:b"})),
    Case("two at once", two_at_once),
    Case("a damaged cache", damaged_cache),
]
