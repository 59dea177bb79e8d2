"""Models of sparse files for the hub of `hub_server.py`: true configurations and headers, holes as data."""

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path

import llama

# Makes a diffusion pipeline of sparse files: the shapes of Stable Diffusion 1.5.
MAKE_PIPELINE = """
import json, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
import hub_models
import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

folder = Path(sys.argv[1])
with torch.device("meta"):
    unet = UNet2DConditionModel(cross_attention_dim=768, sample_size=64, attention_head_dim=8)
    vae = AutoencoderKL(block_out_channels=(128, 256, 512, 512), down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4, layers_per_block=2, sample_size=512)
    text = CLIPTextModel(CLIPTextConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, projection_dim=768))
names = {"unet": (unet, "diffusion_pytorch_model"), "vae": (vae, "diffusion_pytorch_model"), "text_encoder": (text, "model")}
for name, (model, stem) in names.items():
    (folder / name).mkdir(parents=True)
    hub_models.write_safetensors(folder / name / f"{stem}.safetensors", {key: ("F32", tuple(value.shape)) for key, value in model.state_dict().items()})
    (model.save_config if hasattr(model, "save_config") else model.config.save_pretrained)(folder / name)
DDIMScheduler().save_config(folder / "scheduler")
(folder / "tokenizer").mkdir()
(folder / "tokenizer" / "vocab.json").write_text(json.dumps({"<|startoftext|>": 0, "<|endoftext|>": 1}))
(folder / "tokenizer" / "merges.txt").write_text("#version: 0.2\\n")
(folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer"}))
parts = {"unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"], "text_encoder": ["transformers", "CLIPTextModel"], "tokenizer": ["transformers", "CLIPTokenizer"], "scheduler": ["diffusers", "DDIMScheduler"]}
nothing = {name: [None, None] for name in ("safety_checker", "feature_extractor", "image_encoder")}
(folder / "model_index.json").write_text(json.dumps({"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.42.1", **parts, **nothing, "requires_safety_checker": False}))
"""


def write_safetensors(path: Path, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> int:
    """Writes a sparse checkpoint; returns the bytes of its tensors."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + math.prod(shape) * {"BF16": 2, "F16": 2, "F32": 4, "I64": 8}[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    return end


def write_model(folder: Path, config: dict, tensors: list[tuple[str, tuple[int, ...]]], shards: int) -> int:
    """Writes a sharded model in bf16; returns the bytes of its tensors."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"dtype": "bfloat16", **config}))
    each, total, names = -(-len(tensors) // shards), 0, {}
    for number in range(shards):
        name = f"model-{number + 1:05}-of-{shards:05}.safetensors" if shards > 1 else "model.safetensors"
        part = tensors[number * each : (number + 1) * each]
        total += write_safetensors(folder / name, {key: ("BF16", shape) for key, shape in part})
        names |= {key: name for key, _ in part}
    if shards > 1:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": names}))
    return total


def write_llama(folder: Path, size: dict, shards: int) -> int:
    """Writes a model of Llama's shapes."""
    tensors = [*llama.others(size), *llama.linears(size)]
    return write_model(folder, {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **size}, tensors, shards)


def write_experts(folder: Path, size: dict, shards: int) -> int:
    """Writes a mixture of experts of Qwen3's shapes: 235 billion parameters."""
    config = {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "decoder_sparse_step": 1, "tie_word_embeddings": False, **size}
    return write_model(folder, config, list(_list_experts(size)), shards)


def _list_experts(size: dict) -> Iterator[tuple[str, tuple[int, ...]]]:
    hidden, inner, head = size["hidden_size"], size["moe_intermediate_size"], size["head_dim"]
    queries, keys = size["num_attention_heads"] * head, size["num_key_value_heads"] * head
    yield from (("model.embed_tokens.weight", (size["vocab_size"], hidden)), ("lm_head.weight", (size["vocab_size"], hidden)), ("model.norm.weight", (hidden,)))
    for layer in (f"model.layers.{number}" for number in range(size["num_hidden_layers"])):
        yield from ((f"{layer}.{name}_layernorm.weight", (hidden,)) for name in ("input", "post_attention"))
        yield from ((f"{layer}.self_attn.{name}_norm.weight", (head,)) for name in "qk")
        yield from ((f"{layer}.self_attn.{name}_proj.weight", (rows, hidden)) for name, rows in zip("qkv", (queries, keys, keys)))
        yield f"{layer}.self_attn.o_proj.weight", (hidden, queries)
        yield f"{layer}.mlp.gate.weight", (size["num_experts"], hidden)
        for expert in (f"{layer}.mlp.experts.{number}" for number in range(size["num_experts"])):
            yield from ((f"{expert}.{name}_proj.weight", (inner, hidden)) for name in ("gate", "up"))
            yield f"{expert}.down_proj.weight", (hidden, inner)
