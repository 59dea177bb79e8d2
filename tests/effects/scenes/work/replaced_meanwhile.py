"""While the dry run is in step 2, a real process replaces files that the program had overwritten, appended to, renamed away, removed and made
(os.replace of a new file, as editors and checkpoints do); the program writes again afterwards."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"an undo that restores a state instead of taking back a change … a file that others changed meanwhile is left"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
NAMES = ("over.dat", "append.dat", "renamed.dat", "removed.dat", "made.dat")


def scene():
    for name in NAMES[:-1]:
        (WORK / name).write_text(f"old {name}")
    program("""
attempt("over", lambda: open("over.dat", "w").write("by the look"))
attempt("append", lambda: open("append.dat", "a").write("by the look"))
attempt("rename", lambda: os.rename("renamed.dat", "elsewhere.dat"))
attempt("remove", lambda: os.remove("removed.dat"))
attempt("make", lambda: open("made.dat", "w").write("by the look"))
step(); say("AT 2"); time.sleep(4)
attempt("second", lambda: open("append.dat", "a").write("by the look"))
step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    for name in NAMES:
        (OUT / name).write_text(f"new {name} of the other process")
        os.replace(OUT / name, WORK / name)
    look.acted("over", "append", "rename", "remove", "make", "second")
    found = {n: (WORK / n).read_text() if (WORK / n).exists() else None for n in NAMES}
    lost = {n: t for n, t in found.items() if t is None or not t.startswith(f"new {n} of the other process")}
    expect(not lost, f"{len(lost)} of 5 files of the other process are lost: {lost}")
    dirty = [n for n, t in found.items() if "look" in t and not look.said(n)]
    expect(not dirty, f"bytes of the dry run in {dirty}, unsaid")
    expect(not (WORK / "elsewhere.dat").exists() or look.said("elsewhere.dat"), "the renamed file stays, unsaid")


main(scene)
