"""Trains GPT-2 with half the layers from random weights; the tokens are prepared elsewhere."""

import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--steps", type=int, default=10000)
    options = parser.parse_args()

    config = GPT2Config(n_layer=6, n_positions=options.length, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
    model = GPT2LMHeadModel(config).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, fused=True)
    for step in range(options.steps):
        ids = torch.randint(0, config.vocab_size, (options.batch_size, options.length), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 25 == 0:
            print(f"{step} {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
