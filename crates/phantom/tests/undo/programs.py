"""Programs that change the tree of `tree.rs`, each below a line that names its subject."""
# --- opened to be written
for name in ["a.txt", "b.bin", "empty", "hard1", "run.sh", "link", "dangling", "new", "read_only"]:
    with open(name, "w") as file:
        file.write("x")
# --- opened to be changed
for name in ["a.txt", "b.bin", "empty", "hard1", "run.sh", "link", "holes"]:
    with open(name, "r+") as file:
        file.write("x")
# --- opened to grow
for name in ["a.txt", "b.bin", "empty", "hard1", "log", "link", "dangling", "new", "holes"]:
    with open(name, "a") as file:
        file.write("x")
# --- opened to grow, and made shorter
import os
file = open("log", "a")
file.write("two")
file.flush()
file.truncate(1)
fd = os.open("a.txt", os.O_RDWR | os.O_APPEND)
os.ftruncate(fd, 0)
os.write(fd, b"z")
# --- made or not
import os
try:
    open("b.bin", "x")
except FileExistsError:
    pass
open("y", "x").write("1")
os.close(os.open("lock", os.O_RDONLY | os.O_CREAT))
os.close(os.open("a.txt", os.O_RDONLY | os.O_CREAT | os.O_TRUNC))
# --- truncated by path
import os
os.truncate("b.bin", 5)
os.truncate("a.txt", 100)
# --- mapped
import mmap
with open("b.bin", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[10:14] = b"abcd"
# --- written into a hole
with open("holes", "r+b") as file:
    file.seek(1 << 20)
    file.write(b"data")
# --- removed
import os
for name in ["a.txt", "link", "dangling", "hard1", "pipe", "b.bin", "read_only", "holes", "folder_link"]:
    os.unlink(name)
os.rmdir("hollow")
# --- a tree removed and made again
import os, shutil
shutil.rmtree("sub")
os.makedirs("sub/deep")
open("sub/c.txt", "w").write("other")
shutil.rmtree("sub")
os.mkdir("sub")
# --- replaced as checkpoints are
import os
for turn in range(3):
    with open("b.bin.tmp", "w") as file:
        file.write("new" * turn)
    os.replace("b.bin.tmp", "b.bin")
    os.rename("b.bin", "b.old")
    os.replace("b.old", "b.bin")
# --- renamed, files and folders
import os
os.rename("a.txt", "z.txt")
os.rename("sub", "moved")
open("moved/c.txt", "a").write("more")
os.unlink("moved/deep/d.txt")
os.rename("moved/deep", "deep")
os.rename("other", "hollow")
open("a.txt", "w").write("another")
os.rename("hollow", "moved/hollow")
# --- a renamed folder removed
import os, shutil
os.rename("sub", "doomed")
os.chmod("doomed/c.txt", 0o600)
open("doomed/new", "w")
shutil.rmtree("doomed")
# --- a made folder that gives a file and goes
import os
os.mkdir("build")
open("build/out", "w").write("1")
os.rename("build/out", "a.txt")
os.rmdir("build")
# --- renamed in a circle
import os
os.rename("a.txt", "t")
os.rename("log", "a.txt")
os.rename("t", "log")
open("log", "r+").write("Q")
os.unlink("a.txt")
# --- links
import os
os.link("a.txt", "second")
open("second", "r+").write("X")
os.unlink("a.txt")
os.symlink("second", "a.txt")
open("a.txt", "w").write("through")
os.link("hard1", "hard3")
os.rename("hard1", "sub/hard2")
os.unlink("hard1")
os.unlink("sub/hard2")
# --- through a link to a folder
import os
open("folder_link/c.txt", "w").write("x")
open("folder_link/new", "w").write("x")
os.rename("folder_link/deep", "folder_link/other")
os.unlink("folder_link")
os.mkdir("folder_link")
open("folder_link/c.txt", "w")
# --- mode, owner, times
import os
os.chmod("a.txt", 0o600)
os.chmod("sub", 0o700)
os.utime("log", (1, 1))
os.utime("link", (5, 5), follow_symlinks=False)
os.utime("sub/deep")
with open("b.bin") as file:
    os.fchmod(file.fileno(), 0o640)
    os.utime(file.fileno(), (7, 7))
if os.geteuid() == 0:
    os.chown("run.sh", 1, 1)
    os.lchown("dangling", 1, 1)
os.chmod(".", 0o711)
# --- attributes
import os
os.setxattr("a.txt", "user.note", b"other")
os.setxattr("log", "user.note", b"\0\1\2")
os.setxattr("sub", "user.note", b"folder")
with open("run.sh") as file:
    os.setxattr(file.fileno(), "user.note", b"open")
os.removexattr("a.txt", "user.note")
# --- a read-only file that is removed after its mode was changed
import os
os.chmod("read_only", 0o644)
open("read_only", "r+").write("now")
os.chmod("read_only", 0o000)
os.unlink("read_only")
# --- files of the library's own names
import os, tempfile
tempfile.tempdir = "."
tempfile.mkdtemp()
os.write(tempfile.mkstemp()[0], b"x")
with tempfile.NamedTemporaryFile(delete=False) as file:
    file.write(b"kept")
with tempfile.TemporaryFile() as file:
    file.write(b"gone")
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/x", "w").write("x")
# --- a file without a name that gets one
import ctypes, os
fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"here")
assert ctypes.CDLL(None).linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b"named", 0x400) == 0
os.fchmod(fd, 0o640)
# --- sockets and pipes
import os, socket
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
os.mkfifo("second_pipe")
os.mknod("node")
# --- a database with a write-ahead log
import sqlite3
for turn in range(2):
    base = sqlite3.connect("data.db")
    base.execute("pragma journal_mode=wal")
    base.execute("create table if not exists t (x)")
    base.executemany("insert into t values (?)", [(i,) for i in range(500)])
    base.commit()
    base.close()
# --- locks
import fcntl, os
with open("empty", "w") as one:
    fcntl.flock(one, fcntl.LOCK_EX)
    with open("empty", "w") as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise SystemExit("two locks on one file")
        except BlockingIOError:
            pass
    one.write("held")
# --- threads
import os, threading
def work(number):
    for turn in range(30):
        name = f"t{number}-{turn}"
        open(name, "w").write(name)
        os.replace(name, ["a.txt", "log", "sub/c.txt", f"own{number}"][turn % 4])
        open("log", "a").write("x")
        if turn % 7 == 0:
            open("b.bin", "r+").write(str(turn))
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# --- forks
import os
children = []
for number in range(6):
    child = os.fork()
    if child == 0:
        for turn in range(20):
            open("b.bin", "r+").write(str(number))
            open(f"f{number}", "a").write("x")
            open("f", "w").write("y")
            os.replace("f" + str(number), "a.txt")
        os._exit(0)
    children.append(child)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
# --- helpers
import subprocess
subprocess.run("rm -rf sub; mv a.txt z; echo x >> log; cp b.bin c.bin; rm c.bin", shell=True, check=True)
subprocess.run(["touch", "empty", "new"], check=True)
open("z", "w").write("parent")
subprocess.run(["sed", "-i", "s/o/0/", "log"], check=True)
subprocess.run(["truncate", "-s", "9", "b.bin"], check=True)
# --- shared memory
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=100)
open("a.txt", "w")
memory.close()
memory.unlink()
# --- copies of trees
import os, shutil
shutil.copytree("sub", "copy", symlinks=True)
shutil.move("copy", "other")
shutil.copy2("b.bin", "a.txt")
shutil.move("log", "sub/log")
shutil.move("sub", "hollow/sub")
# --- names with odd bytes
import os
name = b"odd \x01\x02\n\xff name"
open(name, "w").write("x")
os.rename(name, b"\x01M")
os.rename("a.txt", name)
# --- folders by number
import os
folder = os.open("sub", os.O_RDONLY)
fd = os.open("c.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=folder)
os.write(fd, b"x")
os.rename("c.txt", "g.txt", src_dir_fd=folder, dst_dir_fd=folder)
os.mkdir("h", dir_fd=folder)
os.unlink("deep/d.txt", dir_fd=folder)
os.symlink("x", "i", dir_fd=folder)
os.rename("sub", "elsewhere")
os.unlink("g.txt", dir_fd=folder)
os.chdir("elsewhere")
open("../a.txt", "w")
open("./h/../j", "w")
# --- system calls of the program's own
import ctypes
call = ctypes.CDLL(None, use_errno=True).syscall
assert call(87, b"a.txt") == 0
assert call(82, b"log", b"b.bin") == 0
# Folders are not exchanged: the journal knows them by their paths.
assert call(316, -100, b"sub", -100, b"other", 2) == -1
assert call(316, -100, b"holes", -100, b"empty", 2) == 0
assert call(83, b"made", 0o755) == 0
assert call(90, b"run.sh", 0o700) == 0
assert call(425, 1, 0) == -1
# --- an open file that is replaced, removed, renamed
import os
files = [open(name) for name in ["a.txt", "log", "run.sh"]]
open("t", "w").write("x")
os.replace("t", "a.txt")
os.unlink("log")
os.rename("run.sh", "ran.sh")
for file in files:
    os.fchmod(file.fileno(), 0o600)
    os.utime(file.fileno(), (3, 3))
