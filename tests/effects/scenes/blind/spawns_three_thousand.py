"""Under `oomph run` 1,500 children by posix_spawn and 500 by vfork (subprocess) with a closed standard error, and 300 that fork a grandchild,
use CUDA's state in the parent only; a third gets an empty environment."""

# /// expect
# commands = "run"
# guards = "none"
# why = "docs/run.md: the program runs as it would without oomph; a child's status, output and errors are its own; oomph says nothing in a child's descriptors"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    globals()["PATIENCE"] = 1200  # many children of a large process on a slow machine
    program("""
step()
wrong, said = 0, b""
for i in range(1500):
    env = {} if i % 3 == 0 else dict(os.environ)
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"exit {i % 100}"], env)
    wrong += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != i % 100
for i in range(500):
    r = subprocess.run(["/bin/sh", "-c", "echo out; exit 3"], capture_output=True, env={} if i % 3 == 0 else None)
    wrong += r.returncode != 3 or r.stdout != b"out\\n"
    said += r.stderr
for i in range(300):
    pid = os.fork()
    if pid == 0:
        child = os.fork()
        if child == 0: os._exit(9)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    wrong += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 9
step(); step()
say("WRONG", wrong, "SAID", said[:200])
""")
    before = snapshot(HOME, WORK, TMP)
    run = Run(options=["--save", OUT / "saved"], control=["sh", "-c", '"$@"; echo more; exit 3', "sh"])
    status = run.end()
    expect(status == 0, f"exit status {status}: {run.text()[-300:]}")
    expect(run.text(1).strip() == "WRONG 0 SAID b''", f"output {run.text(1)[-300:]!r}")
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes left")


main(scene)
