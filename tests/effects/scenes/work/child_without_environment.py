"""The dry run's program starts dynamically linked tools (rm, sh, cp, dd, mv, truncate) with an empty environment, by subprocess and by
posix_spawn: what was preloaded into the program is not into them."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: the functions of the C library keep the original of each file that is changed; exceptions are statically linked programs and raw system calls, and a child with `env={}` is neither"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step()
def spawn(*words):
    pid = os.posix_spawn(words[0], list(words), {})
    return os.waitpid(pid, 0)[1]
attempt("rm", lambda: subprocess.run(["/bin/rm", "one"], env={}).returncode)
attempt("sh", lambda: subprocess.run(["/bin/sh", "-c", "echo gone > two; mkdir -p new; echo x > new/file"], env={}).returncode)
attempt("mv", lambda: spawn("/bin/mv", "three", "moved"))
attempt("dd", lambda: spawn("/bin/dd", "if=/dev/zero", "of=four", "bs=1", "count=3", "conv=notrunc", "status=none"))
attempt("truncate", lambda: spawn("/usr/bin/truncate", "-s", "1", "five"))
step(); step()
""")
    for name in ("one", "two", "three", "four", "five"):
        (WORK / name).write_text(name * 100)
    before = snapshot(HOME, WORK, TMP)
    Check().acted("rm", "sh", "mv", "dd", "truncate")
    unchanged(before, HOME, WORK, TMP)


main(scene)
