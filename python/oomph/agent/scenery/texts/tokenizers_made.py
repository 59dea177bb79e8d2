"""Makes a tokenizer of the library's own class where the vocabulary is missing. See Note [Missing texts]."""

import contextlib
import json
import os
import sys

from ... import phantom
from ...failure import tell
from .. import network
from ...host import hollow
from ..weights import ledger, reasons
from . import configurations, lengths, vocabularies

# Files beside a vocabulary: alone they make no tokenizer.
_BESIDE = ("added_tokens_file", "special_tokens_map_file", "tokenizer_config_file")
# Options of downloads, which a class does not take.
_DOWNLOADING = ("cache_dir", "force_download", "proxies", "token", "revision", "local_files_only", "subfolder", "_from_auto", "_commit_hash", "_from_pipeline")
_UNBOUNDED = 1 << 60
# The names of special tokens that a class may have; `models/auto` and `tokenization_utils_base.py`, transformers 5.17.
_NAMES = ("eos", "bos", "pad", "unk", "sep", "cls", "mask")
_FILE = "tokenizer.json"
# The setting that marks the files of a made tokenizer.
_MADE = "made_by_oomph"
# Messages between marks, without anything else.
_CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] }}\n{% endgeneration %}{% else %}{{ message['content'] }}\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
# The configuration, class and subfolder of the outermost call.
_asked: list[dict] = []


def _change_base() -> None:
    base = sys.modules["transformers.tokenization_utils_base"].PreTrainedTokenizerBase
    _replace(base, "from_pretrained", _load_or_make)
    _replace(base, "_from_pretrained", _make_or_load)


def _change_auto() -> None:
    _replace(sys.modules["transformers.models.auto.tokenization_auto"].AutoTokenizer, "from_pretrained", _load_or_make)


def _replace(holder: type, name: str, act) -> None:
    """Replaces a class method by `act(cls, original, *args, **kwargs)`, for the classes below `holder`, too."""
    original = vars(holder)[name].__func__
    setattr(holder, name, classmethod(lambda cls, *args, **kwargs: act(cls, original, *args, **kwargs)))


def _load_or_make(cls, original, name, *args, **kwargs):
    """The library's tokenizer; a made one if the hub has no answer, or a folder no file."""
    if not network.can_load(name):
        kwargs["local_files_only"] = True
    with _asking(kwargs):
        try:
            return original(cls, name, *args, **kwargs)
        except (OSError, ValueError) as error:
            if phantom.find() is None or kwargs.get("gguf_file") or os.path.isfile(name) or reasons.is_refused(error):
                raise
            made = _make_without_files(cls, str(name), kwargs)
            if made is None:
                raise
            return made


@contextlib.contextmanager
def _asking(arguments: dict):
    """Remembers the arguments that the library does not pass on."""
    outer = _asked[-1] if _asked else {}
    _asked.append({**outer, **{key: arguments[key] for key in ("config", "subfolder") if arguments.get(key) is not None}})
    try:
        yield
    finally:
        _asked.pop()


def _make_or_load(cls, original, files, name, init_configuration, *args, **kwargs):
    """The library's tokenizer if a file has a vocabulary, else a made one."""
    if _is_saved(files) and _is_fast(cls) and not hollow.is_hollow(files["tokenizer_file"]):
        return _restore(cls, str(name), files, kwargs)
    is_complete = any(path is not None and key not in _BESIDE and not key.startswith("chat_template") for key, path in files.items())
    needs_none = not cls.vocab_files_names
    if is_complete or needs_none or phantom.find() is None or kwargs.get("vocab") is not None or kwargs.get("tokenizer_object") is not None:
        return original(cls, files, name, init_configuration, *args, **kwargs)
    made = _make(cls, str(name), files, kwargs)
    return original(cls, files, name, init_configuration, *args, **kwargs) if made is None else made


def _is_saved(files: dict) -> bool:
    """True for the files of a made tokenizer that the program saved."""
    path = files.get("tokenizer_config_file")
    if path is None or files.get("tokenizer_file") is None:
        return False
    with open(path, encoding="utf-8") as file:
        return _MADE in json.load(file)


def _restore(kind, name: str, files: dict, kwargs: dict):
    """A made tokenizer that the program saved: the class would read the vocabulary as one of its own kind."""
    backend = sys.modules["tokenizers"].Tokenizer.from_file(files["tokenizer_file"])
    words = sorted(backend.get_vocab(), key=backend.get_vocab().__getitem__)
    tokenizer = _call(kind, name, files, kwargs, {word: index for index, word in enumerate(words)})
    tokenizer._tokenizer = backend
    lengths.mark(tokenizer)
    return tokenizer


def _make_without_files(cls, name: str, kwargs: dict):
    """A made tokenizer of a class, or of the class that the configuration names."""
    config = _find_configuration(name, cls.__name__)
    kind = cls if hasattr(cls, "vocab_files_names") else _class_for(config)
    if kind is None or not kind.vocab_files_names:
        return None
    rest = {key: value for key, value in kwargs.items() if key not in (*_DOWNLOADING, "config", "use_fast", "trust_remote_code", "tokenizer_type")}
    return _make(kind, name, {}, rest)


def _find_configuration(name: str, kind: str):
    asked = _asked[-1] if _asked else {}
    config = asked.get("config")
    return config if hasattr(config, "to_dict") else configurations.find(name, asked.get("subfolder") or "", kind)


def _class_for(config):
    """The class that transformers names for a model's configuration, or the class of all tokenizers."""
    if config is None:
        return None
    auto = sys.modules["transformers.models.auto.tokenization_auto"]
    model_type = str(getattr(config, "model_type", "")).removesuffix("_text_model")
    names = auto.TOKENIZER_MAPPING_NAMES.get(model_type)
    names = names if isinstance(names, (tuple, list)) else (names,)
    found = [auto.tokenizer_class_from_name(name) for name in reversed(names) if name]
    return next((kind for kind in found if _is_fast(kind)), sys.modules["transformers"].PreTrainedTokenizerFast)


def _is_fast(kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, sys.modules["transformers"].PreTrainedTokenizerFast)


def _make(cls, name: str, files: dict, kwargs: dict):
    """A made tokenizer, noted for the report; `None` without a configuration of text."""
    try:
        config = _find_configuration(name, cls.__name__)
        if config is None or configurations.of_text(config) is None:
            return None
        kind = cls if _is_fast(cls) else sys.modules["transformers"].PreTrainedTokenizerFast
        made = _build(kind, name, files, kwargs, config)
    except Exception as error:
        tell("a tokenizer from its configuration", error)
        return None
    ledger.note(ledger.TOKENIZER, _shown(name), ledger.CONFIGURATION)
    return made


def _shown(name: str) -> str:
    """The name for the report: a folder's last part, since a report shows no long paths; a part of a pipeline with its pipeline."""
    subfolder = (_asked[-1] if _asked else {}).get("subfolder") or ""
    return os.path.join(name, subfolder).rstrip(os.sep)


def _build(kind, name: str, files: dict, kwargs: dict, config):
    """A first tokenizer tells the special tokens of the class, and a second has them at their ids."""
    small = vocabularies.Vocabulary(64)
    for token in ("<unk>", "</s>", "<s>", "<pad>", "[CLS]", "[SEP]"):
        small.place(token, None)
    first = _call(kind, name, files, kwargs, small.list_words())
    named = {part: str(token) for part in _NAMES if (token := getattr(first, f"{part}_token", None)) is not None}
    others = [str(token) for token in first.added_tokens_decoder.values()] + vocabularies.list_family_tokens(kind.__name__)
    made = vocabularies.make(config, named, [text for text in dict.fromkeys(others) if text not in named.values() and text not in small.ids])
    tokenizer = _call(kind, name, files, kwargs, made.list_words())
    _finish(tokenizer, made, config, kwargs)
    return tokenizer


def _call(kind, name: str, files: dict, kwargs: dict, words: dict[str, int]):
    """The library's tokenizer over a vocabulary, read from a file."""
    path = os.path.join(hollow.make_folder(os.getpid()), _FILE)
    model = getattr(kind, "model", None)
    vocabularies.write_file(path, words, getattr(model, "__name__", None), kind.__name__)
    try:
        return kind._from_pretrained({**dict.fromkeys(kind.vocab_files_names), **files, "tokenizer_file": path}, name, {}, **kwargs)
    finally:
        os.remove(path)


def _finish(tokenizer, made, config, kwargs: dict) -> None:
    """Puts the even tokens in place of the class's own, and fills the settings that only files have."""
    post_processor = tokenizer.backend_tokenizer.post_processor
    tokenizer._tokenizer = vocabularies.make_backend(made, [text for text in made.ids])
    if post_processor is not None:
        tokenizer._tokenizer.post_processor = post_processor
    for part in vocabularies.FILLED:
        index = vocabularies.id_of(config, part)
        if getattr(tokenizer, f"{part}_token") is None and index is not None and made.text_of(index) is not None:
            setattr(tokenizer, f"{part}_token", made.text_of(index))
    longest = _longest(config)
    if longest is not None and tokenizer.model_max_length > _UNBOUNDED and "model_max_length" not in kwargs:
        tokenizer.model_max_length = longest
        tokenizer.init_kwargs["model_max_length"] = longest
    if tokenizer.chat_template is None and tokenizer.cls_token is None:
        tokenizer.chat_template = _CHAT
    tokenizer.init_kwargs[_MADE] = True
    lengths.mark(tokenizer)


def _longest(config) -> int | None:
    """The number of positions. RoBERTa and its like have 2 more than a text may have tokens (`modeling_roberta.py`, transformers 5.17)."""
    text = configurations.of_text(config)
    names = ("max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len")
    value = next((value for name in names if isinstance(value := getattr(text, name, None), int)), None)
    if value is None:
        return None
    without = value - 2
    return without if without > 2 and without & (without - 1) == 0 else value


HOOKS = {
    "transformers.tokenization_utils_base": _change_base,
    "transformers.models.auto.tokenization_auto": _change_auto,
}
