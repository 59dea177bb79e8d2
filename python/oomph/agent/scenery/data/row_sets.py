"""The well-known data sets of the Hugging Face Hub: splits, features, and the average length of text in characters.

Splits and features are those on the pages of the sets (`huggingface.co/datasets/` and the name); lengths are averages of the training
split there, rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Text:
    """A string of an average number of characters."""

    characters: int


@dataclass(frozen=True)
class Value:
    """A value of a type of Arrow, by the number of the row."""

    type: str
    of: Callable[[int], object] = lambda index: index


@dataclass(frozen=True)
class Label:
    """A class: names, or a number of classes."""

    names: str | int

    def list_names(self) -> list[str]:
        """The names of the classes."""
        return self.names.split() if isinstance(self.names, str) else [str(index) for index in range(self.names)]


@dataclass(frozen=True)
class Picture:
    """A picture of one of several sizes, width before height."""

    sizes: tuple[tuple[int, int], ...]
    mode: str = "RGB"


@dataclass(frozen=True)
class Sound:
    """Audio of an average length."""

    seconds: float
    rate: int = 16000
    longest: float = 35.0


@dataclass(frozen=True)
class Several:
    """A list of an average length."""

    of: object
    mean: float


@dataclass(frozen=True)
class Messages:
    """A chat: an average number of turns, and of characters of a turn."""

    turns: int
    characters: int


@dataclass(frozen=True)
class Shape:
    """The splits of a configuration, with their rows, and the columns."""

    splits: dict[str, int]
    columns: dict[str, object] = field(default_factory=dict)


_INDEX, _STRING, _PHOTOS = Value("int32"), Text(24), Picture(((500, 375), (375, 500), (500, 333), (400, 300)))
_TEN = Label("airplane automobile bird cat deer dog frog horse ship truck")
_DIGITS = Label(10)


def _splits(train: int, validation: int = 0, test: int = 0, **others: int) -> dict[str, int]:
    named = {"train": train, "validation": validation, "test": test, **others}
    return {name: count for name, count in named.items() if count}


def _glue(splits: dict[str, int], labels: object, **texts: int) -> Shape:
    return Shape(splits, {**{name: Text(length) for name, length in texts.items()}, "label": labels, "idx": _INDEX})


_PAIR = Label("entailment not_entailment")
_GLUE = {
    "cola": _glue(_splits(8551, 1043, 1063), Label("unacceptable acceptable"), sentence=40),
    "sst2": _glue(_splits(67349, 872, 1821), Label("negative positive"), sentence=53),
    "mrpc": _glue(_splits(3668, 408, 1725), Label("not_equivalent equivalent"), sentence1=119, sentence2=119),
    "qqp": _glue(_splits(363846, 40430, 390965), Label("not_duplicate duplicate"), question1=60, question2=60),
    "stsb": _glue(_splits(5749, 1500, 1379), Value("float32", lambda index: index % 6), sentence1=57, sentence2=57),
    "mnli": _glue(
        {"train": 392702, "validation_matched": 9815, "validation_mismatched": 9832, "test_matched": 9796, "test_mismatched": 9847},
        Label("entailment neutral contradiction"), premise=114, hypothesis=54,
    ),
    "qnli": _glue(_splits(104743, 5463, 5463), _PAIR, question=60, sentence=160),
    "rte": _glue(_splits(2490, 277, 3000), _PAIR, sentence1=300, sentence2=50),
    "wnli": _glue(_splits(635, 71, 146), Label("not_entailment entailment"), sentence1=80, sentence2=38),
}  # fmt: skip
_WIKITEXT = {
    f"wikitext-{size}-{form}": Shape(_splits(train, 3760, 4358), {"text": Text(characters)})
    for size, train in (("2", 36718), ("103", 1801350))
    for form, characters in (("raw-v1", 297), ("v1", 291))
}
_CHAT = {"prompt": Text(500), "prompt_id": Text(64), "messages": Messages(6, 850)}
_PREFERENCE = {
    "prompt": Text(600), "prompt_id": Text(64), "chosen": Messages(2, 1000), "rejected": Messages(2, 900), "messages": Messages(2, 1000),
    "score_chosen": Value("float64", float), "score_rejected": Value("float64", float),
}  # fmt: skip
_SPEECH = {
    "file": Text(60), "audio": Sound(12.3), "text": Text(185), "speaker_id": Value("int64"), "chapter_id": Value("int64"), "id": Text(16),
}  # fmt: skip
_TAGS = Label("O B-PER I-PER B-ORG I-ORG B-LOC I-LOC B-MISC I-MISC")
_SQUAD = {
    "id": _STRING, "title": _STRING, "context": Text(755), "question": Text(60),
    "answers": {"text": Several(Text(20), 1), "answer_start": Several(Value("int32"), 1)},
}  # fmt: skip


def _one(splits: dict[str, int], **columns: object) -> dict[str, Shape]:
    return {"default": Shape(splits, columns)}


# By the name on the Hub, whose page is the source: the configurations. A set with one answers to any name of a configuration.
_SETS: dict[str, dict[str, Shape]] = {
    "stanfordnlp/imdb": _one(_splits(25000, test=25000, unsupervised=50000), text=Text(1300), label=Label("neg pos")),
    "cornell-movie-review-data/rotten_tomatoes": _one(_splits(8530, 1066, 1066), text=Text(114), label=Label("neg pos")),
    "fancyzhx/ag_news": _one(_splits(120000, test=7600), text=Text(236), label=Label("World Sports Business Sci/Tech")),
    "Yelp/yelp_review_full": _one(_splits(650000, test=50000), label=Label(5), text=Text(730)),
    "fancyzhx/yelp_polarity": _one(_splits(560000, test=38000), text=Text(725), label=Label("1 2")),
    "fancyzhx/amazon_polarity": _one(_splits(3600000, test=400000), label=Label("negative positive"), title=Text(24), content=Text(405)),
    "fancyzhx/dbpedia_14": _one(_splits(560000, test=70000), label=Label(14), title=Text(20), content=Text(280)),
    "dair-ai/emotion": _one(_splits(16000, 2000, 2000), text=Text(97), label=Label("sadness joy love anger fear surprise")),
    "nyu-mll/glue": _GLUE,
    "stanfordnlp/snli": _one(_splits(550152, 10000, 10000), premise=Text(66), hypothesis=Text(38), label=Label("entailment neutral contradiction")),
    "eriktks/conll2003": _one(
        _splits(14041, 3250, 3453),
        id=_STRING, tokens=Several(Text(5), 14), pos_tags=Several(Label(47), 14), chunk_tags=Several(Label(23), 14), ner_tags=Several(_TAGS, 14),
    ),
    "rajpurkar/squad": _one(_splits(87599, 10570), **_SQUAD),
    "rajpurkar/squad_v2": _one(_splits(130319, 11873), **_SQUAD),
    "Salesforce/wikitext": _WIKITEXT,
    "Skylion007/openwebtext": _one(_splits(8013769), text=Text(4900)),
    "allenai/c4": {"en": Shape(_splits(364868892, 364608), {"text": Text(2170), "timestamp": Text(20), "url": Text(70)})},
    "wikimedia/wikipedia": {"20231101.en": Shape(_splits(6407814), {"id": _STRING, "url": Text(50), "title": Text(20), "text": Text(3000)})},
    "roneneldan/TinyStories": _one(_splits(2119719, 21990), text=Text(890)),
    "abisee/cnn_dailymail": {
        version: Shape(_splits(287113, 13368, 11490), {"article": Text(4030), "highlights": Text(295), "id": Text(40)})
        for version in ("3.0.0", "2.0.0", "1.0.0")
    },
    "EdinburghNLP/xsum": _one(_splits(204045, 11332, 11334), document=Text(2200), summary=Text(125), id=_STRING),
    "knkarthick/samsum": _one(_splits(14732, 818, 819), id=_STRING, dialogue=Text(510), summary=Text(110)),
    "openai/gsm8k": {name: Shape(_splits(7473, test=1319), {"question": Text(235), "answer": Text(290)}) for name in ("main", "socratic")},
    "tatsu-lab/alpaca": _one(_splits(52002), instruction=Text(60), input=Text(22), output=Text(270), text=Text(570)),
    # The texts are taken to be as long as those of alpaca.
    "yahma/alpaca-cleaned": _one(_splits(51760), instruction=Text(60), input=Text(22), output=Text(270)),
    "databricks/databricks-dolly-15k": _one(_splits(15011), instruction=Text(70), context=Text(340), response=Text(360), category=_STRING),
    "HuggingFaceH4/ultrachat_200k": _one({"train_sft": 207865, "test_sft": 23110, "train_gen": 256032, "test_gen": 28304}, **_CHAT),
    "HuggingFaceH4/ultrafeedback_binarized": _one(
        {"train_prefs": 61135, "train_sft": 61135, "test_prefs": 2000, "test_sft": 1000, "train_gen": 61135, "test_gen": 1000}, **_PREFERENCE
    ),
    "ylecun/mnist": _one(_splits(60000, test=10000), image=Picture(((28, 28),), "L"), label=_DIGITS),
    "zalando-datasets/fashion_mnist": _one(_splits(60000, test=10000), image=Picture(((28, 28),), "L"), label=_DIGITS),
    "uoft-cs/cifar10": _one(_splits(50000, test=10000), img=Picture(((32, 32),)), label=_TEN),
    "uoft-cs/cifar100": _one(_splits(50000, test=10000), img=Picture(((32, 32),)), fine_label=Label(100), coarse_label=Label(20)),
    "ILSVRC/imagenet-1k": _one(_splits(1281167, 50000, 100000), image=_PHOTOS, label=Label(1000)),
    "ethz/food101": _one(_splits(75750, 25250), image=Picture(((512, 512), (512, 384), (384, 512))), label=Label(101)),
    "AI-Lab-Makerere/beans": _one(
        _splits(1034, 133, 128), image_file_path=Text(90), image=Picture(((500, 500),)), labels=Label("angular_leaf_spot bean_rust healthy")
    ),
    "openslr/librispeech_asr": {
        "clean": Shape({"train.100": 28539, "train.360": 104014, "validation": 2703, "test": 2620}, _SPEECH),
        "other": Shape({"train.500": 148688, "validation": 2864, "test": 2939}, _SPEECH),
    },
}  # fmt: skip
# Another owner of a set, by name.
_ALSO = {"Samsung/samsum": "knkarthick/samsum"}
_BY_SHORT_NAME = {name.rpartition("/")[2].lower(): name for name in _SETS}


def find(name: str) -> dict[str, Shape] | None:
    """The configurations of a set, by its name with or without the owner."""
    return _SETS.get(_ALSO.get(name) or _BY_SHORT_NAME.get(name) or name)


def list_names() -> list[str]:
    """The names of all sets."""
    return sorted(_BY_SHORT_NAME)
