"""SIGTERM to oomph's own process only (a batch system's end), while the program is still importing torch's modules (before it prints), then
SIGTERM while it builds the model on the host; with a child in a session of its own."""

# /// expect
# commands = "check"
# guards = "both"
# why = "what a look changed is undone however it ends; nothing is left behind; no verdict without something seen"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (WORK / "mine").write_text("of the user")
    (WORK / "train.py").write_text("""
import subprocess, sys, time
open("mine", "w").write("gone"); open("new", "w").write("new")
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("AT start", flush=True)
import torch
model = [torch.nn.Linear(100, 100) for _ in range(10)]
print("AT host", flush=True)
while True: time.sleep(0.1)
""")
    before = snapshot(HOME, WORK, TMP)
    for place in ("AT start", "AT host"):
        look = Check()
        expect(look.wait_for(place), f"void: {look.text()[-300:]}")
        look.process.send_signal(signal.SIGTERM)
        status = look.end()
        time.sleep(1)
        unchanged(before, HOME, WORK, TMP)
        expect(not own_processes(), f"{place}: {len(own_processes())} processes left")
        own = "\n".join(l for l in look.text().splitlines() if not l.startswith("AT "))
        expect(status not in (0, 1), f"{place}: exit status {status}: {own[-200:]}")
        expect("fits" not in own and "to spare" not in own, f"{place}: says what was not seen: {own[-300:]}")
        expect(re.search("interrupt|stopped|terminated|ended by", own), f"{place}: does not say that it was stopped: {own[-300:]}")


main(scene)
