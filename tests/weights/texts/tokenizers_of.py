"""Tokenizers and processors of configurations. The figures are those of the configurations' documentation."""

import transformers as t
from step import make_step

# Folder: the configuration, the class of the tokenizer, its size, longest text, and the inputs that it makes; `None` where versions differ.
TOKENIZERS = {
    "bert": (t.BertConfig(), "BertTokenizer", 30522, 512, ["input_ids", "token_type_ids", "attention_mask"]),
    "roberta": (t.RobertaConfig(vocab_size=50265, max_position_embeddings=514), "RobertaTokenizer", 50265, 512, ["input_ids", "attention_mask"]),
    "gpt2": (t.GPT2Config(), "GPT2Tokenizer", 50257, 1024, ["input_ids", "attention_mask"]),
    "llama": (
        t.LlamaConfig(vocab_size=128256, max_position_embeddings=8192, bos_token_id=128000, eos_token_id=[128001, 128009]),
        None, 128256, 8192, ["input_ids", "attention_mask"],
    ),
    "qwen": (t.Qwen2Config(vocab_size=151936, max_position_embeddings=32768), "Qwen2Tokenizer", 151936, 32768, ["input_ids", "attention_mask"]),
    "t5": (t.T5Config(), "T5Tokenizer", 32128, None, ["input_ids", "attention_mask"]),
    "albert": (t.AlbertConfig(), "AlbertTokenizer", 30000, 512, None),
    "clip": (t.CLIPConfig(), "CLIPTokenizer", 49408, 77, ["input_ids", "attention_mask"]),
    "whisper": (t.WhisperConfig(), "WhisperTokenizer", 51865, 448, ["input_ids", "attention_mask"]),
}  # fmt: skip


def check_tokenizer(name: str) -> None:
    """The size, the ids, and each way to use a tokenizer."""
    config, kind, size, longest, inputs = TOKENIZERS[name]
    config.save_pretrained(name)
    tokenizer = t.AutoTokenizer.from_pretrained(name)
    assert kind is None or type(tokenizer).__name__.removesuffix("Fast") == kind, type(tokenizer)
    assert isinstance(tokenizer, t.PreTrainedTokenizerFast), type(tokenizer)
    assert (len(tokenizer), tokenizer.vocab_size) == (size, size), (name, len(tokenizer))
    assert inputs is None or tokenizer.model_input_names == inputs, (name, tokenizer.model_input_names)
    assert longest is None or tokenizer.model_max_length == longest, (name, tokenizer.model_max_length)
    text = getattr(config, "text_config", config)
    for part in ("eos", "bos"):
        wanted = getattr(text, f"{part}_token_id", None)
        wanted = wanted[0] if isinstance(wanted, list) else wanted
        found = getattr(tokenizer, f"{part}_token_id")
        assert wanted is None or found is None or found == wanted, (name, part, found, wanted)
    check_uses(name, tokenizer, size)


def check_uses(name: str, tokenizer, size: int) -> None:
    """Padding, truncation, collators, chat templates, saving."""
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    batch = tokenizer(["a short text", "word " * 400], padding="max_length", truncation=True, max_length=32, return_tensors="pt")
    assert batch.input_ids.shape == (2, 32) and int(batch.input_ids.max()) < size, (name, batch.input_ids.shape)
    assert tokenizer.eos_token_id is None or tokenizer.convert_tokens_to_ids(tokenizer.eos_token) == tokenizer.eos_token_id
    collated = t.DataCollatorWithPadding(tokenizer)([tokenizer("one"), tokenizer("one two three")])
    assert collated["input_ids"].shape[0] == 2, collated
    if tokenizer.cls_token is None:
        chat = tokenizer.apply_chat_template([{"role": "user", "content": "hello"}], add_generation_prompt=True, return_dict=False)
        assert chat and max(chat) < size, chat
    assert tokenizer.decode(tokenizer("hello").input_ids)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<new>"]})
    assert len(tokenizer) == size + 1 and tokenizer("<new>").input_ids.count(size) == 1, len(tokenizer)
    tokenizer.save_pretrained(f"{name}-saved")
    again = t.AutoTokenizer.from_pretrained(f"{name}-saved")
    assert len(again) == size + 1 and again("hello there").input_ids == tokenizer("hello there").input_ids, name


def check_processors() -> None:
    """Sizes of pictures and spectrograms follow the configuration."""
    t.ViTConfig(image_size=384).save_pretrained("vit")
    for kind in (t.AutoImageProcessor, t.ViTImageProcessor, t.AutoProcessor):
        size = kind.from_pretrained("vit").size
        assert (size["height"], size["width"]) == (384, 384), (kind, size)
    clip = t.AutoProcessor.from_pretrained("clip")
    pixels = clip(text=["a cat"], images=[__import__("PIL.Image", fromlist=["x"]).new("RGB", (500, 375))], return_tensors="pt", padding=True)
    assert pixels["pixel_values"].shape == (1, 3, 224, 224), pixels["pixel_values"].shape
    t.WhisperConfig(num_mel_bins=128).save_pretrained("whisper-large")
    assert t.AutoFeatureExtractor.from_pretrained("whisper-large").feature_size == 128
    whisper = t.AutoProcessor.from_pretrained("whisper")
    assert whisper([0.0] * 16000, sampling_rate=16000, return_tensors="pt").input_features.shape == (1, 80, 3000)


for folder in TOKENIZERS:
    check_tokenizer(folder)
check_processors()
make_step()
