"""datasets' sets with --fake-data: splits, features and types as the pages of the sets state them."""

import datasets
from step import make_step

# Name, configuration, split: the rows, and the columns with their types.
SETS = [
    ("imdb", None, "train", 25000, {"text": "string", "label": "ClassLabel"}),
    ("stanfordnlp/imdb", None, "unsupervised", 50000, {"text": "string", "label": "ClassLabel"}),
    ("ag_news", None, "test", 7600, {"text": "string", "label": "ClassLabel"}),
    ("glue", "sst2", "train", 67349, {"sentence": "string", "label": "ClassLabel", "idx": "int32"}),
    ("nyu-mll/glue", "mnli", "validation_matched", 9815, {"premise": "string", "hypothesis": "string", "label": "ClassLabel", "idx": "int32"}),
    ("glue", "stsb", "validation", 1500, {"sentence1": "string", "sentence2": "string", "label": "float32", "idx": "int32"}),
    ("wikitext", "wikitext-103-raw-v1", "train", 1801350, {"text": "string"}),
    ("wikitext", "wikitext-2-raw-v1", "validation", 3760, {"text": "string"}),
    ("squad", None, "validation", 10570, {"id": "string", "title": "string", "context": "string", "question": "string", "answers": "dict"}),
    ("openai/gsm8k", "main", "train", 7473, {"question": "string", "answer": "string"}),
    ("tatsu-lab/alpaca", None, "train", 52002, {"instruction": "string", "input": "string", "output": "string", "text": "string"}),
    ("yahma/alpaca-cleaned", None, "train", 51760, {"instruction": "string", "input": "string", "output": "string"}),
    ("HuggingFaceH4/ultrachat_200k", None, "train_sft", 207865, {"prompt": "string", "prompt_id": "string", "messages": "List"}),
    ("openwebtext", None, "train", 8013769, {"text": "string"}),
    ("mnist", None, "train", 60000, {"image": "Image", "label": "ClassLabel"}),
    ("cifar10", None, "test", 10000, {"img": "Image", "label": "ClassLabel"}),
    ("imagenet-1k", None, "train", 1281167, {"image": "Image", "label": "ClassLabel"}),
    ("beans", None, "train", 1034, {"image_file_path": "string", "image": "Image", "labels": "ClassLabel"}),
]


def type_of(feature) -> str:
    """`string` for a value, else the name of the class."""
    return feature.dtype if isinstance(feature, datasets.Value) else type(feature).__name__


for name, config, split, count, columns in SETS:
    made = datasets.load_dataset(name, config, split=split)
    assert isinstance(made, datasets.Dataset) and len(made) == count, (name, len(made))
    found = {column: type_of(feature) for column, feature in made.features.items()}
    assert {column: "List" if kind == "list" else kind for column, kind in found.items()} == columns, (name, found)
    assert set(made[count - 1]) == set(columns), name

assert datasets.load_dataset("imdb")["train"].features["label"].names == ["neg", "pos"]
assert len(datasets.load_dataset("glue", "mnli")) == 5
assert len(datasets.load_dataset("imdb", split="train[:10%]+test")) == 27500
assert datasets.load_dataset("mnist", split="train")[0]["image"].size == (28, 28)
assert datasets.load_dataset("imagenet-1k", split="train").features["label"].num_classes == 1000
stream = datasets.load_dataset("allenai/c4", "en", split="train", streaming=True)
assert isinstance(stream, datasets.IterableDataset) and set(next(iter(stream))) == {"text", "timestamp", "url"}
speech = datasets.load_dataset("librispeech_asr", "clean", split="validation")
assert len(speech) == 2703 and speech.features["audio"].sampling_rate == 16000
mapped = datasets.load_dataset("imdb", split="train").map(lambda rows: {"length": [len(text) for text in rows["text"]]}, batched=True)
# The reviews of IMDb have 1,325 characters on average.
assert 1100 < sum(mapped["length"]) / len(mapped) < 1500, sum(mapped["length"]) / len(mapped)
make_step()
