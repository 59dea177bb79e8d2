"""While the dry run is in step 2 a real process removes files that the program changed, removes a folder in which it made files, and fills a
folder that the program emptied; a lock file is taken with O_EXCL after the program removed it."""

# /// expect
# commands = "check"
# guards = "both"
# why = "what others removed stays removed, what they made stays"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for name in ("changed", "lock"):
        (WORK / name).write_text(f"old {name}")
    for folder in ("gone", "emptied"):
        (WORK / folder).mkdir()
        (WORK / folder / "file").write_text("old")
    program("""
import shutil
attempt("change", lambda: open("changed", "a").write("by the look"))
attempt("into", lambda: open("gone/by_the_look", "w").write("by the look"))
attempt("empty", lambda: shutil.rmtree("emptied"))
attempt("unlock", lambda: os.remove("lock"))
step(); say("AT 2"); time.sleep(4)
step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    (WORK / "changed").unlink()
    shutil.rmtree(WORK / "gone")
    (WORK / "emptied").mkdir(exist_ok=True)
    (WORK / "emptied/new").write_text("new")
    is_free = not (WORK / "lock").exists()
    if is_free:
        (WORK / "lock").write_text("of the other process")
    look.acted("change", "into", "empty", "unlock")
    states = {
        "changed comes back": not (WORK / "changed").exists(),
        "gone comes back": not (WORK / "gone").exists(),
        "emptied/new is lost": (WORK / "emptied/new").exists() and (WORK / "emptied/new").read_text() == "new",
        "emptied/file is lost": (WORK / "emptied/file").exists() and (WORK / "emptied/file").read_text() == "old",
        "lock": (WORK / "lock").exists() and (WORK / "lock").read_text() == ("of the other process" if is_free else "old lock"),
    }
    lost = [k for k, v in states.items() if not v]
    expect(not lost, f"{len(lost)} of 5: {lost}")


main(scene)
