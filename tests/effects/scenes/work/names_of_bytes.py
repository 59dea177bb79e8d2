"""The user's folders and files have names with newlines, quotes, a backslash, spaces at the end, control characters, bytes that are not UTF-8,
`-rf`, `%s`, `*`; the dry run's program overwrites, removes, renames and makes such ones, and the working folder has a newline, quotes and a
letter that is not ASCII in its name."""

# /// expect
# commands = "check"
# guards = "both"
# why = "path_resolution(7): a name is bytes without / and NUL; docs/effects.md: files are as they were; the report is valid JSON"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
NAMES = [b"a\nb", b"\xff\xfe\x80", b"tab\tquote\"'", b"back\\slash\\n", b"end ", b" ", b"-rf", b"%s%n", b"*", b"$(touch x)", b"\x01\x1b[31m", "é\u202e".encode(), b"..x", b"a" * 200 + b"\n"]


def scene():
    folder = os.fsencode(WORK) + b"/in\n\xc3\xa9'\" folder"
    os.mkdir(folder)
    for name in NAMES:
        os.mkdir(folder + b"/d" + name)
        for place in (folder + b"/" + name, folder + b"/d" + name + b"/" + name):
            with open(place, "wb") as f:
                f.write(b"of the user " + name)
    with open(folder + b"/train.py", "w") as f:
        f.write(STEPS + f"""
import shutil
names = {NAMES!r}
def change():
    for i, n in enumerate(names):
        if i % 4 == 0: open(n, "wb").write(b"gone")
        elif i % 4 == 1: os.remove(n)
        elif i % 4 == 2: os.rename(n, n + b"\\n2")
        else: open(n, "ab").write(b"more")
        if i % 2: shutil.rmtree(b"d" + n)
        else: os.rename(b"d" + n, b"e" + n); open(b"e" + n + b"/\\xfe\\n", "wb").write(b"new")
        open(b"new" + n, "wb").write(b"new"); os.symlink(n, b"link" + n)
attempt("change", change)
step(); step(); step()
""")
    before = snapshot(HOME, WORK)
    look = Check(cwd=folder).acted("change")
    expect("refused" not in look.text(), f"void: {look.text()[-300:]}")
    unchanged(before, HOME, WORK)
    expect(CONTROL or look.report(), "the report is no JSON")


main(scene)
