"""A file of 100 records of 4,096 bytes: a real process overwrites records 0 to 49 in place (pwrite, a shared mapping) during the dry run,
while its program overwrites 50 to 99 and makes the file longer; a second file is enlarged by both with holes."""

# /// expect
# commands = "check"
# guards = "both"
# open_functions = "records of the other process are lost in files that both write"
# why = "an undo takes back the program's change and not the other's: the records that the other wrote last are there"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import mmap
    for name in ("table.dat", "mapped.dat"):
        (WORK / name).write_bytes(b"o" * 4096 * 100)
    (WORK / "holes.dat").write_bytes(b"o" * 100)
    program("""
import mmap
def write():
    f = os.open("table.dat", os.O_RDWR)
    for i in range(50, 100): os.pwrite(f, b"L" * 4096, i * 4096)
    os.pwrite(f, b"L" * 10, 4096 * 120)
attempt("write", write)
def mapped():
    f = open("mapped.dat", "r+b"); m = mmap.mmap(f.fileno(), 0); m[50 * 4096:] = b"L" * (4096 * 50); m.flush(); m.close(); f.close()
attempt("mapped", mapped)
attempt("holes", lambda: os.truncate("holes.dat", 100_000))
step(); say("AT 2"); time.sleep(4); attempt("again", write); step(); step()
""")
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    with open(WORK / "table.dat", "r+b", buffering=0) as f:
        for i in range(50):
            os.pwrite(f.fileno(), b"N" * 4096, i * 4096)
    with open(WORK / "mapped.dat", "r+b") as f, mmap.mmap(f.fileno(), 0) as view:
        view[: 50 * 4096] = b"N" * (4096 * 50)
        view.flush()
    with open(WORK / "holes.dat", "ab") as f:
        f.write(b"N" * 50)
    look.acted("write", "mapped", "holes", "again")
    texts = {n: (WORK / n).read_bytes() for n in ("table.dat", "mapped.dat", "holes.dat")}
    counts = {n: t.count(b"N") for n, t in texts.items()}
    expect(counts == {"table.dat": 204800, "mapped.dat": 204800, "holes.dat": 50}, f"bytes of the other process that are there: {counts} of 204800, 204800 and 50")
    dirty = {n: t.count(b"L") for n, t in texts.items() if b"L" in t or len(t) > 409600 + 10 if not look.said(n)}
    expect(not dirty, f"bytes of the dry run stay, unsaid: {dirty}")


main(scene)
