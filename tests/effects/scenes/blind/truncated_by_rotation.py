"""Copytruncate: while the dry run's program has the log open and appends, a real process copies the log away, truncates it to 0 and goes on to
append to it; a second log is truncated to a part and a third grows."""

# /// expect
# commands = "check"
# guards = "both"
# why = "an undo takes back a change and does not restore a state: what was truncated by others stays truncated, what they wrote after is there; the program's bytes are gone or the report names the file"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for name in ("a.log", "b.log", "c.log"):
        (WORK / name).write_text("".join(f"earlier {name} {i}\n" for i in range(50)))
    program("""
files = [open(n, "a") for n in ("a.log", "b.log", "c.log")]
def write(what):
    for f in files: f.write(f"program {what}\\n"); f.flush()
attempt("write", lambda: write("first")); step(); say("AT 2")
time.sleep(4); attempt("again", lambda: write("second")); step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    shutil.copy(WORK / "a.log", OUT / "a.log.1")
    os.truncate(WORK / "a.log", 0)
    os.truncate(WORK / "b.log", 30)
    for name in ("a.log", "b.log", "c.log"):
        with open(WORK / name, "a") as f:
            f.write("".join(f"other {name} {i}\n" for i in range(20)))
    look.acted("write", "again")
    for name, earlier in (("a.log", 0), ("b.log", 1), ("c.log", 50)):
        text = (WORK / name).read_bytes()
        others = [l for l in text.split(b"\n") if l.lstrip(b"\0").startswith(b"other") or b"other" in l]
        expect(len(others) == 20, f"{name}: {20 - len(others)} of 20 lines of the other process are lost")
        expect(text.count(b"earlier " + name.encode()) in (earlier, earlier + 1), f"{name}: {text.count(b'earlier')} earlier lines where the other process left {earlier}")
        rest = text.count(b"program")
        expect(not rest or look.said(name), f"{name}: {rest} lines of the dry run stay, and the report does not say so")


main(scene)
