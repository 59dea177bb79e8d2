"""The dry run's program writes into a POSIX shared memory segment of a foreign process (/dev/shm, by shm_open and by multiprocessing), posts
its named semaphore, unlinks another, and writes through a shared mapping of the user's file."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: /dev/shm is covered, and a file changed in place is put back; the list of harms, 5"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import mmap
    names = [f"scene-{os.getpid()}-{i}" for i in range(2)]
    for name in names:
        pathlib.Path("/dev/shm", name).write_bytes(b"of the user" + bytes(4085))
        UNDO.append(lambda name=name: pathlib.Path("/dev/shm", name).unlink(missing_ok=True))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sem_open.restype = ctypes.c_void_p
    label = f"/scene-{os.getpid()}-s".encode()
    semaphore = libc.sem_open(label, os.O_CREAT, 0o600, 2)
    UNDO.append(lambda: libc.sem_unlink(label))
    libc.sem_getvalue.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    mine = WORK / "table"
    mine.write_bytes(b"of the user" + bytes(4085))
    views = [mmap.mmap(os.open(p, os.O_RDWR), 4096) for p in (f"/dev/shm/{names[0]}", mine)]
    program(f"""
import mmap
from multiprocessing import shared_memory
libc = ctypes.CDLL(None, use_errno=True); libc.sem_open.restype = ctypes.c_void_p; libc.sem_post.argtypes = [ctypes.c_void_p]
step()
def shm():
    f = os.open("/dev/shm/{names[0]}", os.O_RDWR); m = mmap.mmap(f, 4096); m[:11] = b"BY THE LOOK"; m.flush()
attempt("shm", shm)
def mp():
    m = shared_memory.SharedMemory("{names[0]}"); m.buf[20:24] = b"LOOK"; m.close()
attempt("mp", mp)
attempt("unlink", lambda: libc.shm_unlink(b"/{names[1]}"))
attempt("post", lambda: libc.sem_post(libc.sem_open({label!r}, 0)))
def mapping():
    f = open("table", "r+b"); m = mmap.mmap(f.fileno(), 4096); m[:11] = b"BY THE LOOK"; f.close(); m.flush(); m.close()
attempt("mapping", mapping)
step(); step()
""")
    Check().acted("shm", "mp", "unlink", "post", "mapping")
    value = ctypes.c_int()
    libc.sem_getvalue(semaphore, ctypes.byref(value))
    states = dict(shm=views[0][:11] == b"of the user" and b"LOOK" not in views[0][:], table=views[1][:11] == b"of the user" and mine.read_bytes()[:11] == b"of the user", unlinked=os.path.exists(f"/dev/shm/{names[1]}"), semaphore=value.value == 2)
    lost = [k for k, v in states.items() if not v]
    expect(not lost, f"{len(lost)} of 4 were changed: {', '.join(lost)}; semaphore 2 -> {value.value}; shm {views[0][:24]!r}")


main(scene)
