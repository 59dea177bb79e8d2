"""The dry run's program receives (and so removes) a message of a foreign System V queue, posts its semaphore with SEM_UNDO, removes its shared
memory by IPC_RMID, sets a queue's mode, takes from a POSIX queue and unlinks it, and runs `ipcrm`."""

# /// expect
# commands = "check"
# guards = "both"
# why = "namespaces for IPC where there are some, else a guard on shmget, mq_open … for what is not the program's own"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    libc = ctypes.CDLL(None, use_errno=True)
    key = (os.getpid() << 8 | 0x53) & 0x7FFFFFFF
    shm, second, sem, msg = libc.shmget(key, 4096, 0o1600), libc.shmget(key + 1, 4096, 0o1600), libc.semget(key, 1, 0o1600), libc.msgget(key, 0o1600)
    UNDO.append(lambda: (libc.shmctl(shm, 0, None), libc.shmctl(second, 0, None), libc.semctl(sem, 0, 0), libc.msgctl(msg, 0, None)))
    letter = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0letter", 14)
    expect(libc.msgsnd(msg, letter, 6, 0) == 0, "void: no System V queues here")
    name = f"/scene-{os.getpid()}".encode()
    queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600, None)
    expect(queue >= 0 and libc.mq_send(queue, b"mine", 4, 0) == 0, "void: no POSIX queues here")
    UNDO.append(lambda: libc.mq_unlink(name))
    program(f"""
libc = ctypes.CDLL(None, use_errno=True)
def sure(answer):
    if answer == -1: raise OSError(ctypes.get_errno(), "refused")
    return answer
buffer = ctypes.create_string_buffer(65536)
step()
attempt("receive", lambda: sure(libc.msgrcv(sure(libc.msgget({key}, 0)), buffer, 100, 0, 0o4000)))
attempt("post", lambda: sure(libc.semop(sure(libc.semget({key}, 1, 0)), (ctypes.c_short * 3)(0, 3, 0), 1)))
attempt("remove", lambda: sure(libc.shmctl(sure(libc.shmget({key}, 4096, 0)), 0, None)))
attempt("ipcrm", lambda: os.system("ipcrm -M {key + 1}"))
attempt("take", lambda: sure(libc.mq_receive(sure(libc.mq_open({name!r}, os.O_RDONLY | os.O_NONBLOCK)), buffer, 65536, None)))
attempt("unlink", lambda: sure(libc.mq_unlink({name!r})))
step(); step()
""")
    look = Check().acted("receive", "post", "remove", "ipcrm", "take", "unlink")
    buffer = ctypes.create_string_buffer(65536)
    facts = dict(
        letter=libc.msgrcv(libc.msgget(key, 0), buffer, 100, 0, 0o4000) == 6,
        semaphore=libc.semctl(sem, 0, 12) == 0,
        memory=libc.shmget(key, 4096, 0) == shm,
        memory_of_ipcrm=libc.shmget(key + 1, 4096, 0) == second,
        message=libc.mq_receive(queue, buffer, 65536, None) == 4,
        name=libc.mq_open(name, os.O_RDWR) >= 0,
    )
    lost = [k for k, v in facts.items() if not v]
    expect(not lost, f"{len(lost)} of 6 were changed: {', '.join(lost)}; refused: {look.text().count('refused')}")


main(scene)
