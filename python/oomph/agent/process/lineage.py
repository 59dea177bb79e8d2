"""The start time of this process, and the pids of its ancestors."""

import os
import time

# More generations than any launcher has; a process that is its own ancestor would otherwise never end.
_MOST = 32


def process_start_ns() -> int:
    """The start of this process by the monotonic clock, which all processes share, to 10 ms; 0 if the kernel does not tell."""
    fields = _read_stat(os.getpid())
    if fields is None:
        return 0
    # `starttime`, in clock ticks since the machine started.
    since_boot = int(fields[19]) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))
    age = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - since_boot
    return time.monotonic_ns() - age


def list_ancestors() -> list[int]:
    """The pids of the processes above this one, the parent first."""
    found: list[int] = []
    pid = os.getppid()
    while pid > 1 and len(found) < _MOST:
        found.append(pid)
        fields = _read_stat(pid)
        pid = 0 if fields is None else int(fields[1])
    return found


def _read_stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the third on (proc_pid_stat(5)): the second is a name, which may hold blanks and parentheses."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return fields if len(fields) > 19 else None
