"""Ctrl-C (SIGINT to the process group) of `oomph check` while the program is in the import of a slow module, before it used the device, with a
child running and files already changed."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"Interrupted at any time, the answer is what was seen"; nothing was seen, so no "fits" and no peak; what it did is undone, its processes are gone, and the exit status is not 0 or 1'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (WORK / "slow.py").write_text("import time\nprint('AT import', flush=True)\nwhile True: time.sleep(0.1)\n")
    (WORK / "mine").write_text("of the user")
    (WORK / "train.py").write_text("""
import subprocess
open("mine", "w").write("gone"); open("new", "w").write("new")
child = subprocess.Popen(["sleep", "1000"])
import slow
import torch
""")
    before = snapshot(HOME, WORK, TMP)
    look = Check()
    expect(look.wait_for("AT import"), f"void: {look.text()[-300:]}")
    os.killpg(look.pid, signal.SIGINT)
    status = look.end()
    time.sleep(1)
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes left")
    own = "\n".join(l for l in look.text().splitlines() if "AT import" not in l)
    expect(status not in (0, 1), f"exit status {status}: {own[-200:]}")
    expect("fits" not in own.replace("whether it fits", "") and "GiB of" not in own, f"says what was not seen: {own[-300:]}")
    expect(re.search("interrupt|stopped|ended by you", own), f"does not say that it was stopped: {own[-300:]}")
    expect(re.search(r"import|slow\.py|train\.py|start|before", own), f"does not say where the program was: {own[-300:]}")


main(scene)
