"""Under `oomph run` a program forks 10,000 children one after the other, 8,500 before it imports torch and 1,500 after its first step; each
opens a descriptor, ends with a status of its own, and the parent counts statuses, descriptors, threads and children."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'the list of harms, what bad input gets: "a program that forks 10,000 children … behaves as without oomph; what could not be recorded is said"; wait(2) gives each status; nothing is left in the folders'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    globals()["PATIENCE"] = 1200  # many forks of a large process on a slow machine
    program("""
step()
forks(1500)
step(); step()
try: os.waitpid(-1, os.WNOHANG); say("A CHILD THAT IS NOT MINE")
except ChildProcessError: pass
say("WRONG", wrong)
sys.exit(5)
""", steps="""
import os
wrong = 0
def forks(count):
    global wrong
    own = len(os.listdir("/proc/self/fd"))
    for i in range(count):
        pid = os.fork()
        if pid == 0:
            os._exit(i % 200)
        _, status = os.waitpid(pid, 0)
        wrong += os.waitstatus_to_exitcode(status) != i % 200
    wrong += len(os.listdir("/proc/self/fd")) - own
forks(8500)
""" + STEPS)
    before = snapshot(HOME, WORK, TMP)
    run = Run(options=["--save", OUT / "saved"], control=["sh", "-c", '"$@"; echo more; exit 3', "sh"])
    status = run.end()
    expect(status == 5, f"exit status {status} and not 5: {run.text()[-300:]}")
    expect(run.text(1).strip() == "WRONG 0", f"output {run.text(1)[-300:]!r}")
    unchanged(before, HOME, WORK, TMP)
    if (OUT / "saved").exists():
        size = sum(f.stat().st_size for f in (OUT / "saved").rglob("*") if f.is_file())
        count = sum(1 for f in (OUT / "saved").rglob("*"))
        expect(count < 100, f"the recording has {count} files, {size} bytes, for one process that used the GPU")
        expect("step" in run.text(2), f"nothing was said of the run: {run.text(2)[-300:]}")
    expect(not own_processes(), f"{len(own_processes())} processes left")


main(scene)
