"""The dry run's program writes into the System V shared memory of a foreign process, sets its semaphore, and sends to its POSIX message queue."""

# /// expect
# commands = "check"
# guards = "both"
# why = "\"System V shared memory was overwritten, a POSIX queue's message arrived\""
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    key = (os.getpid() << 8 | 0x52) & 0x7FFFFFFF
    shm = libc.shmget(key, 4096, 0o1600)
    sem = libc.semget(key, 1, 0o1600)
    UNDO.append(lambda: (libc.shmctl(shm, 0, None), libc.semctl(sem, 0, 0)))
    at = libc.shmat(shm, None, 0)
    ctypes.memmove(at, b"of the user", 11)
    libc.semctl(sem, 0, 16, 4)
    name = f"/scene-{os.getpid()}".encode()
    queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600, None)
    expect(shm >= 0 and sem >= 0 and queue >= 0, "void: no IPC here")
    UNDO.append(lambda: libc.mq_unlink(name))
    program(f"""
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p; libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
def sure(answer):
    if answer in (-1, None, 2**64 - 1): raise OSError(ctypes.get_errno(), "refused")
    return answer
step()
def memory(): ctypes.memmove(sure(libc.shmat(sure(libc.shmget({key}, 4096, 0)), None, 0)), b"BY THE LOOK", 11)
attempt("memory", memory)
attempt("by id", lambda: ctypes.memmove(sure(libc.shmat({shm}, None, 0)) + 100, b"BY THE LOOK", 11))
attempt("semaphore", lambda: sure(libc.semctl(sure(libc.semget({key}, 1, 0)), 0, 16, 9)))
def send(): sure(libc.mq_send(sure(libc.mq_open({name!r}, os.O_WRONLY)), b"look", 4, 0))
attempt("queue", send)
attempt("own", lambda: sure(libc.shmctl(sure(libc.shmget(0, 4096, 0o1600)), 0, None)))
step(); step()
""")
    look = Check().acted("memory", "by id", "semaphore", "queue", "own")
    text, value = ctypes.string_at(at, 200), libc.semctl(sem, 0, 12)
    buffer = ctypes.create_string_buffer(65536)
    got = libc.mq_receive(queue, buffer, 65536, None)
    expect(text[:11] == b"of the user" and b"BY THE LOOK" not in text and value == 4 and got == -1, f"memory {text[:11]!r}, by id {b'BY THE LOOK' in text[50:]}, semaphore 4 -> {value}, queue's message of {got} bytes")
    expect("ACTED own 0" in look.text(), f"the program's own shared memory does not work: {look.text()[-200:]}")


main(scene)
