"""Logrotate: while the dry run's program holds train.log open, a real process renames it to train.log.1 and begins a new one; a second file is
moved to another folder, a third becomes a folder, a fourth a symbolic link."""

# /// expect
# commands = "check"
# guards = "both"
# open_functions = "bytes of the dry run stay in the rotated log"
# why = "what others did meanwhile is left; both logs have all lines of the others"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for name in ("train.log", "moved.dat", "folder", "link"):
        (WORK / name).write_text(f"old {name}\n" * 20)
    (WORK / "away").mkdir()
    program("""
log = open("train.log", "a"); log.write("by the look\\n"); log.flush()
attempt("change", lambda: [open(n, "a").write("by the look\\n") for n in ("moved.dat", "folder", "link")])
step(); say("AT 2"); time.sleep(4)
attempt("second", lambda: (log.write("by the look\\n"), log.flush()))
step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    os.rename(WORK / "train.log", WORK / "train.log.1")
    (WORK / "train.log").write_text("new log\n" * 5)
    os.rename(WORK / "moved.dat", WORK / "away/moved.dat")
    (WORK / "folder").unlink()
    (WORK / "folder").mkdir()
    (WORK / "folder/file").write_text("new")
    (WORK / "link").unlink()
    (WORK / "link").symlink_to("away/moved.dat")
    look.acted("change", "second")
    states = {
        "train.log": (WORK / "train.log").read_text().count("new log\n") == 5,
        "train.log.1": (WORK / "train.log.1").exists() and (WORK / "train.log.1").read_text().count("old train.log\n") == 20,
        "away/moved.dat": (WORK / "away/moved.dat").exists() and (WORK / "away/moved.dat").read_text().count("old moved.dat\n") == 20,
        "moved.dat": not (WORK / "moved.dat").exists(),
        "folder": (WORK / "folder").is_dir() and (WORK / "folder/file").read_text() == "new",
        "link": (WORK / "link").is_symlink() and os.readlink(WORK / "link") == "away/moved.dat",
    }
    lost = [k for k, v in states.items() if not v]
    expect(not lost, f"{len(lost)} of 6 are not as the other process left them: {lost}")
    dirty = [p.name for p in (WORK / "train.log", WORK / "train.log.1", WORK / "away/moved.dat") if "look" in p.read_text() and not look.said(p.name)]
    expect(not dirty, f"bytes of the dry run in {dirty}, unsaid")


main(scene)
