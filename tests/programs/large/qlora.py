"""QLoRA as the guides have it: a checkpoint in 4 bits, adapters of rank 16, a paged optimizer. qlora.py FOLDER."""

import sys

import bitsandbytes
import torch
import usage
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

BATCH, TOKENS = 1, 512
MATRICES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

quantization = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    sys.argv[1], quantization_config=quantization, device_map={"": 0}, dtype=torch.bfloat16
)
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=MATRICES, task_type="CAUSAL_LM"))
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = bitsandbytes.optim.PagedAdamW32bit(trained, lr=2e-4)


def state_bytes() -> int:
    """The state of 4-bit weights: absmax in 8 bits, its own absmax, two code books, an offset."""
    states = [p.quant_state for p in model.parameters() if getattr(p, "quant_state", None) is not None]
    parts = [(s.absmax, s.code, s.offset, s.state2.absmax, s.state2.code) for s in states]
    return sum(part.nbytes for state in parts for part in state)


for _ in range(4):
    tokens = torch.randint(0, 32000, (BATCH, TOKENS), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    usage.write(
        trained_bytes=sum(parameter.nbytes for parameter in trained),
        parameter_bytes=sum(parameter.nbytes for parameter in model.parameters()),
        state_bytes=state_bytes(),
    )
    optimizer.step()
    optimizer.zero_grad()
