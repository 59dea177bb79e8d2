"""A checkpoint in 8 bits, and the states of 8-bit and paged optimizers: eight_bit.py FOLDER."""

import sys

import bitsandbytes
import torch
import usage
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

SIDE = 4096


def state_bytes(name: str) -> tuple[int, int]:
    """An optimizer's state for a square matrix: on the device, and in managed memory."""
    layer = torch.nn.Linear(SIDE, SIDE, bias=False, device="cuda")
    optimizer = getattr(bitsandbytes.optim, name)(layer.parameters())
    layer(torch.ones(1, SIDE, device="cuda")).sum().backward()
    optimizer.step()
    # The code books of 256 numbers are shared by all parameters.
    states = [t for t in optimizer.state[layer.weight].values() if isinstance(t, torch.Tensor) and t.numel() > 256]
    return sum(t.nbytes for t in states if t.is_cuda), sum(t.nbytes for t in states if not t.is_cuda)


model = AutoModelForCausalLM.from_pretrained(
    sys.argv[1],
    quantization_config=BitsAndBytesConfig(load_in_8bit=True),
    device_map={"": 0},
    dtype=torch.float16,
)
scales = [parameter.SCB for parameter in model.parameters() if getattr(parameter, "SCB", None) is not None]
usage.write(
    parameter_bytes=sum(parameter.nbytes for parameter in model.parameters()),
    scale_bytes=sum(scale.nbytes for scale in scales),
    states={name: state_bytes(name) for name in ("AdamW8bit", "PagedAdamW8bit", "PagedAdamW32bit")},
)
