"""Programs under `oomph run` beside the same programs without: modules, signals, descriptors, folders, disks."""

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import suite

PATIENCE = 120
# Prints the visible state of the process as a line of JSON.
LOOK = """
import sys
modules, path, finders = sorted(sys.modules), list(sys.path), len(sys.meta_path)
def look():
    import json, os, threading
    status = [line for line in open("/proc/self/status") if line.startswith(("Sig", "Shd", "Seccomp", "NoNewPrivs")) and not line.startswith("SigQ")]
    files = {number: os.readlink("/proc/self/fd/" + number) for number in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + number)}
    return dict(status=status, files={number: name.split(":")[0] for number, name in files.items()}, tasks=len(os.listdir("/proc/self/task")),
                threads=threading.active_count(), variables=sorted(os.environ), groups=[os.getgroups(), os.getresgid(), os.getpgrp() == os.getpgid(os.getppid())])
import json
print(json.dumps(dict(look(), modules=modules, path=path)))
"""
# The same after five steps on the GPU.
LOOK_LATER = """
import torch
model = torch.nn.Linear(8, 8, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for _ in range(5):
    model(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
print(json.dumps(dict(look(), modules=sorted(it for it in sys.modules if "oomph" not in it), path=list(sys.path), finders=len(sys.meta_path))))
"""
# rt_sigaction(2) on x86-64, and the signals that glibc keeps for itself: sigaction(3) refuses them.
RT_SIGACTION, INTERNAL_SIGNALS = 13, (32, 33)
# The variables that lead children of the program to the agent.
VARIABLES = {"OOMPH_RUN", "PYTHONPATH"}


def see_nothing(oomph: Path) -> str:
    """A program sees no module, signal, descriptor, thread or path of oomph's, before and after torch"""
    phantom = [oomph, "phantom", "--gpu", "rtx-3060", "--"]
    program = [sys.executable, "-c", LOOK + LOOK_LATER]
    without = [json.loads(line) for line in finish(phantom + program).stdout.splitlines()]
    within = [json.loads(line) for line in finish([*phantom, oomph, "run", "--", *program]).stdout.splitlines()]
    assert len(without) == len(within) == 2, (without, within)
    for moment, (before, now) in zip(("before torch", "after torch"), zip(without, within)):
        # An earlier PYTHONPATH of the user's keeps its place.
        now["variables"] = [name for name in now["variables"] if name not in VARIABLES or name in before["variables"]]
        different = {key: (before[key], now[key]) for key in before if before[key] != now[key]}
        if "modules" in different:
            different["modules"] = sorted(set(before["modules"]) ^ set(now["modules"]))
        assert not different, f"{moment}: {different}"
    return f"{len(within[0]['modules'])} modules before torch"


def keep_ignored_signals(oomph: Path) -> str:
    """A program keeps the ignored signals of its parent, those of glibc included"""
    program = [sys.executable, "-c", "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('SigIgn')))"]
    seen = [
        subprocess.run(list(map(str, [*before, *program])), capture_output=True, text=True, timeout=PATIENCE, preexec_fn=_ignore_internal_signals)
        for before in ([], [oomph, "run", "--"])
    ]
    masks = [int(done.stdout, 16) for done in seen]
    assert all(masks[0] >> number - 1 & 1 for number in INTERNAL_SIGNALS), f"{masks[0]:x} without oomph"
    assert masks[0] == masks[1], f"{masks[1]:x} ignored, {masks[0]:x} without oomph"
    return f"{masks[1]:x}"


def _ignore_internal_signals() -> None:
    """The kernel's `struct sigaction` with `SIG_IGN`: handler, flags, restorer, mask."""
    action = (ctypes.c_ulong * 4)(1, 0, 0, 0)
    for number in INTERNAL_SIGNALS:
        assert ctypes.CDLL(None).syscall(RT_SIGACTION, number, action, None, 8) == 0


def run_without_folder(oomph: Path) -> str:
    """Without a folder for temporary files a program runs unrecorded; a wrong --save is an error before the start"""
    program = [sys.executable, "-c", "import os, sys; print('ran', 'OOMPH_RUN' in os.environ); sys.exit(7)"]
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        done = finish([oomph, "run", "--", *program], 7, TMPDIR=f"{folder}/absent")
    assert done.stdout == "ran False\n", done.stdout
    said = f"oomph: nothing is recorded: cannot write the run folder `{re.escape(folder)}/absent`: .*; the program runs as without oomph\n"
    assert re.fullmatch(said, done.stderr), done.stderr
    refused = finish([oomph, "run", "--save", "/proc/nothing", "--", *program], 2)
    assert refused.stdout == "" and "/proc/nothing" in refused.stderr, refused.stderr
    return done.stderr.strip()


def lose_folder(oomph: Path) -> str:
    """A program that removes the folder of its recording runs on, and oomph says so at the end"""
    source = "import os, shutil, ownfiles\nownfiles.train(3)\nshutil.rmtree(os.environ['OOMPH_RUN'])\nownfiles.train(20)\nraise SystemExit(7)"
    done = finish(on_phantom(oomph, [oomph, "run", "--", sys.executable, "-c", source]), 7, PYTHONPATH=str(Path(__file__).parent / "work_more"))
    assert re.fullmatch(r"oomph: the recording in \S+ was removed while the program ran, so its end is not explained\n", done.stderr), done.stderr
    return done.stderr.strip()


def share_small_disk(oomph: Path) -> str:
    """On a small file system the recording leaves the room to the program"""
    if os.getuid():
        raise suite.Skip("only root mounts a file system")
    source = "import ownfiles, os, sys\nownfiles.train(9)\nopen(os.environ['TMPDIR'] + '/own', 'wb').write(bytes(30 << 20))\nownfiles.train(9)"
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        run = on_phantom(oomph, [oomph, "run", "--", sys.executable, "-c", source])
        mounted = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=32m none {folder} && exec \"$@\"", "sh", *run]
        done = finish(mounted, 0, TMPDIR=folder, PYTHONPATH=str(Path(__file__).parent / "work_more"))
    assert "oomph: allocations were not recorded: they take" in done.stderr, done.stderr
    return done.stderr.splitlines()[0]


def lose_disk(oomph: Path) -> str:
    """A disk that is full in the middle ends neither the program nor the count of its steps"""
    if os.getuid():
        raise suite.Skip("only root mounts a file system")
    fill = "\ntry: open(os.environ['TMPDIR'] + '/own', 'wb').write(bytes(1 << 30))\nexcept OSError: pass\n"
    source = f"import ownfiles, os, sys\nownfiles.train(9)\n{fill}\nownfiles.train(90)\nraise SystemExit(7)"
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        run = on_phantom(oomph, [oomph, "run", "--", sys.executable, "-c", source])
        mounted = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=800m none {folder} && exec \"$@\"", "sh", *run]
        done = finish(mounted, 7, TMPDIR=folder, PYTHONPATH=str(Path(__file__).parent / "work_more"))
    ends = [line for line in done.stderr.splitlines() if "ended after step 99 with exit status 7" in line]
    assert ends, done.stderr
    return ends[0]


def become_daemon(oomph: Path) -> str:
    """A daemon closes all descriptors and trains on after the run: its file holds its own bytes alone"""
    source = """
import os, sys, time
end, begin = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.read(end, 1)
    os.closerange(0, 256)
    own = [os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644) for _ in range(3)]
    import ownfiles
    ownfiles.train(30)
    os.write(1, b"mine")
    os.rename(sys.argv[1], sys.argv[1] + ".done")
    os._exit(0)
os.write(begin, b"x")
raise SystemExit(7)
"""
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        own, temporary = Path(folder) / "own", Path(folder) / "tmp"
        temporary.mkdir()
        run = on_phantom(oomph, [oomph, "run", "--", sys.executable, "-c", source, own])
        finish(run, 7, TMPDIR=str(temporary), PYTHONPATH=str(Path(__file__).parent / "work_more"))
        wait_until(Path(f"{own}.done").exists)
        assert Path(f"{own}.done").read_bytes() == b"mine", Path(f"{own}.done").read_bytes()
        left = sorted(path.name for path in temporary.glob("oomph*"))
    assert not left, left
    return "its file holds its own bytes"


def lose_oomph(oomph: Path) -> str:
    """If oomph itself is killed, the program goes on and is recorded to its end"""
    source = "import os, sys, ownfiles\nownfiles.train(3)\nprint(os.getpid(), flush=True)\nsys.stdin.read(1)\nownfiles.train(20)\nopen(sys.argv[1], 'w').close()"
    with tempfile.TemporaryDirectory(prefix="oomph-deaths-") as folder:
        ended, temporary = Path(folder) / "ended", Path(folder) / "tmp"
        temporary.mkdir()
        command = on_phantom(oomph, [oomph, "run", "--", sys.executable, "-c", source, ended])
        env = os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parent / "work_more")}
        with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as running:
            program = Path("/proc", running.stdout.readline().strip())
            # `oomph phantom` becomes `oomph run`.
            running.kill()
            running.wait()
            running.stdin.write("x")
        wait_until(lambda: not program.exists())
        assert ended.exists(), "the program did not go on"
        [recorded] = temporary.glob("oomph*")
        done = finish([oomph, "explain", recorded])
    assert done.stdout.startswith("step 23: "), done.stdout + done.stderr
    return done.stdout.splitlines()[0]


def finish(command: list, status: int = 0, **variables: str) -> subprocess.CompletedProcess:
    """Runs a command, and compares the exit status."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OOMPH_")} | variables
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == status, f"status {done.returncode}, expected {status}: {done.stdout}{done.stderr}"
    return done


def wait_until(condition) -> None:
    """Polls for the end of a daemon."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the daemon did not come to its end"
        time.sleep(0.02)


def on_phantom(oomph: Path, command: list) -> list:
    """Puts a phantom GPU in the place of a real one."""
    return [oomph, "phantom", "--gpu", "rtx-3060", "--", *command]


BODIES = [see_nothing, keep_ignored_signals, run_without_folder, lose_folder, share_small_disk, lose_disk, become_daemon, lose_oomph]
