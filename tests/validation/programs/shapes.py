"""Language and speech models from configurations, with random weights made on the device. No download.

`SHAPES` holds, for each name, a function that makes the model and a function that makes its inputs from a batch and a length.
"""

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

VOCABULARY = 32_000


def config(kind, **fields):
    """A configuration of transformers, by the name of its class less `Config`."""
    return getattr(transformers, f"{kind}Config")(**fields)


def decoder(hidden, layers, heads, **fields):
    """The fields that Llama and its kin share."""
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": hidden * 11 // 4,
        **fields,
    }


CONFIGS = {
    "gpt2-medium": lambda: config("GPT2", n_embd=1024, n_layer=24, n_head=16),
    "bert-large": lambda: config(
        "Bert", hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    ),
    "roberta-base": lambda: config("Roberta", max_position_embeddings=514, vocab_size=50265),
    "llama": lambda: config("Llama", **decoder(1536, 16, 12, num_key_value_heads=4)),
    "llama-3b": lambda: config("Llama", **decoder(3072, 26, 24, num_key_value_heads=8)),
    "qwen3": lambda: config("Qwen3", **decoder(1024, 16, 16, num_key_value_heads=8, head_dim=128)),
    "gemma2": lambda: config("Gemma2", **decoder(1024, 12, 8, num_key_value_heads=4, head_dim=128)),
    "mixtral": lambda: config("Mixtral", **decoder(1024, 8, 16, num_key_value_heads=4, num_local_experts=8)),
    "mamba": lambda: config("Mamba", vocab_size=VOCABULARY, hidden_size=768, num_hidden_layers=8),
    "t5-base": lambda: config(
        "T5", d_model=768, d_ff=3072, d_kv=64, num_layers=12, num_heads=12, decoder_start_token_id=0, pad_token_id=0
    ),
    "bart-base": lambda: config(
        "Bart", d_model=768, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=3072, decoder_ffn_dim=3072
    ),
    "whisper-small": lambda: config(
        "Whisper", d_model=768, encoder_layers=12, decoder_layers=12, encoder_attention_heads=12,
        decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
    ),
    "wav2vec2": lambda: config("Wav2Vec2", mask_time_prob=0.0, mask_feature_prob=0.0),
    "vit-mae": lambda: config("ViTMAE"),
    "clip": lambda: config("CLIP"),
}


def build(name, dtype, attention):
    """The model on the device."""
    chosen = CONFIGS[name]()
    makers = {
        "BertConfig": AutoModelForMaskedLM,
        "RobertaConfig": AutoModelForMaskedLM,
        "T5Config": AutoModelForSeq2SeqLM,
        "BartConfig": AutoModelForSeq2SeqLM,
        "WhisperConfig": transformers.AutoModelForSpeechSeq2Seq,
        "Wav2Vec2Config": transformers.AutoModelForCTC,
        "ViTMAEConfig": transformers.AutoModelForPreTraining,
        "CLIPConfig": transformers.AutoModel,
    }
    maker = makers.get(type(chosen).__name__, AutoModelForCausalLM)
    with torch.device("cuda"):
        return maker.from_config(chosen, dtype=dtype, attn_implementation=attention)


def inputs(name, model, batch, length):
    """Random inputs with labels, on the device."""
    with torch.device("cuda"):
        tokens = torch.randint(0, model.config.get_text_config().vocab_size if name != "vit-mae" else 2, (batch, length))
        if name == "whisper-small":
            return {"input_features": torch.randn(batch, 80, 3000), "labels": tokens}
        if name == "wav2vec2":
            return {"input_values": torch.randn(batch, 16_000 * 8), "labels": torch.randint(1, 32, (batch, 40))}
        if name == "vit-mae":
            return {"pixel_values": torch.randn(batch, 3, 224, 224)}
        if name == "clip":
            return {"input_ids": tokens, "pixel_values": torch.randn(batch, 3, 224, 224), "return_loss": True}
        return {"input_ids": tokens, "labels": tokens}
