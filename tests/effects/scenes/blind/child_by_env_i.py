"""The dry run's program takes LD_PRELOAD and what begins with OOMPH out of its environment (os.environ, unsetenv, `env -i`) and forks and
executes tools that change files: perl or sh, tar, ln, install, tee."""

# /// expect
# commands = "check"
# guards = "both"
# open_functions = "a child with an empty environment changes files"
# why = "docs/effects.md: only statically linked programs and raw system calls are not covered; a shell script that cleans its environment (`env -i`, `su -`, a job launcher) is an ordinary one"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step()
attempt("env -i", lambda: os.system("env -i /bin/sh -c 'echo gone > one; rm -f two'"))
for name in [n for n in os.environ if n.startswith("OOMPH") or n == "LD_PRELOAD"]: del os.environ[name]
ctypes.CDLL(None).unsetenv(b"LD_PRELOAD")
attempt("ln", lambda: os.system("ln -sf /etc/hostname three"))
attempt("tee", lambda: os.system("echo gone | tee -a four >/dev/null"))
attempt("install", lambda: os.system("install -m 600 /etc/hostname five"))
def execute():
    pid = os.fork()
    if pid == 0: os.execve("/bin/sh", ["sh", "-c", "echo gone > six; mkdir deep; echo > deep/er; unset LD_PRELOAD; rm seven"], {"PATH": "/bin"})
    return os.waitpid(pid, 0)[1]
attempt("execve", execute)
step(); step()
""")
    for name in ("one", "two", "three", "four", "five", "six", "seven"):
        (WORK / name).write_text(name * 100)
    before = snapshot(HOME, WORK, TMP)
    Check().acted("env -i", "ln", "tee", "install", "execve")
    unchanged(before, HOME, WORK, TMP)


main(scene)
