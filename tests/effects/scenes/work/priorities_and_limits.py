"""The dry run's program changes a foreign process: setpriority, prlimit (RLIMIT_NOFILE, RLIMIT_FSIZE), sched_setaffinity, and `renice`."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"`setpriority` changed it"; a dry run reaches no other process'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def state(pid):
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    return [os.getpriority(os.PRIO_PROCESS, pid), sorted(os.sched_getaffinity(pid)), re.findall(r"Max (?:open files|file size) .*", limits)]


def scene():
    second = other("print('ready', flush=True); time.sleep(1000)")
    program(f"""
import resource
pid = {second.pid}
step()
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 7))
attempt("renice", lambda: os.system(f"renice -n 9 -p {{pid}}"))
attempt("nofile", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (50, 50)))
attempt("fsize", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (5000, 5000)))
attempt("affinity", lambda: os.sched_setaffinity(pid, {{0}}))
attempt("own", lambda: (os.setpriority(os.PRIO_PROCESS, 0, 3), os.getpriority(os.PRIO_PROCESS, 0)))
step(); step()
""")
    before = state(second.pid)
    look = Check().acted("setpriority", "renice", "nofile", "fsize", "affinity", "own")
    expect(second.process.poll() is None, "the second process ended")
    after = state(second.pid)
    expect(before == after, f"before {before}, after {after}")
    expect("ACTED own (None, 3)" in look.text(), f"the program's own priority: {look.text()[-300:]}")


main(scene)
