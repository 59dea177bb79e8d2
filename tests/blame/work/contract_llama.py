# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "weights"
# first_finding = ["need-exceeds-device"]
# lines = [28]
# why = "a layer has (4 x 2048 x 2048 + 3 x 2048 x 8192) x 4 B = 256 MiB, 24 layers 6144, and the two vocabulary matrices 2 x 32000 x 2048 x 4 B = 500 MiB: 6644 of 5734 MiB in float32"
# ///
"""Scores contract clauses with a randomly initialised Llama of 1.7 billion parameters."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def make_model():
    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=24,
        num_attention_heads=16,
        num_key_value_heads=16,
        max_position_embeddings=2048,
    )
    with torch.device("cuda"):
        return LlamaForCausalLM(config)


@torch.no_grad()
def score(model, clauses):
    return model(clauses, labels=clauses).loss.item()


model = make_model().eval()
for batch in range(3):
    clauses = torch.randint(0, 32000, (1, 256), device="cuda")
    print(batch, score(model, clauses))
