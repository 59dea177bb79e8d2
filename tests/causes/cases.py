"""The causes of running out of memory, each with a program that has it, and what of it can be known from what.

A program is `programs/NAME.py`; the lines that may be blamed bear the words `# the cause`. `controls/NAME.py` is the
same program without the cause. A text is `texts/NAME.txt`: what no program can show on phantom GPUs, such as a kernel that
kills, and wordings of other versions and tools.

Most record stacks of Python alone; `retained_graph`, `optimizer_state` and `grad_recorded_in_eval` record those of C++ too, as
PyTorch does unless told otherwise.

Windows does not run here. `wsl` has what a program sees of it: it lies on a drive of Windows, where WSL mounts it, and something
that is no process of its own holds a part of the device.
"""

from dataclasses import dataclass

# What can be said of a message that does not tell more than that the device is full.
FULL = ("need-exceeds-device", "fragmentation", "unclear")


@dataclass(frozen=True)
class Program:
    """A program that has a cause, and a control that has not."""

    name: str
    # The rule that comes first, from the snapshot.
    rule: str
    # The device's memory; empty for the GPU's own.
    vram: str = "3GiB"
    # The rules of which one comes first from the text alone; empty where the program prints no error.
    text: tuple[str, ...] = FULL
    # Whether the snapshot says nothing of the cause without the text, because it is not in PyTorch's allocator.
    needs_text: bool = False
    # How many processes of it make a job; 0 where it is no job.
    ranks: int = 0
    # What is rightly said of the control all the same.
    control: tuple[str, ...] = ()
    gpu: str = "rtx-4090"
    # What other processes hold of the device while the program runs; the control has it to itself.
    others: str = "0"
    # Rules that the text must show beside the first.
    also: tuple[str, ...] = ()
    # Whether the program, and not its control, lies on a drive of Windows.
    on_windows: bool = False
    # How much shared memory there is for program and control, as tmpfs takes it; empty for the machine's own.
    shared: str = ""


PROGRAMS = (
    Program("batch_too_large", "batch-too-large", "4GiB"),
    Program("empty_cache", "allocator-setting-harmful", "4GiB", text=()),
    Program("exception_holds_frames", "exception-holds-frames", text=("exception-holds-frames",), control=("caught-oom",)),
    Program("fragmentation", "fragmentation", text=("fragmentation",)),
    Program("grad_recorded_in_eval", "grad-recorded-in-eval"),
    Program("gradients_alive_in_forward", "gradients-alive-in-forward"),
    Program("growing_collection", "growing-collection"),
    Program("host_memory", "host-memory", text=("host-memory",), needs_text=True),
    Program("max_split_size", "allocator-setting-harmful"),
    Program("mig_slice", "mig", vram="", text=("mig",), needs_text=True, gpu="NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
    Program("need_exceeds_device", "need-exceeds-device", text=("need-exceeds-device",)),
    Program("non_pytorch_memory", "non-pytorch-memory", "4GiB", text=("non-pytorch-memory",), needs_text=True),
    Program("one_huge_request", "one-huge-request", "24GiB", text=("one-huge-request",)),
    Program("optimizer_state", "optimizer-state", text=("optimizer-state", *FULL)),
    Program("other_process_memory", "other-process-memory", text=("other-process-memory",), needs_text=True, others="2GiB"),
    Program("rank_imbalance", "rank-imbalance", text=(), ranks=2),
    Program("reference_cycle", "reference-cycle", "4GiB"),
    Program("retained_graph", "retained-graph"),
    Program("saved_intermediates", "saved-intermediates"),
    Program("shared_memory", "shm", text=("shm",), needs_text=True, shared="16m"),
    Program("small_gpu_fraction", "small-gpu-fraction", "4GiB", text=("small-gpu-fraction",)),
    Program(
        "windows_drive", "other-process-memory", text=("other-process-memory",), needs_text=True, others="2GiB", also=("wsl",), on_windows=True
    ),
    Program("wrong_device", "wrong-device", text=(), ranks=2),
    Program("wrong_shape", "one-huge-request", "24GiB", text=("one-huge-request",)),
)

# What a text says first; `None`: it holds no error of PyTorch's.
TEXTS = {
    "another_framework": None,
    "healthy": None,
    "host_memory": "host-memory",
    "many_ranks_one_device": "wrong-device",
    "mig_slice": "mig",
    "other_process_memory": "other-process-memory",
    "other_process_table": "other-process-memory",
    "shared_memory": "shm",
    "worker_killed": "host-memory",
}
