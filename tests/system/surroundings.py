"""The user's variables, modules and hooks: a dry run keeps them."""

from harness import Box, Case, expect
from refusals import MLP, MODEL, STEPS, no_noise, refuses


def users_variables_stay(box: Box) -> None:
    """LD_PRELOAD, PYTHONPATH and a sitecustomize of the user's own work as before."""
    box.write("mine/sitecustomize.py", "import builtins\nbuiltins.from_my_sitecustomize = True\n")
    box.write("mine/my_module.py", "")
    looks = "import os, my_module\nassert from_my_sitecustomize\nassert 'libutil.so.1' in open('/proc/self/maps').read()\n"
    box.write("script.py", looks + MODEL + STEPS)
    result = box.check("script.py", env={"PYTHONPATH": box.work / "mine", "LD_PRELOAD": "libutil.so.1"})
    expect(result, result.status, 0, "the exit status")
    no_noise(result)


def visible_devices_is_no_trap(box: Box) -> None:
    """CUDA_VISIBLE_DEVICES of the machine does not hide the phantom."""
    for value in ("", "3", "-1"):
        result = box.check(MLP, env={"CUDA_VISIBLE_DEVICES": value})
        expect(result, result.status, 0, f"the exit status with CUDA_VISIBLE_DEVICES={value}")
        expect(result, "CUDA_VISIBLE_DEVICES" in result.stdout, value != "3", f"a remark on CUDA_VISIBLE_DEVICES={value}")
    # PyTorch asks NVML for the devices that the program itself chose, by their numbers among all devices.
    chosen = box.write("chosen.py", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\nimport torch\nprint(torch.cuda.get_device_properties(0), torch.ones(1, device='cuda'))\n")
    result = box.check("--gpus", "4", chosen)
    expect(result, result.status, 0, "the exit status with one of four devices")


def own_hooks_work(box: Box) -> None:
    """A program keeps its own excepthook and handlers, and is understood."""
    hook = "import sys\nsys.excepthook = lambda *what: print('my own words', file=sys.stderr)\n"
    box.write("script.py", hook + MODEL + "raise KeyError('lost')\n")
    refuses(box, ("my own words", "raised KeyError: 'lost'", "script.py:6"), "script.py")


CASES = [
    Case("the user's variables stay", users_variables_stay),
    Case("CUDA_VISIBLE_DEVICES", visible_devices_is_no_trap),
    Case("hooks of the program's own", own_hooks_work),
]
