"""The working folder is a tmpfs of 4 MiB with 3 MiB of the user's files; the dry run's program overwrites them, fills the disk until ENOSPC,
removes and renames; a folder in it is a read-only bind mount, another a bind mount of a folder elsewhere, a third a tmpfs inside."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: files are as they were; an original that cannot be kept for want of room must not be lost: the change is refused instead. ENOSPC in the program is as good as success"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def mount(*words):
    return subprocess.run(["mount", *map(str, words)], capture_output=True).returncode == 0


def scene():
    if not mount("-t", "tmpfs", "-o", "size=4m,mode=755", "scene", WORK):
        skipped("no mount here")
    for folder in ("read_only", "home", "inner", "data"):
        (WORK / folder).mkdir()
    (OUT / "second").mkdir()
    (OUT / "second/kept").write_text("of the user")
    (OUT / "source").mkdir()
    (OUT / "source/fixed").write_text("of the user")
    expect(mount("--bind", OUT / "source", WORK / "read_only") and mount("-o", "remount,bind,ro", WORK / "read_only"), "void: no bind mount")
    expect(mount("--bind", OUT / "second", WORK / "home") and mount("-t", "tmpfs", "-o", "size=1m", "scene", WORK / "inner"), "void: no bind mount")
    for i in range(3):
        (WORK / f"data/{i}").write_bytes(os.urandom(1 << 20))
    (WORK / "inner/mine").write_bytes(os.urandom(700_000))
    program("""
attempt("over", lambda: open("data/0", "wb").write(os.urandom(1 << 20)))
attempt("in place", lambda: open("data/1", "r+b").write(b"X" * 500_000))
def fill():
    with open("filler", "wb", buffering=0) as f:
        for _ in range(60): f.write(os.urandom(100_000))
attempt("fill", fill)
attempt("remove", lambda: os.remove("data/2"))
attempt("rename", lambda: os.rename("data/0", "data/moved"))
attempt("inner", lambda: open("inner/mine", "wb").write(os.urandom(900_000)))
attempt("read only", lambda: open("read_only/fixed", "a").write("x"))
attempt("home", lambda: open("home/kept", "w").write("gone"))
step(); step(); step()
""")
    before = snapshot(WORK, OUT / "second", OUT / "source")
    Check().acted("over", "in place", "fill", "remove", "rename", "inner", "home")
    unchanged(before, WORK, OUT / "second", OUT / "source")


main(scene)
