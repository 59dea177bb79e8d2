# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 39
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Runs in a sandbox that ends it at `ptrace` and `process_vm_readv`, and knows no `memfd_create` and no `clone3`."""

import ctypes
import platform
import struct

import torch

KILL, REFUSE, ALLOW = 0x80000000, 0x00050000 | 38, 0x7FFF0000
# The numbers of the calls on x86-64 and on others (asm-generic/unistd.h).
CALLS = [(101, KILL), (310, KILL), (319, REFUSE), (435, REFUSE)]
if platform.machine() != "x86_64":
    CALLS = [(117, KILL), (270, KILL), (279, REFUSE), (435, REFUSE)]
# BPF: load the number of the call, then compare it with each of these; what matches none is allowed.
program = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for number, answer in CALLS:
    program += [struct.pack("HBBI", 0x15, 0, 1, number), struct.pack("HBBI", 0x06, 0, 0, answer)]
program.append(struct.pack("HBBI", 0x06, 0, 0, ALLOW))
code = ctypes.create_string_buffer(b"".join(program))
filter_ = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0) == 0, ctypes.get_errno()

import ownfiles

ownfiles.train(25)
torch.empty(2**33, dtype=torch.uint8, device="cuda")
