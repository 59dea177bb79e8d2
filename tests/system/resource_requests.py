"""`oomph sweep --format slurm|kai|sky|hf-jobs`: requests for what the program needs, read by the languages' own parsers."""

import shlex
from functools import partial

import yaml
from harness import Box, Case, Result, contains, expect
from huggingface_hub import JobHardware

# Four layers of 16384 by 16384 are 4 GiB of parameters; with gradients and momentum 12 GiB.
TRAIN = """
import sys
import torch
width = int(sys.argv[sys.argv.index("--width") + 1]) if "--width" in sys.argv else 16384
model = torch.nn.Sequential(*[torch.nn.Linear(width, width, device="cuda") for _ in range(4)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    loss = model(torch.randn(8, width, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GPUS = ("--gpu", "rtx-3060,t4,a10g,rtx-4090")


def sweep(box: Box, *words) -> Result:
    """Runs the command on a script whose name has a space."""
    box.write("my train.py", TRAIN)
    return box.run(box.oomph, "sweep", *words, env={"OOMPH_PYTHON": box.python, "OOMPH_CACHE_DIR": box.folder / "cache"})


def the_smallest_is_asked_for(box: Box) -> None:
    """Each language names the GPUs on which the program fits, and the command as it runs elsewhere."""
    command = "python 'my train.py' --width 16384"
    words = (*GPUS, "my train.py", "--width", "16384")
    report = sweep(box, "--json", *words)
    fits = {point["gpu"]: point["need_bytes"] for point in report.report["points"] if point["verdict"] == "fits"}
    expect(report, set(fits), {"Tesla T4", "NVIDIA A10G", "NVIDIA GeForce RTX 4090"}, "GPUs that fit")
    slurm = sweep(box, "--format", "slurm", *words)
    expect(slurm, slurm.status, 0, "status")
    contains(slurm, slurm.stdout, "#SBATCH --job-name=my-train\n", "#SBATCH --gpus=1\n", f"\n{command}\n", "# It fits: Tesla T4, NVIDIA A10G, NVIDIA GeForce RTX 4090\n")
    expect(slurm, box.run("bash", "-n", box.write("job.sh", slurm.stdout)).status, 0, "status of `bash -n`")
    sky = sweep(box, "--format", "sky", *words)
    task = yaml.safe_load(sky.stdout)
    expect(sky, task["resources"]["accelerators"], {"T4": 1, "A10G": 1}, "accelerators")
    expect(sky, task["run"].strip(), command, "command of the task")
    kai = sweep(box, "--format", "kai", *words)
    pod = yaml.safe_load(kai.stdout)
    expect(kai, pod["metadata"]["annotations"], {"gpu-memory": str(-(-max(fits.values()) // 2**20))}, "annotations")
    expect(kai, pod["spec"]["containers"][0]["command"], ["/bin/sh", "-c", command], "command of the pod")
    jobs = sweep(box, "--format", "hf-jobs", *words)
    line = shlex.split(jobs.stdout.splitlines()[-1])
    expect(jobs, line, ["hf", "jobs", "run", "--flavor", "t4-small", "IMAGE", *shlex.split(command)], "words")
    expect(jobs, line[4] in {hardware.value for hardware in JobHardware}, True, "whether the hub has the flavor")


def refused(words: tuple, status: int, text: str, box: Box) -> None:
    """There is no request, and the message says why."""
    found = sweep(box, *words)
    expect(found, (found.status, found.stdout), (status, ""), "status and output")
    contains(found, found.stderr, text)


def every_gpu_in_one_table(box: Box) -> None:
    """Without a grid, the program as it is is judged on each GPU."""
    found = sweep(box, *GPUS, "my train.py")
    contains(found, found.stdout, "the program fits 3 of 4 GPUs; the smallest is the Tesla T4\n")
    rows = {line.split("  ")[1]: line.rsplit("  ", 1)[1] for line in found.stdout.splitlines() if "GiB" in line and line.startswith("  ")}
    expect(found, rows, {"RTX 3060": "does not fit", "Tesla T4": "fits", "A10G": "fits", "RTX 4090": "fits"}, "verdicts")


def a_word_of_the_command_line_is_an_axis(box: Box) -> None:
    """A program that reads its words by itself shows no option; one that stands in its command line is known."""
    found = sweep(box, "--grid", "width=1024,2048", "--gpu", "rtx-4090", "--json", "my train.py", "--width", "512")
    points = found.report["points"]
    expect(found, [shlex.split(point["command"])[-2:] for point in points], [["--width", "1024"], ["--width", "2048"]], "words")
    # Doubling the width makes the parameters four times as many.
    expect(found, points[1]["allocated_bytes"] > 3 * points[0]["allocated_bytes"], True, "whether the wider network needs more")


REFUSED = {
    "a GPU that is too small": (("--format", "sky", "--gpu", "rtx-3060", "my train.py"), 1, "no GPU to ask for: the program needs"),
    "a GPU without a flavor": (("--format", "hf-jobs", "--gpu", "rtx-4090", "my train.py"), 2, "cannot be asked for by name there"),
    "a grid": (("--format", "slurm", "--grid", "width=1", "my train.py", "--width", "1"), 2, "a request for resources is for the program as it is"),
    "a program that fails": (("--format", "kai", "--gpu", "t4", "my train.py", "--width", "none"), 2, "ValueError"),
}
CASES = [
    Case("request: the smallest is asked for", the_smallest_is_asked_for),
    Case("sweep: without a grid, every GPU in one table", every_gpu_in_one_table),
    Case("sweep: a word of the command line is an axis", a_word_of_the_command_line_is_an_axis),
    *(Case(f"request: {name} is refused", partial(refused, *case)) for name, case in REFUSED.items()),
]
