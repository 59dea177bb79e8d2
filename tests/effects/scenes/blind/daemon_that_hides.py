"""The dry run's program leaves a process that ignores SIGTERM, SIGHUP and SIGINT, has another name, an empty environment, a session of its own
and a parent that died, and that waits for the program's end before it replaces the user's file."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: after the run the files are as they were; a look leaves nothing behind, and a process that waits for its end is no exception"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (OUT / "hidden.py").write_text("""
import os, signal, sys, time, ctypes
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT): signal.signal(s, signal.SIG_IGN)
ctypes.CDLL(None).prctl(15, b"kworker", 0, 0, 0)
program, target = int(sys.argv[1]), sys.argv[2]
for i in range(600):
    try: os.kill(program, 0)
    except OSError: break
    time.sleep(0.1)
for i in range(50):
    time.sleep(0.1)
    open(target + ".new", "w").write("of the daemon"); os.replace(target + ".new", target)
    os.system("rm -f '" + target + "2'")
time.sleep(60)
""")
    program(f"""
step()
def hide():
    pid = os.fork()
    if pid: return os.waitpid(pid, 0)[1]
    os.setsid()
    if os.fork(): os._exit(0)
    fd = os.open("/dev/null", os.O_RDWR)
    for n in (0, 1, 2): os.dup2(fd, n)
    os.closerange(3, 4096)
    os.execve("{sys.executable}", ["x", "{OUT}/hidden.py", str(program), "{WORK}/mine"], {{}})
program = os.getpid()
attempt("hide", hide)
time.sleep(0.5)
step(); step()
""")
    for name in ("mine", "mine2"):
        (WORK / name).write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    Check().acted("hide")
    time.sleep(4)
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes of the look live 4 s after its answer")


main(scene)
