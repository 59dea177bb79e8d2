"""A process and objects in memory that are not the program's: their state before and after a run."""

import ctypes
import os
import resource
import secrets
import socket
import subprocess
import sys
from pathlib import Path

from parts.world import HERE, World

# `landlock_create_ruleset` (arch/x86/entry/syscalls/syscall_64.tbl), and its flag for the version; scopes came with version 6.
LANDLOCK, VERSION, SCOPES = 444, 1, 6
# sys/ipc.h and sys/shm.h
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0
BYTES = 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


class Others:
    """A process that notes its signals, a shared memory and a queue, named to the program by EFFECTS variables."""

    def __init__(self, world: World) -> None:
        self.notes, self.door = world.root / "notes", world.root / "door"
        self.key, self.queue_name = secrets.randbits(30) + 1, f"/effects-{world.token}"
        world.environment |= {"EFFECTS_KEY": str(self.key), "EFFECTS_QUEUE": self.queue_name, "EFFECTS_DOOR": str(self.door)}
        self.has_scopes = libc.syscall(LANDLOCK, None, 0, VERSION) >= SCOPES
        world.environment["EFFECTS_SCOPES"] = str(int(self.has_scopes))
        self.environment = world.environment

    def __enter__(self) -> "Others":
        self.segments, self.queues = list_segments(), list_queues()
        command = [sys.executable, str(HERE / "parts" / "victim.py"), str(self.notes), str(self.door)]
        self.victim = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self.victim.stdout.readline() == b"ready\n"
        self.environment["EFFECTS_VICTIM"] = str(self.victim.pid)
        self.segment = libc.shmget(self.key, BYTES, 0o600 | IPC_CREAT | IPC_EXCL)
        self.memory = libc.shmat(self.segment, None, 0)
        self.queue = libc.mq_open(self.queue_name.encode(), os.O_RDWR | os.O_CREAT, 0o600, None)
        assert self.segment >= 0 and self.queue >= 0, os.strerror(ctypes.get_errno())
        return self

    def __exit__(self, *_) -> None:
        self.victim.kill()
        self.victim.communicate()
        libc.shmctl(self.segment, IPC_RMID, None)
        libc.shmdt(ctypes.c_void_p(self.memory))
        os.close(self.queue)
        libc.mq_unlink(self.queue_name.encode())

    def state(self) -> dict:
        """The values that a program could change."""
        pid = self.victim.pid
        attributes = (ctypes.c_long * 8)()
        libc.mq_getattr(self.queue, attributes)
        return {
            "ended": self.victim.poll(),
            "notes": self.notes.read_text().replace("asked\n", ""),
            "priority": os.getpriority(os.PRIO_PROCESS, pid),
            "processors": os.sched_getaffinity(pid),
            "files": resource.prlimit(pid, resource.RLIMIT_NOFILE),
            "oom_score_adj": Path(f"/proc/{pid}/oom_score_adj").read_text(),
            "memory": ctypes.string_at(self.memory, BYTES) == bytes(BYTES),
            "messages": attributes[3],
            "host": socket.gethostname(),
            "addresses": Path("/proc/net/fib_trie").read_text().count("10.99.0.1"),
        }

    def leavings(self) -> list[str]:
        """Objects that a run left in memory."""
        segments = list_segments() - self.segments - {str(self.segment)}
        queues = list_queues() - self.queues - {self.queue_name}
        return [*(f"left: shared memory {it}" for it in segments), *(f"left: queue {it}" for it in queues)]


def list_segments() -> set[str]:
    """The ids of all shared memories (`/proc/sysvipc/shm`, the second column)."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {line.split()[1] for line in lines}


def list_queues() -> set[str]:
    """The names of all message queues, where their file system is mounted."""
    folder = Path("/dev/mqueue")
    return {f"/{path.name}" for path in folder.iterdir()} if folder.is_dir() else set()
