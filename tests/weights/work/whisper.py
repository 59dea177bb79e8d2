"""Whisper in half precision, with accelerate's device map."""

import torch
from figures import run, show, zero
from transformers import AutoModelForSpeechSeq2Seq, WhisperConfig, WhisperForConditionalGeneration

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = WhisperConfig(
        vocab_size=8000, d_model=256, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
        decoder_ffn_dim=1024, pad_token_id=1, bos_token_id=2, eos_token_id=2, decoder_start_token_id=3,
    )  # fmt: skip
    zero(WhisperForConditionalGeneration(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForSpeechSeq2Seq.from_pretrained(source, torch_dtype=torch.float16, low_cpu_mem_usage=True, device_map="cuda")
    show()
    features = torch.zeros(1, 80, 3000, dtype=torch.float16, device="cuda")
    with torch.no_grad():
        model(features, decoder_input_ids=torch.ones(1, 16, dtype=torch.long, device="cuda"))
    show()


run(make, load)
