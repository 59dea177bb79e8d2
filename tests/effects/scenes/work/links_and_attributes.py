"""A file with three hard links (the dry run's program writes through one, removes one, replaces one), and files whose mode, owner, times,
extended attributes and set-user-ID bit it changes; sparse files; a symbolic link to the user's file that it writes through."""

# /// expect
# commands = "check"
# guards = "both"
# why = 'docs/effects.md: files are as they were: inode(7) mode, owner, links, mtime, xattr(7); a "hard link that is written loses its other names" during the run only'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for name in ("one", "mode", "owner", "times", "xattr", "suid", "target", "plain"):
        (WORK / name).write_text(name * 50)
    os.link(WORK / "one", WORK / "two")
    os.link(WORK / "one", WORK / "three")
    os.setxattr(WORK / "xattr", "user.kept", b"1")
    os.chmod(WORK / "suid", 0o4755)
    os.utime(WORK / "times", (1e9, 1e9))
    with open(WORK / "sparse", "wb") as f:
        f.truncate(50 << 20)
        f.seek(30 << 20)
        f.write(b"x")
    (WORK / "link").symlink_to("target")
    program("""
attempt("write one", lambda: open("one", "a").write("gone"))
attempt("remove two", lambda: os.remove("two"))
attempt("replace three", lambda: (open("t", "w").write("new"), os.replace("t", "three")))
attempt("mode", lambda: (os.chmod("mode", 0o600), os.chmod(".", 0o700)))
attempt("owner", lambda: os.chown("owner", 1234, 1234))
attempt("times", lambda: os.utime("times", (5, 5)))
attempt("xattr", lambda: (os.setxattr("xattr", "user.new", b"2"), os.removexattr("xattr", "user.kept"), os.setxattr("plain", "user.x", b"1")))
attempt("suid", lambda: open("suid", "a").write("x"))
attempt("sparse", lambda: open("sparse", "r+b").write(b"y"))
attempt("link", lambda: open("link", "a").write("gone"))
attempt("acl", lambda: os.system("setfacl -m u:nobody:rw plain 2>/dev/null; touch -d 1999-01-01 plain; ln -f plain suid"))
step(); step(); step()
""")
    before = snapshot(HOME, WORK)
    inodes, blocks = [os.stat(WORK / n).st_ino for n in ("one", "two", "three")], os.stat(WORK / "sparse").st_blocks
    Check().acted("write one", "remove two", "replace three", "mode", "owner", "xattr", "sparse", "link")
    unchanged(before, HOME, WORK)
    now = [os.stat(WORK / n).st_ino for n in ("one", "two", "three")]
    expect(len(set(now)) == 1, f"hard links: inodes {inodes} -> {now}")
    expect(os.stat(WORK / "sparse").st_blocks <= blocks + 64, f"the sparse file had {blocks} blocks and has {os.stat(WORK / 'sparse').st_blocks}")


main(scene)
