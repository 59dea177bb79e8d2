"""A real process holds flock and fcntl locks on files that the dry run's program opens, changes and closes; it then renames the folder that
the program works in, makes another in its place, and creates files there with the names that the program made."""

# /// expect
# commands = "check"
# guards = "both"
# open_functions = "files of the dry run stay in the folder that was moved away"
# why = "fcntl(2): record locks belong to the process. The other's locks hold after the run, its folder is where it put it, its files are its own"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for folder in ("run", "locks"):
        (WORK / folder).mkdir()
    (WORK / "run/result.dat").write_text("old result")
    for name in ("flock", "fcntl"):
        (WORK / "locks" / name).write_text("old")
    second = other("""
import fcntl
os.chdir(sys.argv[1])
a, b = open("locks/flock", "r+"), open("locks/fcntl", "r+")
fcntl.flock(a, fcntl.LOCK_EX); fcntl.lockf(b, fcntl.LOCK_EX)
print("ready", flush=True); time.sleep(1000)
""", WORK)
    program("""
import fcntl
attempt("locks", lambda: [open("locks/" + n, "a").write("by the look") for n in ("flock", "fcntl")])
def take():
    f = open("locks/flock", "r+"); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
attempt("take", take)
attempt("make", lambda: [open("run/" + n, "w").write("by the look") for n in ("result.dat", "made.dat")])
step(); say("AT 2"); time.sleep(4)
step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    os.rename(WORK / "run", WORK / "run.old")
    (WORK / "run").mkdir()
    for name in ("result.dat", "made.dat"):
        (WORK / "run" / name).write_text("of the other process")
    look.acted("locks", "take", "make")
    import fcntl
    free = []
    for name, lock in (("flock", fcntl.flock), ("fcntl", fcntl.lockf)):
        try:
            lock(open(WORK / "locks" / name, "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
            free.append(name)
        except OSError:
            pass
    texts = {str(p.relative_to(WORK)): p.read_text() for p in [WORK / "locks/flock", WORK / "locks/fcntl", *(WORK / "run").iterdir(), *(WORK / "run.old").iterdir()]}
    wanted = {"locks/flock": "old", "locks/fcntl": "old", "run/result.dat": "of the other process", "run/made.dat": "of the other process", "run.old/result.dat": "old result"}
    lost = {n: texts.get(n) for n in wanted if not (texts.get(n) or "").startswith(wanted[n])}
    dirty = {n: texts[n] for n in texts if texts[n] != wanted.get(n) and n not in lost and not look.said(n)}
    wrong = lost | dirty
    expect(not free and not wrong and second.process.poll() is None, f"locks that no longer hold: {free}; {len(wrong)} files: {wrong}")


main(scene)
