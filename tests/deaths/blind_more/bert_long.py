# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 41
# requested_bytes = 1073741824
# says_any = ["attention", "sdpa"]
# culprit = 41
# steps = 2
# ///
"""Trains a BERT of transformers with eager attention: at 4096 positions each of its matrices takes 1 GiB, one kept for each layer."""

from collections.abc import Iterator

import torch
from transformers import BertConfig, BertModel


def build() -> BertModel:
    """Returns a narrow BERT of four layers with 16 heads."""
    config = BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=16, intermediate_size=512, max_position_embeddings=4096,
        attention_probs_dropout_prob=0.0,
    )
    config._attn_implementation = "eager"
    return BertModel(config, add_pooling_layer=False).cuda().train()


def documents() -> Iterator[torch.Tensor]:
    """Yields documents sorted by length."""
    for length in (256, 512, 4096, 4096):
        yield torch.zeros(1, length, dtype=torch.long, device="cuda")


def main() -> None:
    """Trains on each document."""
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, tokens in enumerate(documents()):
        hidden = model(input_ids=tokens).last_hidden_state
        hidden.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        del hidden
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
