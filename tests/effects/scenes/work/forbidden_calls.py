"""`oomph run`, and the program alone under it, with seccomp filters: ptrace, memfd_create and others answered by EPERM or ENOSYS, clone3 ENOSYS as with
Docker, process_vm_readv and pidfd_open too; then a filter that the program sets itself after its first step, which kills at ptrace,
memfd_create, process_vm_readv, mount and openat of anything new."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'the list of harms: "with seccomp that forbids `ptrace`, `memfd_create` or `clone3`: it behaves as without oomph; what could not be recorded is said"; seccomp(2)'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
FILTER = """
import ctypes, os, struct, sys
def forbid(numbers, action):
    code = [(0x20, 0, 0, 0)]
    for n in numbers: code += [(0x15, 0, 1, n), (0x06, 0, 0, action)]
    code.append((0x06, 0, 0, 0x7fff0000))
    body = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.prctl(22, 2, ctypes.byref(Program(len(code), ctypes.addressof(body))), 0, 0) == 0, ctypes.get_errno()
EPERM, ENOSYS, KILL = 0x00050001, 0x00050000 | 38, 0x80000000
"""


def scene():
    (OUT / "first.py").write_text(FILTER + """
forbid([101, 319, 310, 311, 434, 438, 165], dict(EPERM=EPERM, ENOSYS=ENOSYS)[sys.argv[1]])
forbid([435], ENOSYS)  # glibc starts threads by clone where clone3 is ENOSYS; EPERM would end its threads without oomph as well
os.execvp(sys.argv[2], sys.argv[2:])
""")
    (OUT / "control.py").write_text("import os, sys\ntry: os.memfd_create('x')\nexcept OSError: sys.exit(31)\nos.execvp(sys.argv[1], sys.argv[1:])\n")
    program("""
for i in range(3): step()
if "late" in sys.argv:
    time.sleep(0.5)
    forbid([101, 319, 310, 311, 165, 257, 2, 62, 200], KILL)
for i in range(40): step(); time.sleep(0.03)
say("END")
if "late" in sys.argv: os._exit(6)
sys.exit(6)
""", steps=STEPS + FILTER)
    bad = []
    first = [sys.executable, OUT / "first.py"]
    cases = [
        ("program, EPERM", dict(command=[*first, "EPERM", PYTHON, "train.py"])),
        ("program, ENOSYS", dict(command=[*first, "ENOSYS", PYTHON, "train.py"])),
        ("oomph too, EPERM", dict(before=[*first, "EPERM"])),
        ("late, kill", dict(command=[PYTHON, "train.py", "late"])),
    ]
    for name, words in cases:
        answers = []
        for bare in (True, False):
            run = Run(bare=bare, control=[sys.executable, OUT / "control.py"], **words)
            answers.append((run.end(), run.text(1)))
            said = run.text(2)
        expect(answers[0] == (6, "END"), f"void: {name}: without oomph {answers[0]}: {said[-200:]}")
        if answers[0] != answers[1]:
            bad.append(f"{name}: without oomph {answers[0]}, with it {answers[1]}: {said[-160:]}")
    expect(not bad, f"{len(bad)} of {len(cases)}: {'; '.join(bad)}")


main(scene)
