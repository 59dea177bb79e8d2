"""Tries to act on another process (EFFECTS_VICTIM), on the objects with EFFECTS_KEY and EFFECTS_QUEUE, and on the machine."""

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys

import torch

VICTIM = int(os.environ["EFFECTS_VICTIM"])
KEY, QUEUE = int(os.environ["EFFECTS_KEY"]), os.environ["EFFECTS_QUEUE"].encode()
SYS_KILL, IPC_CREAT = 62, 0o1000
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p



def expect(error: type, function, *words) -> None:
    """Calls a function that must raise."""
    try:
        found = function(*words)
    except error:
        return
    raise AssertionError(f"{function} {words}: {found}")


def reach_processes() -> None:
    """A process that a pid file names has ended, as far as the program can tell."""
    expect(ProcessLookupError, os.kill, VICTIM, 0)
    expect(ProcessLookupError, os.kill, VICTIM, signal.SIGUSR1)
    expect(ProcessLookupError, os.killpg, VICTIM, signal.SIGWINCH)
    expect(ProcessLookupError, os.pidfd_open, VICTIM)
    expect(ProcessLookupError, os.setpriority, os.PRIO_PROCESS, VICTIM, 7)
    expect(ProcessLookupError, os.sched_setaffinity, VICTIM, {0})
    expect(ProcessLookupError, resource.prlimit, VICTIM, resource.RLIMIT_NOFILE, (50, 50))
    expect(PermissionError, open, f"/proc/{VICTIM}/oom_score_adj", "w")
    assert libc.syscall(SYS_KILL, VICTIM, signal.SIGUSR2) == -1
    for command in ([f"kill -HUP {VICTIM}"], [f"renice -n 9 -p {VICTIM}"]):
        assert subprocess.run(["sh", "-c", *command], capture_output=True).returncode != 0


def reach_unseen() -> None:
    """A helper without the guard of functions: the kernel refuses."""
    if os.environ["EFFECTS_SCOPES"] == "0":
        return
    done = subprocess.run(["/bin/kill", "-TERM", str(VICTIM)], env={}, capture_output=True)
    assert done.returncode != 0, "the kernel let a signal pass"
    expect(PermissionError, open, f"/proc/{VICTIM}/root/tmp/by-the-dry-run", "w")
    expect(PermissionError, os.listdir, f"/proc/{VICTIM}/cwd")


def keep_own() -> None:
    """The parent looks alive, and children are the program's."""
    os.kill(os.getppid(), 0)
    expect(PermissionError, os.kill, os.getppid(), signal.SIGUSR1)
    child = subprocess.Popen(["sleep", "600"])
    os.setpriority(os.PRIO_PROCESS, child.pid, 1)
    child.terminate()
    assert child.wait() == -signal.SIGTERM


def use_objects() -> None:
    """Shared memory with the key, and the queue with the name, are the program's own."""
    assert libc.shmget(KEY, 4096, 0o600) == -1
    own = libc.shmget(KEY, 4096, 0o600 | IPC_CREAT)
    address = libc.shmat(own, None, 0)
    assert own >= 0 and ctypes.string_at(address, 4) == bytes(4), "the memory of another"
    ctypes.memset(address, 7, 4096)
    reader = [sys.executable, "-c", f"import ctypes; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p; print(ctypes.string_at(c.shmat(c.shmget({KEY}, 4096, 0), None, 0), 1))"]
    assert subprocess.run(reader, capture_output=True, text=True).stdout.strip() == str(b"\7"), "a child sees another segment"
    queue = libc.mq_open(QUEUE, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600, None)
    assert queue >= 0 and libc.mq_send(queue, b"by the dry run", 14, 0) == 0


def receive_descriptor() -> None:
    """A file that another process hands over is not written."""
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(os.environ["EFFECTS_DOOR"])
        except OSError:
            return
        _, numbers, _, _ = socket.recv_fds(door, 1, 1)
        os.write(numbers[0], b"by the dry run\n")


def change_machine() -> None:
    """Settings that all programs of the machine share."""
    expect(OSError, socket.sethostname, "by-the-dry-run")
    expect(OSError, open, "/proc/sys/vm/drop_caches", "w")
    subprocess.run(["ip", "address", "add", "10.99.0.1/32", "dev", "lo"], capture_output=True)
    subprocess.run(["umount", "-l", "/tmp"], capture_output=True)


model = torch.nn.Linear(64, 64).cuda()
for part in (reach_processes, reach_unseen, keep_own, use_objects, receive_descriptor, change_machine):
    part()
    model(torch.ones(8, 64, device="cuda")).sum().backward()
print("SEEN AS REAL", file=sys.stderr)
