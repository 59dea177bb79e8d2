"""The Python package as a program uses it: `check`, `explain`, `watch`, and the pytest plugin.

    target/frameworks/bin/python tests/python_api/check.py --oomph target/debug/oomph [WORD ...]

The package is copied beside the binary, as `pip install --target` lays them out. The Python needs PyTorch, pytest, pytest-xdist and mypy.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(1, str(HERE.parent))

import interrupts
import outcomes
import suite
from interrupts import PATIENCE_SECONDS, PLUGIN, PYTHON

MIB = 1 << 20
# The budget of the plugin at the start of pytest; the smallest of several starts counts.
MOST_MODULES = 12


def main() -> int:
    """Exit status 1 if a figure, an outcome or an error is wrong."""
    arguments = suite.parser(__doc__).parse_args()
    bodies = [ask, fail, explain, watch, watch_under_commands, watch_without, interrupts.interrupt, interrupts.interrupt_pytest, select, skip, start_fast, type_check]
    with tempfile.TemporaryDirectory(prefix="oomph-python-") as folder:
        site = Path(folder) / "site"
        shutil.copytree(ROOT / "python" / "oomph", site / "oomph", ignore=shutil.ignore_patterns("__pycache__"))
        (site / "bin").mkdir()
        (site / "bin" / "oomph").symlink_to(arguments.oomph.resolve())
        cases = [suite.Case(body.__doc__.splitlines()[0], partial(run_in_folder, body, site)) for body in bodies]
        cases.append(suite.Case("the tests of a project come to what they must", partial(run_in_folder, run_project, site), is_long=True))
        return suite.run("python-api", cases, arguments)


def run_in_folder(body, site: Path) -> str | None:
    """Runs a case in a folder of its own, with a space in its name, and with the package on the path."""
    sys.path.insert(0, str(site))
    with tempfile.TemporaryDirectory(prefix="oomph python ") as folder:
        os.chdir(folder)
        return body(site)


def run_project(site: Path) -> str:
    """The whole project, by two workers."""
    return outcomes.check_outcomes(PYTHON, Path.cwd(), *PLUGIN, env=outcomes.environment(PYTHONPATH=str(site)))


def run_python(site: Path, *words: object, before: tuple = ()) -> subprocess.CompletedProcess:
    """Runs a Python program with the package on its path, behind the words of another command."""
    command = [str(word) for word in (*before, PYTHON, *words)]
    env = outcomes.environment(PYTHONPATH=str(site))
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


# ---- check and explain ----

ALLOCATES = "import sys, torch\nheld = [torch.empty(int(it) << 20, dtype=torch.uint8, device='cuda') for it in sys.argv[1:]]\n"
# Of a program that allocates so many MiB: keywords, verdict, MiB allocated and reserved. A small block reserves 20 MiB (`kLargeBuffer`,
# c10/cuda/CUDACachingAllocator.cpp) up to 10 MiB.
ANSWERS = [
    (("256", "128"), {"gpu": "l4"}, "fits", 384, 384),
    (("2",), {"gpu": "rtx-3060", "steps": 0, "timeout": 60}, "fits", 2, 20),
    (("3072",), {"gpu": "l4", "vram": "2GiB"}, "oom", 3072, 3072),
]


def ask(site: Path) -> str:
    """check has the verdict and the figures of the command, for a script and for a command line"""
    import oomph

    Path("a script.py").write_text(ALLOCATES)
    for words, settings, verdict, allocated, reserved in ANSWERS:
        answer = oomph.check("a script.py", *words, **settings)
        figures = answer.verdict, answer.peak_allocated_bytes // MIB, answer.peak_reserved_bytes // MIB
        assert figures == (verdict, allocated, reserved), (words, figures)
        context = answer.report["gpu"]["context_bytes"]
        # A driver reserves memory in units of 2 MiB.
        assert 0 <= answer.need_bytes - reserved * MIB - context < 2 * MIB, answer.need_bytes
        assert answer.spare_bytes == answer.report["gpu"]["total_bytes"] - answer.need_bytes, answer.spare_bytes
        assert answer.fits is (verdict == "fits") and answer.summary in " ".join(answer.text.split()), answer
        assert "report=" not in repr(answer) and str(answer).startswith(answer.summary[:40]), repr(answer)
    Path("module.py").write_text(ALLOCATES)
    words = [sys.executable, "-m", "module"]
    assert oomph.check(words, "64", gpu="l4", cwd=Path.cwd()).peak_allocated_bytes == 64 * MIB
    return f"{len(ANSWERS) + 1} answers"


# Program, keywords, what the error says, and what its hint or the command's standard error does.
FAILURES = [
    ("missing.py", {}, "there is no file `missing.py`", "give the script as you would to `python`"),
    ("raises.py", {}, "the program raised ValueError: no such width", "no such width"),
    ("leaves.py", {}, "exit status 3", ""),
    ("plain.py", {}, "the program never imported PyTorch", "give the script that trains"),
    ("plain.py", {"gpu": "l5"}, "no GPU is known as `l5`", "`oomph gpus` lists the known GPUs"),
    ("plain.py", {"vram": "lots"}, "`lots` is not a size", ""),
    ("plain.py", {"python": "/no/python"}, "/no/python", ""),
    (["no-such-program"], {}, "`no-such-program` is not in PATH", ""),
    ([], {}, "required arguments were not provided", ""),
    ("plain.py", {"cwd": "/no/folder"}, "/no/folder", ""),
    ("plain.py", {"remedies": ["nonsense"]}, "nonsense", ""),
    ("asks.py", {"gpu": "l4"}, "this program is being checked itself", "if not oomph.is_recording()"),
]
PROGRAMS = {
    "raises.py": "import torch\ntorch.zeros(3, device='cuda')\nraise ValueError('no such width')\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "plain.py": "print(1)\n",
    "asks.py": "import torch, oomph\ntorch.zeros(3, device='cuda')\noomph.check(__file__)\n",
}


def fail(site: Path) -> str:
    """check raises an error with a hint for a program that fails and for bad input"""
    import oomph

    os.environ["PYTHONPATH"] = str(site)
    for name, text in PROGRAMS.items():
        Path(name).write_text(text)
    for program, settings, message, other in FAILURES:
        try:
            answer = oomph.check(program, **settings)
        except oomph.OomphError as error:
            assert message in error.message and other in f"{error.hint}{error.stderr}", (program, settings, str(error), error.stderr)
            assert isinstance(error, RuntimeError) and error.status in (2, None), error.status
            assert (error.kind is None) == (error.status is None), (program, settings, error.kind)
        else:
            raise AssertionError(f"{program} {settings}: {answer}")
    return f"{len(FAILURES)} errors"


MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.79 GiB of which 1.00 GiB is free. "
    "Including non-PyTorch memory, this process has 6.70 GiB memory in use. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 100.00 MiB "
    "is reserved by PyTorch but unallocated."
)
CAUSE = "need-exceeds-device"


def explain(site: Path) -> str:
    """explain names the cause in a log, a text and an exception, and refuses what has none"""
    import oomph

    Path("a log.txt").write_text(f"epoch 1\n{MESSAGE}\n")
    Path("-odd.log").write_text(f"{MESSAGE}\n")
    error = type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"})(MESSAGE.partition(": ")[2])
    for sources, named in ((["a log.txt"], {}), ([Path("-odd.log")], {}), ([], {"text": MESSAGE}), ([error], {}), (["a log.txt", error], {})):
        answer = oomph.explain(*sources, **named)
        assert (answer.cause, answer.findings[0]["rule"]) == (CAUSE, CAUSE), answer
        assert answer.summary.startswith("6.00 GiB allocated and 2.00 GiB requested are more than"), answer.summary
        assert answer.report["ooms"][0]["requested_bytes"] == 2 << 30 and answer.text.startswith("6.00 GiB allocated"), answer.text
    refused = [
        (["none.log"], {}, "there is no file `none.log`"), ([], {}, "nothing to explain"), ([], {"text": "all went well"}, "no "),
        ([MESSAGE], {}, "a message is given as text="), ([ValueError("other")], {}, "no "),
    ]  # fmt: skip
    for sources, named, text in refused:
        try:
            answer = oomph.explain(*sources, **named)
        except oomph.OomphError as refusal:
            assert text in str(refusal), (sources, str(refusal))
        else:
            raise AssertionError(f"{sources} {named}: {answer}")
    return f"{len(refused)} refusals"


# ---- watch ----


def phantom(site: Path) -> tuple:
    """The command in front of a program that runs on a phantom GPU."""
    return site / "bin" / "oomph", "phantom", "--gpu", "rtx-3060", "--"


def watch(site: Path) -> None:
    """watch is exact to the byte, in nested blocks, threads, forks and errors"""
    expect_all_is_so(run_python(site, HERE / "watched.py", before=phantom(site)))
    expect_all_is_so(run_python(site, HERE / "watched.py", "5000", before=phantom(site)))
    left = [it.name for it in Path(tempfile.gettempdir()).glob("oomph-watch-*")]
    assert not left, left


def watch_under_commands(site: Path) -> None:
    """watch has the same figures under oomph run and in a dry run"""
    oomph = site / "bin" / "oomph"
    done = run_python(site, HERE / "watched.py", before=(*phantom(site), oomph, "run", "--save", "run", "--"))
    expect_all_is_so(done)
    assert "at most 364.00 MiB allocated" in done.stderr, done.stderr
    done = run_python(site, HERE / "watched.py", before=(oomph, "check", "--gpu", "l4", "--steps", "0", "-v", "--"))
    assert done.returncode == 0 and "all is so" in done.stderr and "364.00 MiB allocated" in done.stdout, done.stdout + done.stderr


def watch_without(site: Path) -> None:
    """watch says in one line what is missing: PyTorch, a GPU, a native allocator"""
    program = "import oomph\ntry:\n    with oomph.watch(): pass\nexcept RuntimeError as error: print(error.message)\n"
    without_torch = f"import sys\nsys.modules['torch'] = None\n{program}"
    for text, before, said in (
        (without_torch, (), "oomph.watch needs PyTorch: "),
        (program, (), "oomph.watch needs a GPU, and PyTorch finds none"),
        (program, ("env", "PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync", *phantom(site)), "native allocator, and the program uses `cudaMallocAsync`"),
    ):
        done = run_python(site, "-c", text, before=before)
        assert said in done.stdout and done.stdout.count("\n") == 1 and not done.returncode, f"{said}: {done.stdout}{done.stderr}"


def expect_all_is_so(done: subprocess.CompletedProcess) -> None:
    """The program came to its last line."""
    assert done.returncode == 0 and done.stdout.endswith("all is so\n"), f"status {done.returncode}\n{done.stdout}{done.stderr}"


# ---- pytest ----


def select(site: Path) -> None:
    """--collect-only and -k start no process, and a class keeps its marker's test"""
    env = outcomes.environment(PYTHONPATH=str(site))
    done = outcomes.run_pytest(PYTHON, Path.cwd(), *PLUGIN, "--collect-only", "-q", env=env)
    assert f"{len(outcomes.OUTCOMES)} tests collected" in done.stdout and done.returncode == 0, done.stdout
    done = outcomes.run_pytest(PYTHON, Path.cwd(), *PLUGIN, "-k", "bananas or misspelt or without_the", "-rA", env=env)
    assert "1 passed" in done.stdout and "2 errors" in done.stdout and f"{len(outcomes.OUTCOMES) - 3} deselected" in done.stdout, done.stdout
    done = outcomes.run_pytest(PYTHON, Path.cwd(), *PLUGIN, "-rA", "-s", "test_memory.py::test_skips", "test_memory.py::test_wrong", env=env)
    assert "said before\n" in done.stdout and "SKIPPED [1] test_memory.py:" in done.stdout and "no data" in done.stdout, done.stdout
    done = outcomes.run_pytest(PYTHON, Path.cwd(), *PLUGIN, "--markers", env=env)
    assert "@pytest.mark.gpu_memory(limit=None, gpu=None, of='reserved', timeout=None): run the test" in done.stdout, done.stdout


def skip(site: Path) -> None:
    """A marked test is skipped with a reason where oomph cannot run"""
    without_command, built_for_cpu, no_torch = Path("no command"), Path("cpu"), Path("none")
    shutil.copytree(site / "oomph", without_command / "oomph")
    for folder, version in ((built_for_cpu, "__version__ = '9.9+cpu'\ncuda = None\n"), (no_torch, None)):
        (folder / "torch").mkdir(parents=True)
        if version:
            (folder / "torch" / "__init__.py").touch()
            (folder / "torch" / "version.py").write_text(version)
    (no_torch / "torch").rmdir()
    (no_torch / "torch.py").write_text("raise ImportError('none')\n")
    for path, reason in (
        ([without_command], "the `oomph` command is missing; `python -m oomph` names the expected places"),
        ([built_for_cpu, site], "PyTorch 9.9+cpu is built without CUDA"),
        ([no_torch, site], "PyTorch is not installed"),
    ):
        env = outcomes.environment(PYTHONPATH=os.pathsep.join(map(str, (it.absolute() for it in path)))) | {"PATH": "/usr/bin:/bin"}
        done = outcomes.run_pytest(PYTHON, Path.cwd(), *PLUGIN, "-rs", "test_memory.py::test_below", "test_memory.py::test_without_the_marker", env=env)
        assert "1 passed, 1 skipped" in done.stdout and f"test_memory.py:19: {reason}" in done.stdout, f"{reason}: {done.stdout}{done.stderr}"


def start_fast(site: Path) -> str:
    """The plugin imports few modules beside pytest's own, none of torch, and none that Python does not bring"""
    program = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport oomph.pytest_plugin\nadded = set(sys.modules) - before\nprint(len(added))\n"
        "foreign = {it for it in added if it.partition('.')[0] not in {'oomph', *sys.stdlib_module_names}}\n"
        "assert not foreign and 'oomph.agent' not in added, foreign\n"
    )
    done = run_python(site, "-c", program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= MOST_MODULES, done.stdout
    count = done.stdout.strip()
    done = run_python(site, "-W", "error", "-m", "oomph", "--version")
    assert done.returncode == 0 and not done.stderr, done.stderr
    return f"{count} modules"


def type_check(site: Path) -> None:
    """mypy --strict accepts a client, and refuses a wrong one"""
    shutil.copy(HERE / "client.py", "client.py")
    # PyTorch's own annotations take mypy ten seconds.
    Path("mypy.ini").write_text("[mypy]\n[mypy-torch.*]\nfollow_imports = skip\n")
    Path("wrong.py").write_text("import oomph\n\nanswer: str = oomph.check('x').need_bytes\noomph.check('x', gpus='two')\n")
    env = outcomes.environment(MYPYPATH=str(site))
    words = [str(PYTHON), "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent"]
    done = subprocess.run([*words, "client.py"], env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0 and "Success" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([*words, "wrong.py"], env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 1 and "Found 2 errors" in done.stdout, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
