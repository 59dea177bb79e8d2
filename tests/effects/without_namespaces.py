"""Runs a command on a machine that allows no namespaces and no mounts.

    python tests/effects/without_namespaces.py COMMAND [ARGUMENT ...]

A seccomp filter answers EPERM to `unshare`, `setns`, `mount`, the newer calls for mounts, and `clone` with CLONE_NEWNS or CLONE_NEWUSER, as a container
does. It answers ENOSYS to `clone3`: glibc then calls `clone`, whose flags a filter can read. x86-64 only.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# linux/prctl.h, linux/seccomp.h, linux/audit.h, linux/sched.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
AUDIT_ARCH_X86_64 = 0xC000003E
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# linux/bpf_common.h: load a word of `struct seccomp_data`, compare, test bits, return.
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
# Offsets in `struct seccomp_data`: the number, the architecture, the lower half of the first argument.
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
CLONE, CLONE3 = 56, 435
# arch/x86/entry/syscalls/syscall_64.tbl
REFUSED = {
    "pivot_root": 155,
    "mount": 165,
    "umount2": 166,
    "unshare": 272,
    "setns": 308,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "mount_setattr": 442,
}


def statement(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """A `struct sock_filter`."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def filter_statements() -> list[bytes]:
    """The program of the filter."""
    eperm = statement(RETURN, ERRNO | errno.EPERM)
    lines = [
        statement(LOAD, ARCHITECTURE),
        statement(EQUAL, AUDIT_ARCH_X86_64, if_true=1),
        statement(RETURN, KILL),
        statement(LOAD, NUMBER),
    ]
    for number in REFUSED.values():
        lines += [statement(EQUAL, number, if_false=1), eperm]
    lines += [statement(EQUAL, CLONE3, if_false=1), statement(RETURN, ERRNO | errno.ENOSYS)]
    lines += [statement(EQUAL, CLONE, if_false=3), statement(LOAD, FIRST_ARGUMENT)]
    lines += [statement(ANY_BIT, CLONE_NEWNS | CLONE_NEWUSER, if_false=1), eperm]
    return [*lines, statement(RETURN, ALLOW)]


def install() -> None:
    """Sets the filter for this process and its children."""

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("statements", ctypes.c_void_p)]

    lines = filter_statements()
    text = ctypes.create_string_buffer(b"".join(lines))
    program = Program(len(lines), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def main() -> None:
    """Becomes the command."""
    if platform.machine() != "x86_64" or len(sys.argv) < 2:
        sys.exit(__doc__)
    install()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
