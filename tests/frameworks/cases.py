"""The programs, their launchers, and the expected reports."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One program under `oomph check` and under `count.py`."""

    # As docs/COMPATIBILITY.md has it.
    name: str
    program: str
    arguments: tuple[str, ...] = ()
    # A launcher of the environment, and its arguments; without one, Python runs the program.
    launcher: tuple[str, ...] = ()
    gpus: int = 1
    # Optimizer steps to run; 0 for a program without steps.
    steps: int = 3
    # Contents, each with the text of the program's line that must have allocated most of it.
    lines: dict[str, str] = field(default_factory=dict)
    # The phase of the peak, if known.
    phase: str | None = None
    # The ratio of the parameters that Python finds to the optimizer's: 2 for a second copy outside of the running model.
    parameters: int = 1
    # True if values decide its shapes or branches: then the count too needs the agent, which answers them.
    reads_values: bool = False
    # True if DDP's buckets, held by C++, have a copy of all gradients.
    has_buckets: bool = False
    # Bytes of further C++ memory after a step, besides workspaces.
    others: tuple[int, ...] = ()
    # True if torch.compile measures candidates, which takes memory.
    tunes: bool = False
    # A library with memory of its own, and its stand-in.
    outside: tuple[str, str] | None = None
    # Variables of an absent launcher.
    variables: dict[str, str] = field(default_factory=dict)


# Stands in words and variables for a port that is free: two cases run at once.
PORT = "{port}"
ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": PORT}
DEEPSPEED = ("deepspeed", "--num_gpus", "2", "--master_port", PORT)
# `torch.distributed.barrier` over NCCL reduces a byte, which the group keeps (ProcessGroupNCCL.cpp, 2.11).
BARRIER = (1,)
# The seed and the offset of the generator that captured graphs read (CUDAGeneratorImpl.cpp, 2.11).
PHILOX = (8, 8)

CASES = [
    Case(
        "accelerate, 1 process",
        "accelerate_launch.py",
        launcher=("accelerate", "launch", "--num_processes", "1"),
        lines={"parameters": "accelerator.prepare", "optimizer_state": "optimizer.step()", "activations": "loss = model("},
        phase="backward",
    ),
    Case(
        "accelerate, 2 processes",
        "accelerate_launch.py",
        launcher=("accelerate", "launch", "--num_processes", "2", "--main_process_port", "0"),
        gpus=2,
        lines={"parameters": "accelerator.prepare", "optimizer_state": "optimizer.step()"},
        phase="backward",
        has_buckets=True,
    ),
    Case(
        "Lightning, 1 device",
        "lightning_trainer.py",
        lines={"parameters": "trainer.fit", "optimizer_state": "trainer.fit"},
        phase="optimizer",
    ),
    Case(
        "Lightning, 2 devices",
        "lightning_trainer.py",
        ("--devices", "2"),
        gpus=2,
        lines={"parameters": "trainer.fit", "optimizer_state": "trainer.fit"},
        phase="optimizer",
        has_buckets=True,
        others=BARRIER,
    ),
    Case(
        "Trainer",
        "hf_trainer.py",
        lines={"parameters": "Trainer(", "activations": ").train()"},
        phase="backward",
        reads_values=True,
    ),
    Case(
        "Trainer, bf16 and checkpointing",
        "hf_trainer.py",
        ("--bf16", "--gradient-checkpointing"),
        phase="backward",
        reads_values=True,
    ),
    Case("DeepSpeed ZeRO 1, plain", "deepspeed_zero.py", ("--stage", "1"), variables=ALONE),
    Case("DeepSpeed ZeRO 2, its launcher", "deepspeed_zero.py", ("--stage", "2"), DEEPSPEED, 2),
    Case("DeepSpeed ZeRO 3, its launcher", "deepspeed_zero.py", ("--stage", "3"), DEEPSPEED, 2, others=BARRIER),
    Case("PEFT LoRA", "peft_lora.py", lines={"parameters": "model.cuda()", "activations": "loss.backward()"}, phase="backward"),
    Case("bitsandbytes", "bitsandbytes_8bit.py", lines={"optimizer_state": "optimizer.step()"}, phase="forward"),
    Case("torchao, int8 weights", "torchao_weight_only.py", steps=0, lines={"other": "quantize_("}, phase="setup"),
    Case("torchao, 8-bit optimizer", "torchao_low_bit_optim.py", phase="optimizer", tunes=True),
    Case("torchao, float8", "torchao_float8.py", lines={"optimizer_state": "optimizer.step()"}, phase="backward"),
    Case("timm", "timm_train.py", lines={"parameters": "create_model", "optimizer_state": "scaler("}, parameters=2),
    Case("diffusers, training", "diffusers_train.py", lines={"optimizer_state": "optimizer.step()"}, phase="backward"),
    Case("diffusers, a pipeline", "diffusers_pipeline.py", steps=0, lines={"parameters": ".to("}, phase="forward"),
    Case(
        "PyTorch Geometric",
        "geometric_gcn.py",
        lines={"activations": "self.second(x"},
        phase="backward",
        reads_values=True,
    ),
    Case("torch.compile", "compiled.py", lines={"optimizer_state": "optimizer.step()"}, phase="optimizer"),
    Case("torch.compile, reduce-overhead", "compiled.py", ("--mode", "reduce-overhead")),
    Case("torch.compile, dynamic", "compiled.py", ("--dynamic",), phase="optimizer"),
    Case("torch.cuda.graph", "cuda_graphs.py", phase="optimizer", others=PHILOX),
    Case("make_graphed_callables", "graphed_callables.py", lines={"optimizer_state": "optimizer.step()"}, others=PHILOX),
    Case("an extension in C", "extension.py", lines={"parameters": "Linear(1024"}, outside=("libworkspace.so", "300.00 MiB")),
    Case("DataLoader, fork", "loader_workers.py", lines={"parameters": "model ="}, phase="backward"),
    Case("DataLoader, spawn", "loader_workers.py", ("--start", "spawn"), lines={"parameters": "model ="}, phase="backward"),
]
