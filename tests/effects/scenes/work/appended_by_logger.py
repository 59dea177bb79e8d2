"""A real process appends lines to two logs during the whole dry run, with O_APPEND and under flock; the program appends to them too, by
logging.FileHandler that stays open and by a shell's >>."""

# /// expect
# commands = "check"
# guards = "both"
# why = "\"Cut off only the program's own bytes; a file that others changed meanwhile is left, and the report says so\": each line of the other is there once, in its order; lines of the program are gone, or the report names the file"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (WORK / "a.log").write_text("".join(f"earlier {i}\n" for i in range(50)))
    (WORK / "b.log").write_text("")
    program("""
import logging
log = logging.getLogger("mine"); log.addHandler(logging.FileHandler("a.log")); log.warning("program first")
attempt("shell", lambda: os.system("echo program shell >> b.log"))
for i in range(3):
    log.warning("program %d", i); time.sleep(1); step()
""")
    second = other("""
import fcntl
os.chdir(sys.argv[1]); print("ready", flush=True); n = 0
while not os.path.exists(sys.argv[2] + "/stop"):
    for name in ("a.log", "b.log"):
        f = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if name == "b.log": fcntl.flock(f, fcntl.LOCK_EX)
        os.write(f, b"other %d\\n" % n); os.close(f)
    n += 1; time.sleep(0.02)
print("WROTE", n, flush=True)
""", WORK, OUT)
    look = Check().acted("shell")
    (OUT / "stop").touch()
    until(lambda: "WROTE" in second.text(), "the second process")
    count = int(second.text().split()[-1])
    for name, head in (("a.log", [f"earlier {i}" for i in range(50)]), ("b.log", [])):
        lines = (WORK / name).read_text(errors="replace").splitlines()
        others = [l for l in lines if l.startswith("other")]
        expect(others == [f"other {i}" for i in range(count)], f"{name}: {count - len(others)} of {count} lines of the other process are lost")
        expect(lines[: len(head)] == head, f"{name}: earlier lines are lost")
        rest = [l for l in lines if "other" not in l and "earlier" not in l]
        expect(not rest or look.said(name), f"{name}: {len(rest)} lines of the dry run stay, and the report does not say so: {rest[:3]}")


main(scene)
