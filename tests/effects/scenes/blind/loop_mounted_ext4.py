"""The working folder is an ext4 of 8 MiB on a loop device, full to the last block, with an immutable file (chattr +i), an append-only one
(+a), a project of hard links and a swap of two files; the dry run's program overwrites, appends, takes the attributes away and removes."""

# /// expect
# commands = "check"
# guards = "both"
# open_functions = "changes on another file system stay"
# why = "docs/effects.md: files are as they were; where no original can be kept, the change is refused. chattr(1): +i and +a are attributes of the user's file and stay"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def scene():
    image = OUT / "image"
    with open(image, "wb") as f:
        f.truncate(8 << 20)
    run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", image)
    if run("mount", "-o", "loop", image, WORK).returncode:
        skipped("no loop devices here")
    (WORK / "full").write_bytes(os.urandom(3 << 20))
    for name in ("one", "fixed", "log"):
        (WORK / name).write_bytes(name.encode() * 20_000)
    os.link(WORK / "one", WORK / "two")
    program("""
import fcntl
attempt("over", lambda: open("full", "wb").write(os.urandom(2 << 20)))
attempt("in place", lambda: open("one", "r+b").write(b"X" * 60_000))
attempt("immutable", lambda: open("fixed", "ab").write(b"X"))
attempt("append", lambda: open("log", "ab").write(b"by the look"))
attempt("chattr", lambda: os.system("chattr -i fixed 2>/dev/null; chattr -a log 2>/dev/null; rm -f fixed; : > log"))
attempt("remove", lambda: os.remove("two"))
def swap(): os.rename("one", "three"); os.rename("full", "one"); os.rename("three", "full")
attempt("swap", swap)
step(); step(); step()
""")
    try:
        with open(WORK / "filler", "wb", buffering=0) as f:
            while True:
                f.write(bytes(4096))
    except OSError:
        pass
    run("chattr", "+i", WORK / "fixed")
    run("chattr", "+a", WORK / "log")
    marks = lambda: [l.split()[0] for l in sorted(run("lsattr", WORK / "fixed", WORK / "log").stdout.splitlines())]
    before, attributes = snapshot(WORK), marks()
    expect(len(attributes) == 2 and "i" in "".join(attributes), "void: no attributes")
    Check().acted("over", "in place", "append", "chattr", "remove", "swap")
    unchanged(before, WORK)
    expect(marks() == attributes, f"attributes {attributes} -> {marks()}")


main(scene)
