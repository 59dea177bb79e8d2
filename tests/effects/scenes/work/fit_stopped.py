"""SIGTERM to `oomph fit` when it has made its first dry runs (the program appends to a file of its own each time that it reaches its last
step, seen in the process list), of a program that needs 30 GiB."""

# /// expect
# commands = "fit"
# guards = "both"
# why = '"Interrupted at any time, the answer is what was seen: … `fit` its best plan so far"; "Progress at 10 s, always"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (WORK / "train.py").write_text("""
import time, torch
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
batch_size = 1_200_000
for i in range(3):
    x = torch.ones(batch_size, 1024, device="cuda")
    loss = model(x).relu().sum(); loss.backward(); optimizer.step(); optimizer.zero_grad()
    time.sleep(2)
""")
    (WORK / "mine").write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    if CONTROL:
        look = Started(["sh", "-c", "trap 'echo error: interrupted >&2; exit 130' TERM; while :; do sleep 0.1; done"])
    else:
        look = Started([*GUARD, OOMPH, "fit", "--gpu", "rtx-4090", "--python", PYTHON, "train.py"])
    programs = set()

    def has_run():
        for pid in own_processes():
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"train.py" in words and os.fsencode(OOMPH) not in words and "python" in os.readlink(f"/proc/{pid}/exe"):
                    programs.add(pid)
            except OSError:
                pass
        return len(programs) >= 4 or look.process.poll() is not None or CONTROL

    until(has_run, "four dry runs of fit")
    if look.process.poll() is not None:
        skipped(f"fit had its answer before four processes were seen: {look.text()[-100:]}")
    began, already = time.monotonic(), len(look.lines)
    look.process.send_signal(signal.SIGTERM)
    status = look.end()
    time.sleep(1)
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes left")
    text = "\n".join(line for _, line in look.lines[already:])
    figures = [float(x) for x in re.findall(r"(\d+\.\d+) GiB", text)]
    expect(any(x > 24 for x in figures), f"what was seen (the program needs more than 24 GiB) is not said in what follows the signal, {time.monotonic() - began:.0f} s after the signal; exit status {status}: {text[-300:]}; before the signal: {look.text()[:300]}")
    expect(re.search("stopped|interrupt", text), f"does not say that it was stopped: {text[-300:]}")


main(scene)
