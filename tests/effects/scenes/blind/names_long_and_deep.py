"""Names of 255 bytes and a tree whose path is longer than PATH_MAX (4,096 bytes), reached by chdir and by folder descriptors only; the dry
run's program overwrites, removes, renames and makes files at its bottom, and in a folder of 3,000 files."""

# /// expect
# commands = "check"
# guards = "both"
# why = "limits.h: NAME_MAX 255; PATH_MAX bounds one argument, not a tree. A change that a guard cannot keep the original of is refused; the user's files are as they were"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def at_bottom(parts, act):
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(WORK)
        for part in parts:
            os.chdir(part)
        return act()
    finally:
        os.fchdir(here)
        os.close(here)


def scene():
    parts = ["d" * 250] * 18
    long = "n" * 255

    def make():
        for name in (long, "over", "remove", "rename"):
            with open(name, "w") as f:
                f.write("of the user")

    os.chdir(WORK)
    for part in parts:
        os.mkdir(part)
        os.chdir(part)
    os.chdir(WORK)
    at_bottom(parts, make)
    (WORK / long).write_text("of the user")
    (WORK / "many").mkdir()
    for i in range(3000):
        (WORK / "many" / f"{i}").write_text("of the user")
    program(f"""
long = {long!r}
top = os.open(".", os.O_RDONLY)
def change():
    for part in {parts!r}: os.chdir(part)
    open("over", "w").write("gone"); open(long, "a").write("gone"); os.remove("remove"); os.rename("rename", "r" * 255); open("new", "w").write("new")
attempt("deep", change)
os.fchdir(top)
attempt("long", lambda: (open(long, "w").write("gone"), os.rename(long, "m" * 255)))
attempt("by descriptor", lambda: os.write(os.open(long, os.O_WRONLY | os.O_CREAT, dir_fd=top), b"new"))
def many():
    for i in range(0, 3000, 2): os.remove(f"many/{{i}}")
    for i in range(1, 3000, 2): open(f"many/{{i}}", "a").write("more")
attempt("many", many)
step(); step(); step()
""")
    read = lambda: {n: open(n).read() for n in sorted(os.listdir("."))}
    bottom = at_bottom(parts, read)
    Check(cwd=WORK).acted("deep", "long", "by descriptor", "many")
    after = at_bottom(parts, read)
    expect(after == bottom, f"at the bottom of {sum(map(len, parts))} bytes: {[(n[:20], bottom.get(n), after.get(n)) for n in bottom.keys() | after.keys() if bottom.get(n) != after.get(n)]}")
    names = sorted(n[:9] for n in os.listdir(WORK))
    expect(names == sorted([parts[0][:9], long[:9], "many", "train.py"]) and (WORK / long).read_text() == "of the user", f"in the folder: {names}")
    bad = [i for i in range(3000) if not (WORK / f"many/{i}").exists() or (WORK / f"many/{i}").read_text() != "of the user"]
    expect(not bad and len(os.listdir(WORK / "many")) == 3000, f"{len(bad)} of 3000 files were changed")


main(scene)
