"""Makes vocabularies: special tokens at the ids of the configuration, and made-up words. See Note [Missing texts]."""

import json
import sys
from dataclasses import dataclass, field

from . import configurations

# The named special tokens whose ids a configuration has, and the text of a token that the tokenizer's class does not name.
_NAMED = {
    "eos": "</s>", "bos": "<s>", "pad": "<pad>", "unk": "<unk>", "sep": "<sep>", "cls": "<cls>", "mask": "<mask>",
    "image": "<image>", "video": "<video>", "audio": "<audio>", "vision_start": "<|vision_start|>", "vision_end": "<|vision_end|>",
}  # fmt: skip
# Other texts of families, by the beginning of `model_type`.
_TEXTS = {"qwen": {"image": "<|image_pad|>", "video": "<|video_pad|>", "audio": "<|AUDIO|>"}}
# The attributes of a tokenizer that a configuration's id fills where the class has no token.
FILLED = ("eos", "bos", "pad")
# Special tokens of Whisper after its languages (`models/whisper/tokenization_whisper.py`, transformers 5.17).
_WHISPER = ("<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")
# Letters, digits and signs of the longest token: English text then has about as many tokens as with a trained vocabulary of 32,000.
_PIECES = r" ?\p{L}{1,6}| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]{1,3}|\s+"
# Steps of `tokenizers` before the model. The classes of transformers 4 read and adapt their settings (`tokenization_bert_fast.py`,
# `tokenization_roberta_fast.py`, 4.57).
_NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
_SPLITTING = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


@dataclass
class Vocabulary:
    """Ids below a size. `ids` has the special tokens first; the rest are made-up words."""

    size: int
    ids: dict[str, int] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)

    def place(self, text: str, wanted: int | None) -> None:
        """Assigns the wanted id to a token, or the first free id; a token with an id keeps it."""
        if text in self.ids:
            return
        index = wanted if wanted is not None and 0 <= wanted < self.size and wanted not in self._texts else self._find_free()
        if index is not None:
            self.ids[text], self._texts[index] = index, text

    def text_of(self, index: int) -> str | None:
        """The special token of an id."""
        return self._texts.get(index)

    def list_words(self) -> dict[str, int]:
        """All tokens by id."""
        return {self._texts.get(index, _word(index)): index for index in range(self.size)}

    def ordinary(self) -> str:
        """A token that is not special."""
        index = next((index for index in reversed(range(self.size)) if index not in self._texts), 0)
        return self._texts.get(index, _word(index))

    def _find_free(self) -> int | None:
        return next((index for index in range(self.size) if index not in self._texts), None)


def _word(index: int) -> str:
    return f"word{index}"


def make(config, named: dict[str, str], others: list[str]) -> Vocabulary:
    """The vocabulary of a configuration. `named` has the texts of special tokens by name, `others` are the texts of more."""
    text = configurations.of_text(config)
    made = Vocabulary(int(text.vocab_size))
    texts = _NAMED | _family_texts(str(getattr(config, "model_type", ""))) | named
    for name in _NAMED:
        wanted = id_of(config, name)
        if wanted is not None and (name in named or made.text_of(wanted) is None):
            made.place(texts[name], wanted)
    for special in named.values():
        made.place(special, None)
    _place_last(made, [other for other in others if other not in made.ids])
    return made


def _place_last(made: Vocabulary, others: list[str]) -> None:
    """Further tokens have the last ids, as in the vocabularies that were extended."""
    for offset, text in enumerate(others):
        made.place(text, made.size - len(others) + offset)


def id_of(config, name: str) -> int | None:
    """The id of a special token in a configuration; of several ids the first."""
    holders = [configurations.of_text(config), config]
    found = (getattr(holder, f"{name}_{ending}", None) for holder in holders for ending in ("token_id", "token_index"))
    value = next((value for value in found if value is not None), None)
    value = value[0] if isinstance(value, (list, tuple)) and value else value
    return value if isinstance(value, int) and value >= 0 else None


def _family_texts(model_type: str) -> dict[str, str]:
    return next((texts for family, texts in _TEXTS.items() if model_type.startswith(family)), {})


def list_family_tokens(kind: str) -> list[str]:
    """The special tokens that the files of a class add to it."""
    if not kind.startswith("WhisperTokenizer"):
        return []
    whisper = sys.modules["transformers.models.whisper.tokenization_whisper"]
    return ["<|startoftranscript|>", *(f"<|{language}|>" for language in whisper.LANGUAGES), *_WHISPER]


def write_file(path: str, words: dict[str, int], model: str | None, kind: str) -> None:
    """Writes a `tokenizer.json` with a model of a class of `tokenizers`: the classes of transformers read the vocabulary of their own kind.

    `kind` is the name of the class.
    """
    last = next(reversed(words))
    models = {
        "Unigram": lambda: {"unk_id": 0, "vocab": [[word, 0.0] for word in words]},
        "BPE": lambda: {"vocab": words, "merges": []},
        "WordPiece": lambda: {"vocab": words, "unk_token": last, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
        "WordLevel": lambda: {"vocab": words, "unk_token": last},
    }
    # CLIP's class of transformers 4 asks its model for the suffix of a word.
    name = model if model in models else "BPE" if kind.startswith("CLIP") else "WordLevel"
    steps = {"normalizer": _NORMALIZER, "pre_tokenizer": _describe_splitting(kind)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "added_tokens": [], **steps, "model": {"type": name, **models[name]()}}, file)


def _describe_splitting(kind: str) -> dict:
    """CLIP's class refuses all but a sequence (`tokenization_clip_fast.py`, transformers 4.57)."""
    return {"type": "Sequence", "pretokenizers": [_SPLITTING]} if kind.startswith("CLIP") else _SPLITTING


def make_backend(made: Vocabulary, special: list[str]):
    """The tokenizer of `tokenizers` that cuts text into tokens of even length."""
    tokenizers = sys.modules["tokenizers"]
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(made.list_words(), unk_token=made.ordinary()))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(_PIECES), "isolated")
    backend.add_special_tokens([tokenizers.AddedToken(text, special=True, normalized=False) for text in special])
    return backend
