"""Models and checkpoints too large for any host: their device bytes by arithmetic, at nearly no cost to the host.

The checkpoints are sparse files, made and removed by the cases: true headers, holes as data.
"""

import json
from functools import partial
from pathlib import Path
from sys import path

from harness import PROGRAMS, ROOT, Box, Case, Result, Skip, contains, expect

LARGE = PROGRAMS / "large"
path.append(str(LARGE))

import llama  # noqa: E402

GIB = 1 << 30
# The programs' limit of host memory: the imports take 0.8 GiB, and the pages of libraries in it vary by 0.1 GiB with the page cache.
MOST_HOST_BYTES = 9 * GIB // 4
SIZE_7B, SIZE_70B = llama.SIZES["7b"], llama.SIZES["70b"]
WEIGHTS_7B = llama.elements(llama.linears(SIZE_7B)) + llama.elements(llama.others(SIZE_7B))
WEIGHTS_70B = llama.elements(llama.linears(SIZE_70B)) + llama.elements(llama.others(SIZE_70B))
# The rotary frequencies and their copy: 64 floats each, in blocks of 512 bytes.
ROTARY_BYTES = 2 * 512


def check_large(box: Box, *words, python: Path | None = None) -> tuple[Result, dict]:
    """Runs a program, which must use little host memory; also returns the program's own figures."""
    result = box.check("--json", "--keep-files", *words, python=python)
    usage = json.loads((box.work / "usage.json").read_text())
    assert usage["peak_bytes"] <= MOST_HOST_BYTES, f"took {usage['peak_bytes']} bytes of the host\n{result}"
    return result, usage


def make_checkpoint(box: Box, size: str, kind: str) -> Path:
    """A sparse checkpoint in the box."""
    folder = box.work / "checkpoint"
    made = box.run(box.python, LARGE / "make_checkpoint.py", folder, size, kind)
    expect(made, made.status, 0, "the exit status")
    on_disk = sum(file.stat().st_blocks * 512 for file in folder.iterdir())
    # The zip of `torch.save` has a page for the header of each of 291 tensors.
    assert on_disk < 4 << 20, f"the checkpoint takes {on_disk} bytes of the disk"
    return folder


def remove(folder: Path) -> None:
    """A box is kept until the end."""
    for file in folder.iterdir():
        file.unlink()


def check_checkpoint(box: Box, kind: str, way: str, element_bytes: int, buffers: int) -> None:
    """The peak is what the shapes say, nothing of the weights was read, and the report says so."""
    folder = make_checkpoint(box, "7b", kind)
    result, usage = check_large(box, "--gpu", "a100-sxm4-80gb", LARGE / "load.py", folder, way)
    remove(folder)
    expect(result, result.status, 0, "the exit status")
    expect(result, result.report["peak"]["allocated_bytes"], WEIGHTS_7B * element_bytes + buffers, "the peak")
    assert usage["read_bytes"] < 2 * WEIGHTS_7B // 50, f"read {usage['read_bytes']} bytes\n{result}"
    contains(result, " ".join(result.report["notes"]), "weights in checkpoints were not read")


# Each format loaded by each library once: `make test` runs these.
USUAL = {"from_pretrained-bf16", "from_pretrained-fp32", "load_file", "torch.load", "load_state_dict"}
# The writer of the checkpoint, the loader, bytes per element on the GPU, bytes beside the weights.
CHECKPOINTS = (
    ("safetensors", "from_pretrained-bf16", 2, ROTARY_BYTES),
    ("safetensors", "from_pretrained-fp16", 2, ROTARY_BYTES),
    ("sharded", "from_pretrained-fp32", 4, ROTARY_BYTES),
    ("safetensors", "load_file", 2, 0),
    ("safetensors", "load_file-cast", 4, 0),
    ("bin", "from_pretrained-bf16", 2, ROTARY_BYTES),
    ("bin", "torch.load", 2, 0),
    ("bin", "torch.load-mmap", 2, 0),
    ("bin", "load_state_dict", 2, ROTARY_BYTES),
    ("bin", "load_state_dict-assign", 2, ROTARY_BYTES),
)


def check_generation(box: Box, dtype: str) -> None:
    """70 billion parameters on a B200: they fit in bf16, and `generate` keeps a cache of the computed size."""
    result, usage = check_large(box, "--gpu", "b200", LARGE / "generate.py", "70b", dtype)
    expect(result, result.status, 0, "the exit status")
    expect(result, usage["tokens"], 1024, "the tokens generated, the prompt's included")
    heads, width = SIZE_70B["num_key_value_heads"], SIZE_70B["hidden_size"] // SIZE_70B["num_attention_heads"]
    # The last token is never fed back.
    cache_bytes = 2 * SIZE_70B["num_hidden_layers"] * 4 * heads * 1023 * width * 2
    grown, rest = usage["grown_bytes"], 64 << 20
    assert cache_bytes <= grown <= cache_bytes + rest, f"kept {grown} bytes, the cache is {cache_bytes}\n{result}"
    shown = {part["category"]: part["bytes"] for part in result.report["breakdown"]}
    expect(result, shown["parameters"], WEIGHTS_70B * 2, "the parameters at the peak")


def check_too_large(box: Box) -> None:
    """In fp32 they do not fit, and the need is at least the sum of the shapes."""
    result, _ = check_large(box, "--gpu", "b200", LARGE / "generate.py", "70b", "fp32")
    expect(result, result.status, 1, "the exit status")
    need = result.report["need"]["allocated_bytes"]
    assert need >= WEIGHTS_70B * 4, f"the need is {need}\n{result}"


def python_with_bitsandbytes() -> Path:
    """That of `make frameworks`."""
    python = ROOT / "target" / "frameworks" / "bin" / "python"
    if not python.exists():
        raise Skip("`make frameworks` sets up an environment with bitsandbytes and peft")
    return python


def check_eight_bit(box: Box) -> None:
    """A byte a weight and four a row of each matrix; a byte a state and four each 256 of them, or pages that move."""
    python, folder = python_with_bitsandbytes(), make_checkpoint(box, "7b", "safetensors")
    result, usage = check_large(box, "--gpu", "rtx-4090", "--steps", "0", LARGE / "eight_bit.py", folder, python=python)
    remove(folder)
    expect(result, result.status, 0, "the exit status")
    weights = llama.elements(llama.linears(SIZE_7B)) + 2 * llama.elements(llama.others(SIZE_7B))
    expect(result, usage["parameter_bytes"], weights, "the parameters")
    expect(result, usage["scale_bytes"], sum(4 * rows for _, (rows, _) in llama.linears(SIZE_7B)), "the scales")
    numbers = 4096 * 4096
    states = {
        "AdamW8bit": [2 * numbers + 2 * 4 * numbers // 256, 0],
        "PagedAdamW8bit": [2 * 4 * numbers // 256, 2 * numbers],
        "PagedAdamW32bit": [0, 2 * 4 * numbers],
    }
    expect(result, usage["states"], states, "the optimizers' states, on the device and in managed memory")


def check_qlora(box: Box) -> None:
    """Of a 7B shape on 24 GiB: 4-bit weights, what describes them, adapters, and the rest in fp32."""
    python = python_with_bitsandbytes()
    folder = make_checkpoint(box, "7b", "safetensors")
    result, usage = check_large(box, "--gpu", "rtx-4090", LARGE / "qlora.py", folder, python=python)
    remove(folder)
    expect(result, result.status, 0, "the exit status")
    shapes = [shape for _, shape in llama.linears(SIZE_7B)]
    adapters = sum(16 * (rows + columns) * 4 for rows, columns in shapes)
    quantized = sum(rows * columns // 2 for rows, columns in shapes)
    expect(result, usage["trained_bytes"], adapters, "the adapters")
    parameters = quantized + adapters + 4 * llama.elements(llama.others(SIZE_7B))
    expect(result, usage["parameter_bytes"], parameters, "the parameters")
    # A byte for each block of 64, four for each 256 of those, and a matrix: 16 and 256 floats of codes, an offset.
    blocks = [rows * columns // 64 for rows, columns in shapes]
    described = sum(blocks) + sum(-(-count // 256) * 4 for count in blocks) + len(blocks) * 4 * (16 + 256 + 1)
    expect(result, usage["state_bytes"], described, "what describes the 4-bit weights")
    notes = " ".join(entry["id"] for entry in result.report["assumptions"])
    contains(result, notes, "managed-memory")


def check_absent(box: Box) -> None:
    """A name of the hub that is not on the disk: the message names the next step."""
    program = "from transformers import AutoModelForCausalLM\nAutoModelForCausalLM.from_pretrained('somebody/something-7b')\n"
    result = box.check(box.write("train.py", program), env={"HF_HUB_OFFLINE": "1", "HF_HOME": box.work / "hub"})
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "train.py:2", "`somebody/something-7b` is not on this machine", "hf download somebody/something-7b config.json")


CASES = [
    *(
        Case(
            f"{kind}, {way}",
            partial(check_checkpoint, kind=kind, way=way, element_bytes=size, buffers=buffers),
            is_extra=way not in USUAL or (kind, way) == ("bin", "from_pretrained-bf16"),
        )
        for kind, way, size, buffers in CHECKPOINTS
    ),
    Case("70B in bf16 generates on a B200", partial(check_generation, dtype="bf16"), is_long=True),
    Case("70B built in fp32, cast, generates on a B200", partial(check_generation, dtype="cast"), is_extra=True),
    Case("70B in fp32 does not fit a B200", check_too_large, is_extra=True),
    Case("a model that is not on the disk", check_absent),
    Case("8 bits and paged optimizers", check_eight_bit, is_extra=True),
    Case("QLoRA of a 7B on 24 GiB", check_qlora, is_extra=True),
]
