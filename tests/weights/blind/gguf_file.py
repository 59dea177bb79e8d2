"""A GGUF file, dequantized by transformers."""

import os

import numpy
import torch
from figures import run, show
from transformers import AutoModelForCausalLM

FORMS = ("hub",)
WEIGHTS = ("*.gguf",)
NAME = "tiny-q8_0.gguf"
WIDTH, HEADS, LAYERS, INNER, WORDS = 256, 4, 4, 1024, 4096


def make(folder):
    import gguf

    writer = gguf.GGUFWriter(os.path.join(folder, NAME), "llama")
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(WORDS)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)

    def add(name, *sizes):
        zeros = numpy.zeros(sizes, dtype=numpy.float32)
        if len(sizes) == 1:
            writer.add_tensor(name, zeros)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(zeros, kind), raw_dtype=kind)

    add("token_embd.weight", WORDS, WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", WORDS, WIDTH)
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=NAME, torch_dtype=torch.float16).to("cuda")
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
