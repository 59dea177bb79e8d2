# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [40]
# keeps_mib = 48
# allocates = [27, 28]
# full_at = [109, 115]
# why = "each token adds keys and values of 512 x 2048 x 4 B = 4 MiB in 6 layers: 48 MiB; 256 tokens are 12 GiB"
# ///
"""Greedy generation for many prompts with a cache of keys and values as lists, one entry per token and layer."""

import torch

PROMPTS, WIDTH, LAYERS, VOCABULARY, TOKENS = 512, 2048, 6, 8192, 256


def attend(query, keys, values):
    scores = (query * keys[-1]).sum(1, keepdim=True)
    return scores.sigmoid() * values[-1] + values[0]


def forward_token(x, weights, cache):
    for (to_key, to_value), (keys, values) in zip(weights, cache):
        keys.append(x @ to_key)
        values.append(x @ to_value)
        x = attend(x, keys, values)
    return x


@torch.inference_mode()
def generate(tokens):
    embedding = torch.randn(VOCABULARY, WIDTH, device="cuda")
    weights = [torch.randn(2, WIDTH, WIDTH, device="cuda").unbind() for _ in range(LAYERS)]
    cache = [([], []) for _ in range(LAYERS)]
    token = torch.zeros(PROMPTS, dtype=torch.long, device="cuda")
    text = []
    for _ in range(tokens):
        x = forward_token(embedding[token], weights, cache)
        token = (x @ embedding.t()).argmax(1)
        text.append(token.cpu())
    return torch.stack(text, dim=1)


print(tuple(generate(TOKENS).shape))
