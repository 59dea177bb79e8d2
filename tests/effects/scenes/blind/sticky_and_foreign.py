"""The dry run's program becomes `nobody` (setgid, setuid) after its first step and works on a sticky folder (1777) with files of root, of
nobody and of a third user, on a folder without write permission and one with set-group-ID; links are turned into folders and folders into
links."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: files are as they were, with owner, group and mode; as in a real run, root's files are not nobody's to remove"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    os.chmod(ROOM, 0o755)
    os.chmod(WORK, 0o755)
    for folder, mode in (("sticky", 0o1777), ("closed", 0o755), ("group", 0o2775)):
        (WORK / folder).mkdir()
        for name, owner in (("root", 0), ("nobody", 65534), ("third", 1234)):
            (WORK / folder / name).write_text(f"of {name}")
            os.chown(WORK / folder / name, owner, owner)
        (WORK / folder / "tree").mkdir()
        (WORK / folder / "tree/file").write_text("x")
        (WORK / folder / "link").symlink_to("root")
        for n in ("tree", "tree/file", "link"):
            os.lchown(WORK / folder / n, 65534, 65534)
        os.chmod(WORK / folder, mode)
    os.chown(WORK / "group", 65534, 1234)
    program("""
step()
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
import shutil
done = []
def act(call):
    try: call(); done.append(1)
    except OSError: done.append(0)
def change():
    for f in ("sticky", "closed", "group"):
        for n in ("root", "nobody", "third"):
            act(lambda: open(f"{f}/{n}", "a").write("gone"))
            act(lambda: os.rename(f"{f}/{n}", f"{f}/{n}2"))
            act(lambda: os.remove(f"{f}/{n}2"))
        act(lambda: open(f"{f}/new", "w").write("new"))
        act(lambda: shutil.rmtree(f"{f}/tree")); act(lambda: os.symlink("root", f"{f}/tree"))
        act(lambda: os.remove(f"{f}/link")); act(lambda: os.mkdir(f"{f}/link"))
        act(lambda: os.chmod(f"{f}", 0o700))
    return sum(done)
attempt("change", change)
step(); step()
""")
    before = snapshot(HOME, WORK)
    look = Check()
    look.end()
    expect("ACTED change" in look.text(), f"void: {look.text()[-300:]}")
    unchanged(before, HOME, WORK)


main(scene)
