"""Programs that die on a GPU under `oomph run`: the exit status, and what stands on standard error afterwards.

    python tests/deaths/check.py --oomph target/release/oomph [WORD ...]

A phantom GPU stands for the real one: PyTorch, its allocator and the recorder are the real ones. The answer of every program was worked out
by hand from its source, before `oomph run` was written. The code was written with `work`; `blind` was run afterwards.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import venv
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import as_without
import balloon
import documents
import expect
import forms
import judge
import suite

PATIENCE = 120
# The context of a process on the phantom RTX 3060, which its `vram` includes.
PHANTOM_CONTEXT = 136314880
UNITS = 1, 2**10, 2**20, 2**30


def main() -> int:
    """Exit status 1 if a death is not explained as its block says."""
    parser = suite.parser(__doc__)
    parser.add_argument("--real", action="store_true", help="the programs of one process on GPU 0 of this machine, whose memory another process takes but for their `vram`")
    arguments = parser.parse_args()
    programs = sorted(HERE.glob("*/*.py"))
    oomph = arguments.oomph.absolute()
    if arguments.real:
        alone = [path for path in programs if not {"gpus", "others", "framework"} & expect.read(path).keys()]
        return suite.run("deaths", [judge.case(path, partial(judge_on_gpu, oomph, path), "", is_alone=True) for path in alone], arguments)
    cases = [judge.case(path, partial(judge_on_phantom, oomph, path), expect.read(path)["ends"].partition(" ")[0], is_alone=has_ranks(path)) for path in programs]
    cases += [suite.Case("a signal to oomph is the program's", partial(pass_signal, oomph)), suite.Case("one run in another", partial(nest, oomph))]
    cases += [suite.Case("a signal before the program starts is the program's", partial(pass_early_signal, oomph))]
    cases += [suite.Case("OOMPH_RUN without a command", partial(record_by_variable, oomph))]
    cases += [suite.Case("a cache that cannot be written", partial(run_without_cache, oomph))]
    cases += [suite.Case("the kernel kills for want of host memory", partial(exhaust_host, oomph), is_extra=True)]
    cases += [suite.Case(body.__doc__, partial(body, oomph)) for body in as_without.BODIES]
    cases += forms.list_cases(oomph)
    return suite.run("deaths", cases, arguments)


def judge_on_phantom(oomph: Path, path: Path) -> str:
    """Runs the program on a phantom."""
    expected = expect.read(path)
    device = ["--gpu", "rtx-3060", "--vram", expected["vram"], "--gpus", expected.get("gpus", 1)]
    device += ["--others", expected["others"]] if "others" in expected else []
    return compare([oomph, "phantom", *device, "--"], oomph, path, expected)


def judge_on_gpu(oomph: Path, path: Path) -> str:
    """Runs the program on the GPU of this machine. The context of the phantom's GPU counts as memory of the program there."""
    expected = expect.read(path)
    with balloon.leave(balloon.parse(expected["vram"]) - PHANTOM_CONTEXT):
        return compare([], oomph, path, expected)


def compare(before: list, oomph: Path, path: Path, expected: dict) -> str:
    """Runs the program behind the words `before` and compares; returns the headline."""
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        saved, written = Path(folder) / "run", Path(folder) / "end.json"
        program = shlex.split(expected.get("command", "python {program}").replace("{program}", str(path)))
        command = [*before, oomph, "run", "--save", saved, "--report", written, "--", *program]
        # A shell that runs in the background ignores SIGINT, and so would the program.
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, cwd=path.parent, preexec_fn=_heed_interrupts,
            env=os.environ | {"PATH": f"{find_python(expected).parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        late = seconds_since_the_end(saved)
        report = json.loads(written.read_text(encoding="utf-8"))
        again = subprocess.run([str(oomph), "explain", str(saved)], capture_output=True, text=True, timeout=PATIENCE, cwd=path.parent)
    documents.hold("run", report)
    said = " ".join(again.stdout.split())
    problems = list(differences(expected, report, said, path.name))
    if done.returncode != expected["status"]:
        problems.append(f"exit status {done.returncode}, expected {expected['status']}")
    if report["headline"] not in " ".join(done.stderr.split()):
        problems.append("the headline is not on standard error")
    assert not problems, "\n".join([*problems, said, *done.stderr.splitlines()[-12:]])
    return f"{report['headline'][:100]} ({late})"


def has_ranks(path: Path) -> bool:
    """True for a job: its ranks meet at a fixed port."""
    return "gpus" in expect.read(path)


def find_python(expected: dict) -> Path:
    """The Python of this suite, or for a program that needs a framework, that of the environment on top."""
    if "framework" not in expected:
        return Path(sys.executable)
    python = suite.ROOT / "target" / "frameworks" / "bin" / "python"
    if subprocess.run([python, "-c", f"import {expected['framework']}"], capture_output=True).returncode:
        raise suite.Skip(f"no {expected['framework']} in {python.parent.parent}")
    return python


def pass_signal(oomph: Path) -> str:
    """The program handles a signal that only oomph was sent, and the exit status is the handler's."""
    source = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(9)); print('ready', flush=True); signal.pause()"
    command = [oomph, "run", "--", sys.executable, "-c", source]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 9, f"status {running.returncode}: {said}"
    assert said.startswith("oomph: ended with exit status 9"), said
    return said.strip()


def pass_early_signal(oomph: Path) -> str:
    """The program gets a signal that waited for oomph from its first instruction on."""
    source = "import signal, sys; sys.exit(9 if signal.sigtimedwait([signal.SIGTERM], 30) else 0)"
    command = [oomph, "run", "--", sys.executable, "-c", source]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, preexec_fn=_wait_with_signal)
    assert done.returncode == 9, f"status {done.returncode}: {done.stderr}"
    return done.stderr.strip()


def _wait_with_signal() -> None:
    """Blocks SIGTERM, and sends it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.kill(os.getpid(), signal.SIGTERM)


def nest(oomph: Path) -> str:
    """The outer of two runs records, and speaks once."""
    command = [oomph, "run", "--", oomph, "run", "--", sys.executable, "-c", "raise SystemExit(4)"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 4 and done.stderr.count("oomph: ") == 1, f"status {done.returncode}: {done.stderr}"
    return done.stderr.strip()


def record_by_variable(oomph: Path) -> str:
    """An environment with the files of the wheel: the variable alone records, and the end is explained once for two processes."""
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        python, recorded = install(Path(folder), oomph), Path(folder) / "run"
        device = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--", "env", f"OOMPH_RUN={recorded}"]
        program = HERE / "work" / "forward_activations.py"
        twice = [subprocess.run(list(map(str, [*device, python, program])), capture_output=True, text=True) for _ in range(2)]
        silent = subprocess.run([python, "-c", "import sys; sys.exit('oomph.startup' in sys.modules)"])
        files = sorted(path.name for path in recorded.iterdir())
    line = expect.read(program)["line"]
    said = " ".join(twice[0].stderr.split())
    assert "does not fit" in said and f"{program.name}:{line}" in said, twice[0].stderr
    assert f"oomph: out of memory; `oomph explain {recorded}` explains it" in twice[1].stderr, twice[1].stderr
    assert silent.returncode == 0, "without the variable the package is loaded"
    assert sum(name.endswith(".recording") for name in files) == 2, files
    return f"{len(files)} files"


def exhaust_host(oomph: Path) -> str:
    """A control group with too little memory: the kernel's kill is named, with the limit."""
    with control_group(1536 << 20) as group:
        command = [oomph, "phantom", "--gpu", "rtx-3060", "--", oomph, "run", "--", sys.executable, HERE / "host_memory.py"]
        join = ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec \"$@\"", "sh"]
        done = subprocess.run([*join, *map(str, command)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 128 + signal.SIGKILL, f"status {done.returncode}: {done.stderr}"
    assert "by SIGKILL (signal 9) for want of host memory" in done.stderr, done.stderr
    kill = re.search(r"killed 1 process of this control group for want of host memory \(limit 1.50 GiB\).* had (\S+) GiB", done.stderr)
    assert kill and 0.5 < float(kill[1]) < 3, done.stderr
    return kill[0]


@contextlib.contextmanager
def control_group(limit: int):
    """A group of the memory controller, of either version, with a limit in bytes."""
    roots = {Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes", Path("/sys/fs/cgroup"): "memory.max"}
    root = next((root for root in roots if (root / "cgroup.procs").exists()), None)
    if root is None:
        raise suite.Skip("no control groups here")
    group = root / f"oomph-deaths-{os.getpid()}"
    try:
        group.mkdir()
        (group / roots[root]).write_text(str(limit))
    except OSError as error:
        raise suite.Skip(f"no control group can be made: {error}") from error
    try:
        yield group
    finally:
        group.rmdir()


def run_without_cache(oomph: Path) -> str:
    """The program runs, and its end is explained, where the home cannot be written."""
    program = HERE / "work" / "forward_activations.py"
    run = [oomph, "run", "--", sys.executable, program]
    command = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--", "env", "OOMPH_CACHE_DIR=/proc/nothing", *run]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    recorded = re.search(r"oomph: recorded in (\S+);", done.stderr)[1]
    assert done.returncode == 1 and "does not fit" in done.stderr, done.stderr
    shutil.rmtree(recorded)
    return recorded


def install(folder: Path, oomph: Path) -> Path:
    """Makes an environment with the packages of this one, the wheel's package, its line, and the command."""
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    packages = Path(subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip())
    shutil.copytree(suite.ROOT / "python" / "oomph", packages / "oomph", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(suite.ROOT / "python" / "wheel.data" / "purelib" / "oomph.pth", packages)
    (packages / "theirs.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    (folder / "env" / "bin" / "oomph").symlink_to(oomph)
    return python


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def seconds_since_the_end(saved: Path) -> str:
    """The time from the last record of the program to now; the program still had to end by then."""
    ends = [json.loads(line) for path in saved.glob("*.marks.jsonl") for line in path.read_text().splitlines() if '"kind":"end"' in line]
    return f"{(time.monotonic_ns() - max(end['monotonic_ns'] for end in ends)) / 1e9:.1f} s after its last record" if ends else "no last record"


def differences(expected: dict, report: dict, said: str, name: str):
    """Every difference from the program's block, in the report and the text that `explain` prints."""
    is_oom, refused = report["verdict"] == "oom", report["out_of_memory"] or {}
    if (expected["ends"] == "oom" and not is_oom) or (expected["ends"] == "ok" and is_oom):
        yield f"the verdict is {report['verdict']}, expected the end {expected['ends']}"
    if is_oom and expected["ends"] == "oom":
        yield from compare_request(expected, refused["oom"], Path(expected.get("file", name)).name)
    if "says_any" in expected and not any(str(words) in said.lower() for words in expected["says_any"]):
        yield f"none of {expected['says_any']} is said"
    culprit = f"{Path(expected.get('culprit_file', name)).name}:{expected.get('culprit')}"
    if "culprit" in expected and expected["ends"] == "oom" and culprit not in said:
        yield f"line {expected['culprit']}, which holds most, is not named"
    if "caught" in expected and expected["ends"] == "ok" and (report["caught"] or {}).get("errors") != expected["caught"]:
        yield f"{report['caught']} caught errors, expected {expected['caught']}"
    if "rank" in expected and not re.search(rf"\brank {expected['rank']}\b", said):
        yield f"rank {expected['rank']} is not named"
    steps = {report["steps"], refused.get("steps"), (report["stopped_first"] or {}).get("steps")}
    if expected.get("steps", 0) and expected["steps"] not in steps:
        yield f"{steps} steps, expected {expected['steps']}"


def compare_request(expected: dict, oom: dict | None, name: str):
    """The line and the size of the request that failed."""
    if oom is None or oom["requested_bytes"] is None or oom["location"] is None:
        yield f"no request is named: {oom}"
        return
    size, wanted = oom["requested_bytes"], expected.get("printed_bytes", expected["requested_bytes"])
    unit = max(unit for unit in UNITS if unit <= max(size, 1))
    # PyTorch reserves, and states, whole units of 2 MiB, with two decimals.
    if min(abs(size - it) for it in (wanted, -(-wanted // 2**21) * 2**21)) > 0.005 * unit + 512:
        yield f"{size} bytes requested, expected {wanted}"
    file, line = Path(oom["location"]["file"]).name, oom["location"]["line"]
    if (file, line) != (name, expected["line"]):
        yield f"line {file}:{line}, expected {name}:{expected['line']}"


if __name__ == "__main__":
    sys.exit(main())
