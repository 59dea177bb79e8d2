"""The dry run's program changes a foreign process by sched_setscheduler (SCHED_IDLE), ioprio_set, setpriority of its process group, setpgid,
process_vm_writev, PTRACE_SEIZE and /proc/PID/mem."""

# /// expect
# commands = "check"
# guards = "both"
# why = "namespaces, else a guard on kill, setpriority, ptrace … for what is not the program's own. Raw system calls under `functions` count as held only if the report names them"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    second = other("""
buffer = ctypes.create_string_buffer(b"of the second process")
print("ready", ctypes.addressof(buffer), flush=True)
while True:
    time.sleep(0.1)
    if buffer.value != b"of the second process": print("CHANGED", buffer.value, flush=True); buffer.value = b"of the second process"
""")
    pid, address = second.pid, int(second.text().split()[1])
    libc = ctypes.CDLL(None, use_errno=True)
    state = lambda: [os.sched_getscheduler(pid), os.getpriority(os.PRIO_PGRP, pid), os.getpgid(pid), libc.syscall(252, 1, pid)]
    program(f"""
pid, address = {pid}, {address}
libc = ctypes.CDLL(None, use_errno=True)
def sure(answer):
    if answer < 0: raise OSError(ctypes.get_errno(), "refused")
    return answer
class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
step()
attempt("scheduler", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
attempt("group", lambda: os.setpriority(os.PRIO_PGRP, pid, 4))
attempt("chrt", lambda: os.system(f"chrt --idle -p 0 {{pid}} 2>/dev/null"))
attempt("ionice", lambda: os.system(f"ionice -c 3 -p {{pid}}"))
def vm():
    text = ctypes.create_string_buffer(b"BY")
    local, remote = Vector(ctypes.addressof(text), 2), Vector(address, 2)
    return sure(libc.process_vm_writev(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
attempt("vm", vm)
time.sleep(0.5)
def mem():
    with open(f"/proc/{{pid}}/mem", "r+b", buffering=0) as f:
        f.seek(address); return f.write(b"MEM")
attempt("mem", mem)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
attempt("ptrace", lambda: sure(libc.ptrace(0x4206, pid, None, None)))
step(); step()
""")
    before = state()
    look = Check().acted("scheduler", "group", "vm", "mem", "ptrace")
    time.sleep(0.3)
    expect(second.process.poll() is None, f"the second process ended: {second.process.poll()}")
    after, changed = state(), second.text().count("CHANGED")
    seized = "ACTED ptrace 0" in look.text()
    expect(before == after and not changed and not seized, f"scheduler, nice, group, ioprio: before {before}, after {after}; memory overwritten {changed} times; seized: {seized}")


main(scene)
