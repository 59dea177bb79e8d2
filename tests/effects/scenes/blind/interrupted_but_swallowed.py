"""Ctrl-C (SIGINT to the group, once) in the second step of a program that swallows KeyboardInterrupt, ignores SIGINT in a child and goes on
for ever; 2 GiB are allocated."""

# /// expect
# commands = "check"
# guards = "both"
# why = "and the brief: a look ends when it is stopped, whatever the program does with the signal; the answer is what was seen (2 to 2.9 GiB, 1 step)"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    globals()["PATIENCE"] = 60 if CONTROL else 180
    program("""
big = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); time.sleep(1000)"])
open("mine", "w").write("gone")
step(); say("AT 2")
while True:
    try:
        while True: time.sleep(0.1)
    except BaseException as error: say("SWALLOWED", type(error).__name__)
""")
    (WORK / "mine").write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    time.sleep(1)
    os.killpg(look.pid, signal.SIGINT)
    status = look.end()
    time.sleep(1)
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes left")
    own = "\n".join(l for l in look.text().splitlines() if not l.startswith(("AT ", "SWALLOWED")))
    figures = [float(x) for x in re.findall(r"(\d+\.\d+) GiB", own)]
    expect(any(2.0 <= x <= 2.9 for x in figures), f"the 2 GiB that were seen are not said; exit status {status}: {own[-300:]}")
    expect(re.search(r"\b(1|one|first) (of 3 )?(optimizer )?step", own) and re.search("stopped|interrupt", own), f"the step or the stop is not said: {own[-300:]}")


main(scene)
