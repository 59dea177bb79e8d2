"""The transformers part of the zoo: one training step of each architecture, built tiny from its configuration."""

import torch
import transformers

from harness import ADAMW, main, training

PRECISIONS = ("fp32", "bf16")
FP32_ONLY = {"fnet"}  # torch.fft knows no bf16
VOCABULARY = 128
LENGTH = 32
SIDE = 64

# The names that most configurations share; a configuration with other names says so below.
TINY = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 2 * LENGTH,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = TINY | {"num_key_value_heads": 2, "head_dim": 16}
EXPERTS = GROUPED | {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
SEQ2SEQ = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "max_position_embeddings": 2 * LENGTH,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 128,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
VISION = {
    "image_size": SIDE,
    "patch_size": 16,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
STAGES = {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 64, 128]}
AUDIO = {
    "vocab_size": 32,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "conv_dim": (32, 32, 32),
    "conv_stride": (5, 4, 4),
    "conv_kernel": (10, 4, 4),
    "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "mask_time_prob": 0.0,
}


def tokens(length=LENGTH):
    """A batch of two sentences; their values were copied from the host, as a tokenizer's are."""
    ids = torch.arange(2 * length, device="cpu").reshape(2, length) % (VOCABULARY - 4) + 3
    return ids.cuda()


def text():
    """Sentences that serve as their own labels."""
    ids = tokens()
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}


def seq2seq():
    """Sentences, and shorter ones as the labels of the decoder."""
    return {"input_ids": tokens(), "labels": tokens(LENGTH // 2)}


def images():
    """Two images without labels."""
    return {"pixel_values": torch.randn(2, 3, SIDE, SIDE)}


def labelled_images():
    """Two images with a class each."""
    return images() | {"labels": torch.tensor([0, 1], device="cpu").cuda()}


def pixel_labels():
    """Two images with a class for each pixel."""
    return images() | {"labels": torch.zeros(2, SIDE, SIDE, dtype=torch.long)}


def captioned_images():
    """Two images with a sentence each."""
    return images() | {"input_ids": tokens(), "return_loss": True}


def spectrograms():
    """Two log-mel spectrograms with a sentence each."""
    return {"input_features": torch.randn(2, 80, 64), "labels": tokens(LENGTH // 2)}


def waveforms():
    """Two seconds of sound without labels."""
    return {"input_values": torch.randn(2, 16000)}


def spoken():
    """Two seconds of sound with their letters: connectionist temporal classification."""
    letters = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10]], device="cpu")
    return waveforms() | {"labels": letters.cuda()}


# Architecture: model class, configuration, inputs.
ARCHITECTURES = {
    # decoders
    "gpt2": ("GPT2LMHeadModel", TINY, text),
    "gpt_neo": ("GPTNeoForCausalLM", TINY | {"num_layers": 2, "attention_types": [[["global", "local"], 1]]}, text),
    "gptj": ("GPTJForCausalLM", TINY | {"rotary_dim": 8}, text),
    "gpt_neox": ("GPTNeoXForCausalLM", TINY, text),
    "gpt_bigcode": ("GPTBigCodeForCausalLM", TINY, text),
    "codegen": ("CodeGenForCausalLM", TINY | {"rotary_dim": 8}, text),
    "llama": ("LlamaForCausalLM", GROUPED, text),
    "mistral": ("MistralForCausalLM", GROUPED | {"sliding_window": 16}, text),
    "qwen2": ("Qwen2ForCausalLM", GROUPED, text),
    "qwen3": ("Qwen3ForCausalLM", GROUPED, text),
    "gemma": ("GemmaForCausalLM", GROUPED, text),
    "gemma2": ("Gemma2ForCausalLM", GROUPED | {"sliding_window": 16}, text),
    "gemma3": ("Gemma3ForCausalLM", GROUPED | {"sliding_window": 16}, text),
    "phi": ("PhiForCausalLM", TINY, text),
    "phi3": ("Phi3ForCausalLM", GROUPED, text),
    "olmo2": ("Olmo2ForCausalLM", GROUPED, text),
    "stablelm": ("StableLmForCausalLM", GROUPED, text),
    "starcoder2": ("Starcoder2ForCausalLM", GROUPED, text),
    "granite": ("GraniteForCausalLM", GROUPED, text),
    "cohere": ("CohereForCausalLM", GROUPED, text),
    "falcon": ("FalconForCausalLM", TINY, text),
    "opt": ("OPTForCausalLM", TINY | {"ffn_dim": 128, "word_embed_proj_dim": 64}, text),
    "bloom": ("BloomForCausalLM", TINY, text),
    "mpt": ("MptForCausalLM", {"vocab_size": VOCABULARY, "d_model": 64, "n_layers": 2, "n_heads": 4}, text),
    "xglm": ("XGLMForCausalLM", TINY | {"ffn_dim": 128}, text),
    # mixtures of experts: the routing decides shapes
    "mixtral": ("MixtralForCausalLM", EXPERTS, text),
    "qwen2_moe": ("Qwen2MoeForCausalLM", EXPERTS | {"shared_expert_intermediate_size": 64}, text),
    "qwen3_moe": ("Qwen3MoeForCausalLM", EXPERTS, text),
    "olmoe": ("OlmoeForCausalLM", EXPERTS, text),
    # state spaces and recurrences
    "mamba": ("MambaForCausalLM", TINY | {"state_size": 8}, text),
    "mamba2": (
        "Mamba2ForCausalLM",
        TINY | {"num_heads": 8, "head_dim": 16, "state_size": 8, "n_groups": 2, "chunk_size": 16},
        text,
    ),
    # encoders
    "bert": ("BertForMaskedLM", TINY, text),
    "roberta": ("RobertaForMaskedLM", TINY, text),
    "distilbert": ("DistilBertForMaskedLM", TINY | {"hidden_dim": 128}, text),
    "albert": ("AlbertForMaskedLM", TINY | {"embedding_size": 32}, text),
    "electra": ("ElectraForMaskedLM", TINY | {"embedding_size": 32}, text),
    "deberta_v2": (
        "DebertaV2ForMaskedLM",
        TINY | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
        text,
    ),
    "mpnet": ("MPNetForMaskedLM", TINY, text),
    "modernbert": ("ModernBertForMaskedLM", TINY | {"local_attention": 8, "cls_token_id": 1, "sep_token_id": 2}, text),
    "longformer": ("LongformerForMaskedLM", TINY | {"attention_window": 8}, text),
    "big_bird": ("BigBirdForMaskedLM", TINY | {"attention_type": "original_full"}, text),
    "xlnet": ("XLNetLMHeadModel", {"vocab_size": VOCABULARY, "d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128}, text),
    "fnet": ("FNetForMaskedLM", TINY, lambda: {"input_ids": tokens(), "labels": tokens()}),  # Fourier transforms
    # encoders with decoders
    "t5": ("T5ForConditionalGeneration", T5, seq2seq),
    "mt5": ("MT5ForConditionalGeneration", T5, seq2seq),
    "bart": ("BartForConditionalGeneration", SEQ2SEQ, seq2seq),
    "mbart": ("MBartForConditionalGeneration", SEQ2SEQ, seq2seq),
    "pegasus": ("PegasusForConditionalGeneration", SEQ2SEQ, seq2seq),
    "marian": ("MarianMTModel", SEQ2SEQ, seq2seq),
    # images
    "vit": ("ViTForImageClassification", VISION, labelled_images),
    "deit": ("DeiTForImageClassification", VISION, labelled_images),
    "beit": ("BeitForImageClassification", VISION, labelled_images),
    "dinov2": ("Dinov2ForImageClassification", VISION, labelled_images),
    "swin": (
        "SwinForImageClassification",
        {"image_size": SIDE, "embed_dim": 32, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4},
        labelled_images,
    ),
    "convnext": ("ConvNextForImageClassification", STAGES, labelled_images),
    "resnet": ("ResNetForImageClassification", STAGES | {"embedding_size": 16}, labelled_images),
    "segformer": ("SegformerForSemanticSegmentation", STAGES | {"decoder_hidden_size": 32}, pixel_labels),
    "detr": (
        "DetrModel",
        {
            "use_timm_backbone": False,
            "use_pretrained_backbone": False,
            "backbone": None,
            "backbone_config": transformers.ResNetConfig(**STAGES, embedding_size=16, out_features=["stage4"]),
            "d_model": 64,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 128,
            "decoder_ffn_dim": 128,
            "num_queries": 16,
        },
        images,
    ),
    "vit_mae": (
        "ViTMAEForPreTraining",
        VISION
        | {
            "decoder_hidden_size": 32,
            "decoder_num_hidden_layers": 1,
            "decoder_num_attention_heads": 4,
            "decoder_intermediate_size": 64,
        },
        images,
    ),
    "clip": (
        "CLIPModel",
        {"text_config": TINY, "vision_config": VISION, "projection_dim": 32},
        captioned_images,
    ),
    "siglip": ("SiglipModel", {"text_config": TINY, "vision_config": VISION}, captioned_images),
    # sound
    "whisper": (
        "WhisperForConditionalGeneration",
        SEQ2SEQ | {"max_source_positions": 32, "max_target_positions": 64, "num_mel_bins": 80},
        spectrograms,
    ),
    "wav2vec2": ("Wav2Vec2ForCTC", AUDIO, spoken),
    "hubert": ("HubertForCTC", AUDIO, spoken),
    "wavlm": ("WavLMModel", AUDIO, waveforms),
}


def architecture(name, model_class, config, inputs):
    """A training step of the architecture with AdamW, with its own initial weights."""

    def build():
        cls = getattr(transformers, model_class)
        batch = inputs()
        return cls(cls.config_class(**config)), lambda model: model(**batch)

    return training(name, build, ("fp32",) if name in FP32_ONLY else PRECISIONS, optimizer=ADAMW)


if __name__ == "__main__":
    main([architecture(name, *rest) for name, rest in ARCHITECTURES.items()])
