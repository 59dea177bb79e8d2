"""Llama shapes: their configurations, and the sizes of their weights by arithmetic, without any library."""

import math
from collections.abc import Iterator

SIZES = {
    "7b": {
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 32000,
    },
    "70b": {
        "hidden_size": 8192,
        "intermediate_size": 28672,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
}


def linears(size: dict) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name and shape of every matrix inside the layers."""
    hidden, inner = size["hidden_size"], size["intermediate_size"]
    kv = hidden // size["num_attention_heads"] * size["num_key_value_heads"]
    shapes = {
        "self_attn.q_proj": (hidden, hidden),
        "self_attn.k_proj": (kv, hidden),
        "self_attn.v_proj": (kv, hidden),
        "self_attn.o_proj": (hidden, hidden),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    for layer in range(size["num_hidden_layers"]):
        for name, shape in shapes.items():
            yield f"model.layers.{layer}.{name}.weight", shape


def others(size: dict) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape of the embeddings and the norms."""
    hidden = size["hidden_size"]
    yield "model.embed_tokens.weight", (size["vocab_size"], hidden)
    yield "lm_head.weight", (size["vocab_size"], hidden)
    yield "model.norm.weight", (hidden,)
    for layer in range(size["num_hidden_layers"]):
        yield f"model.layers.{layer}.input_layernorm.weight", (hidden,)
        yield f"model.layers.{layer}.post_attention_layernorm.weight", (hidden,)


def elements(shapes: Iterator[tuple[str, tuple[int, ...]]]) -> int:
    """The number of elements of such weights."""
    return sum(math.prod(shape) for _, shape in shapes)
