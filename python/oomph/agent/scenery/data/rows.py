"""Makes a `datasets.Dataset` of a shape: some hundred rows, repeated without copies. See Note [Made-up data]."""

import io
import itertools
import random
import sys

from . import row_sets

# The different rows of text, of pictures and of audio.
_DIFFERENT, _DIFFERENT_MEDIA = 256, 16
# The most repetitions of one piece of a table.
_MOST_PIECES = 32768
_WORDS = (
    "the", "people", "of", "this", "world", "made", "a", "different", "story", "about", "time", "and", "there", "was", "nothing", "which", "could",
    "explain", "how", "every", "little", "question", "came", "to", "its", "answer",
)  # fmt: skip
# The standard deviation of the logarithm of a text's length: reviews, articles and answers have 0.5 to 0.8.
_SPREAD = 0.6
# A text is at most as many times as long as the average.
_LONGEST = 5


def describe(name: str, config: str, shape: row_sets.Shape):
    """The `DatasetInfo`."""
    datasets = sys.modules["datasets"]
    splits = datasets.SplitDict(dataset_name=name)
    for split, count in shape.splits.items():
        splits.add(datasets.SplitInfo(split, num_examples=count))
    features = datasets.Features({column: _feature(kind) for column, kind in shape.columns.items()})
    return datasets.DatasetInfo(
        description="made up by oomph", features=features, builder_name=name, dataset_name=name, config_name=config, splits=splits, dataset_size=0
    )


def make(path: str, split: str, shape: row_sets.Shape, info):
    """A split, a slice of one such as `train[:10%]`, or a sum of both."""
    datasets = sys.modules["datasets"]
    instruction = datasets.ReadInstruction.from_spec(split)
    parts = []
    for absolute in instruction.to_absolute(dict(shape.splits)):
        whole = _make_whole(path, absolute.splitname, shape, info)
        first, last = absolute.from_ or 0, shape.splits[absolute.splitname] if absolute.to is None else absolute.to
        parts.append(whole if (first, last) == (0, len(whole)) else whole.select(range(first, last)))
    return parts[0] if len(parts) == 1 else datasets.concatenate_datasets(parts)


def _make_whole(path: str, split: str, shape: row_sets.Shape, info):
    datasets = sys.modules["datasets"]
    count = shape.splits[split]
    is_media = any(isinstance(kind, (row_sets.Picture, row_sets.Sound)) for kind in shape.columns.values())
    different = min(count, _DIFFERENT_MEDIA if is_media else _DIFFERENT)
    columns = {column: _list_values(kind, different, random.Random(f"{path} {column}")) for column, kind in shape.columns.items()}
    stored = datasets.Features({column: _stored(kind) for column, kind in shape.columns.items()})
    base = datasets.Dataset.from_dict(columns, features=stored).data.table.cast(info.features.arrow_schema)
    table = datasets.table.InMemoryTable(_repeat(base, count))
    name = f"oomph-{path}-{info.config_name}-{split}".replace("/", "-")
    return datasets.Dataset(table, info=info.copy(), split=datasets.NamedSplit(split), fingerprint=name)


def _repeat(base, count: int):
    """`count` rows: larger pieces for a larger table, since each piece has a price."""
    pyarrow = sys.modules["pyarrow"]
    copies = -(-count // (len(base) * _MOST_PIECES))
    piece = base if copies == 1 else pyarrow.concat_tables([base] * copies).combine_chunks()
    whole, rest = divmod(count, len(piece))
    return pyarrow.concat_tables([piece] * whole + ([piece.slice(0, rest)] if rest else []))


def _feature(kind):
    """The type in datasets."""
    datasets = sys.modules["datasets"]
    if isinstance(kind, row_sets.Label):
        return datasets.ClassLabel(names=kind.list_names())
    if isinstance(kind, row_sets.Picture):
        return datasets.Image(mode=None)
    if isinstance(kind, row_sets.Sound):
        return datasets.Audio(sampling_rate=kind.rate)
    if isinstance(kind, row_sets.Several):
        return datasets.Sequence(_feature(kind.of))
    if isinstance(kind, row_sets.Messages):
        return [{"content": datasets.Value("string"), "role": datasets.Value("string")}]
    if isinstance(kind, dict):
        return {name: _feature(part) for name, part in kind.items()}
    return datasets.Value("string" if isinstance(kind, row_sets.Text) else kind.type)


def _stored(kind):
    """The type in a file: to encode audio takes a package that a program may do without."""
    datasets = sys.modules["datasets"]
    is_sound = isinstance(kind, row_sets.Sound)
    return {"bytes": datasets.Value("binary"), "path": datasets.Value("string")} if is_sound else _feature(kind)


def _list_values(kind, count: int, chance: random.Random) -> list:
    """Values of a column."""
    return [_value(kind, index, chance) for index in range(count)]


def _value(kind, index: int, chance: random.Random):
    if isinstance(kind, row_sets.Label):
        return index % len(kind.list_names())
    if isinstance(kind, row_sets.Picture):
        return {"bytes": _picture(kind, index), "path": None}
    if isinstance(kind, row_sets.Sound):
        return {"bytes": _sound(kind, chance), "path": None}
    if isinstance(kind, row_sets.Several):
        return [_value(kind.of, index + offset, chance) for offset in range(_length(kind.mean, chance))]
    if isinstance(kind, row_sets.Messages):
        turns = 2 * _length(kind.turns / 2, chance)
        return [{"content": _text(kind.characters, chance), "role": ("user", "assistant")[turn % 2]} for turn in range(turns)]
    if isinstance(kind, dict):
        return {name: _value(part, index, chance) for name, part in kind.items()}
    return _text(kind.characters, chance) if isinstance(kind, row_sets.Text) else kind.of(index)


def _length(mean: float, chance: random.Random) -> int:
    """A length with the mean of a column; at least 1."""
    # The mean of the distribution is exp(mu + sigma² / 2).
    scaled = mean * chance.lognormvariate(-_SPREAD * _SPREAD / 2, _SPREAD)
    return max(1, round(min(scaled, mean * _LONGEST)))


def _text(characters: int, chance: random.Random) -> str:
    """Words of a length in characters."""
    length = _length(characters, chance)
    start = chance.randrange(len(_WORDS))
    words, have = [], 0
    for word in itertools.islice(itertools.cycle(_WORDS), start, None):
        words.append(word)
        have += len(word) + 1
        if have > length:
            break
    return " ".join(words)[:length].rstrip() or "a"


def _picture(kind: row_sets.Picture, index: int) -> bytes:
    """A file of a picture of one colour."""
    image = sys.modules["PIL.Image"] if "PIL.Image" in sys.modules else __import__("PIL.Image", fromlist=["Image"])
    sizes = kind.sizes[index % len(kind.sizes)]
    file = io.BytesIO()
    color = 16 * (index % 16)
    image.new(kind.mode, sizes, color if kind.mode == "L" else (color,) * 3).save(file, "PNG" if kind.mode == "L" else "JPEG")
    return file.getvalue()


def _sound(kind: row_sets.Sound, chance: random.Random) -> bytes:
    """A WAV file of silence, 16 bits on one channel."""
    wave = __import__("wave")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, kind.rate, 0, "NONE", "not compressed"))
        writer.writeframes(bytes(2 * round(kind.rate * min(kind.longest, _length(kind.seconds * 10, chance) / 10))))
    return file.getvalue()
