"""Fills the attributes of torchvision's data sets as their classes would from files: the table `picture_sets` says with what.

See Note [Made-up data]. Values that are alike are shared: 8 bytes a picture.
"""

import functools
import os
import sys
from dataclasses import dataclass

from . import picture_files, picture_sets
from .annotations import MadeAnnotations
from .picture_sets import Known

# Classes before the classes that they extend.
_KINDS = (
    "EMNIST", "QMNIST", "KMNIST", "FashionMNIST", "MNIST", "CIFAR100", "CIFAR10", "SVHN", "STL10", "USPS", "ImageNet", "ImageFolder", "Food101",
    "Flowers102", "FGVCAircraft", "DTD", "OxfordIIITPet", "Places365", "CelebA", "VOCSegmentation", "VOCDetection", "CocoCaptions",
    "CocoDetection",
)  # fmt: skip
# The number of columns of QMNIST's labels, and of the pictures of a fold of STL10.
_QMNIST_COLUMNS, _FOLD = 8, 1000
_ANIMALS = ["Cat", "Dog"]


@dataclass(frozen=True)
class _Set:
    """A set to be filled."""

    key: str
    known: Known
    split: str
    count: int
    asked: dict

    @functools.cached_property
    def files(self) -> list[str]:
        """The few different pictures."""
        return picture_files.list_pictures(self.key.replace(" ", "-"), self.known.sizes)

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the classes."""
        return self.known.names.split() or picture_files.name_classes(self.known.classes)

    @functools.cached_property
    def classes(self) -> list[int]:
        """The classes of the pictures, in the order of folders."""
        return picture_files.spread(self.count, self.known.classes)

    def zeros(self, *shape: int, dtype: str = "uint8"):
        """An array for all pictures, that no memory backs until it is written."""
        return sys.modules["numpy"].zeros((self.count, *shape), dtype=dtype)

    def columns(self, number: int):
        """A tensor of integers."""
        return sys.modules["torch"].from_numpy(self.zeros(number, dtype="int64"))

    def cycle(self, first: int = 0, count: int | None = None) -> list[int]:
        """The classes in turn."""
        return [first + index % (self.known.classes - first) for index in range(self.count if count is None else count)]

    def some_labels(self) -> list[int]:
        """The labels of STL10, of which a part has none."""
        splits, is_test = self.known.splits, self.split == "test"
        labelled = 0 if self.split == "unlabeled" else min(self.count, splits["test" if is_test else "train"])
        return self.cycle(count=labelled) + [-1] * (self.count - labelled)

    def repeat(self, values: list) -> list:
        """References to a few values."""
        return (values * (self.count // len(values) + 1))[: self.count]

    def pairs(self) -> list[tuple[str, int]]:
        """Files with their classes."""
        pairs = [[(file, label) for label in range(self.known.classes)] for file in self.files]
        return [pairs[index % len(pairs)][label] for index, label in enumerate(self.classes)]

    def annotations(self, has_captions: bool) -> MadeAnnotations:
        """The questions to `pycocotools`."""
        sizes = self.known.sizes
        return MadeAnnotations(self.files, [sizes[index % len(sizes)] for index in range(len(self.files))], self.count, has_captions)

    def masks(self, mode: str) -> list[str]:
        """Masks of the pictures."""
        return self.repeat(picture_files.list_masks(self.key.replace(" ", "-"), self.known.sizes, mode))


def _torch():
    return sys.modules["torch"]


def _index(names: list) -> dict:
    return {name: index for index, name in enumerate(names)}


def _synonyms() -> list[tuple[str, ...]]:
    return [tuple(name.split(", ")) for name in picture_files.list_imagenet_names()]


def _numbers(of: _Set) -> list[str]:
    return [f"n{index:08}" for index in range(of.known.classes)]


# By the name in the table: the value of an attribute.
MAKERS = {
    "array": lambda of: of.zeros(*of.known.shape),
    "tensor": lambda of: _torch().from_numpy(of.zeros(*of.known.shape)),
    "labels": lambda of: of.cycle(),
    "label array": lambda of: sys.modules["numpy"].array(of.cycle()),
    "label tensor": lambda of: _torch().tensor(of.cycle()),
    "letter tensor": lambda of: _torch().tensor(of.cycle(1)),
    "label rows": lambda of: _torch().tensor(of.cycle())[:, None].repeat(1, _QMNIST_COLUMNS),
    "some labels": lambda of: sys.modules["numpy"].array(of.some_labels()),
    "pictures": lambda of: of.repeat(of.files),
    "grey masks": lambda of: of.masks("L"),
    "masks": lambda of: of.masks("P"),
    "boxes": lambda of: of.repeat(picture_files.list_annotations(of.known.sizes, of.names)),
    "objects": lambda of: of.annotations(False),
    "captions": lambda of: of.annotations(True),
    "ids": lambda of: list(range(1, of.count + 1)),
    "spread": lambda of: of.classes,
    "halves": lambda of: [label % 2 for label in of.classes],
    "pairs": _Set.pairs,
    "names": lambda of: list(of.names),
    "indices": lambda of: _index(of.names),
    "paths": lambda of: [f"/p/{name}" for name in of.names],
    "animals": lambda of: list(_ANIMALS),
    "animal indices": lambda of: _index(_ANIMALS),
    "synonyms": lambda of: _synonyms(),
    "synonym indices": lambda of: {name: index for index, several in enumerate(_synonyms()) for name in several},
    "numbers": _numbers,
    "number indices": lambda of: _index(_numbers(of)),
    "attributes": lambda of: [f"attribute_{index:02}" for index in range(40)],
    "40 zeros": lambda of: of.columns(40),
    "10 zeros": lambda of: of.columns(10),
    "4 zeros": lambda of: of.columns(4),
    "1 one": lambda of: of.columns(1) + 1,
    "loader": lambda of: of.asked.get("loader") or sys.modules["torchvision.datasets.folder"].default_loader,
    "split": lambda of: of.split,
    "small": lambda of: of.asked["small"],
    "nothing": lambda of: None,
}


def fill(made, asked: dict) -> str:
    """Fills a set by the arguments of its class; returns its name. `KeyError` for a split without figures."""
    asked = {**asked, **asked.get("kwargs", {})}
    module = sys.modules["torchvision.datasets"]
    kind = next(name for name in _KINDS if isinstance(made, getattr(module, name)))
    key = _find_key(kind, made, asked)
    known, split = picture_sets.SETS[key], _find_split(kind, made, asked)
    count = _FOLD if asked.get("folds") is not None else known.splits[split]
    if not hasattr(made, "transforms"):
        # The class asks for its files before its base class is initialised.
        module.vision.VisionDataset.__init__(made, asked["root"], *(asked.get(name) for name in ("transforms", "transform", "target_transform")))
    of = _Set(key, known, split, count, asked)
    for attribute, maker in known.fill.items():
        setattr(made, attribute, MAKERS[maker](of))
    if "annFile" in asked:
        return f"COCO {os.path.basename(str(asked['annFile']))}"
    return f"{key} {asked['root']}" if kind == "ImageFolder" else key


def _find_key(kind: str, made, asked: dict) -> str:
    """The row of the table."""
    variants = {"EMNIST": getattr(made, "split", ""), "VOCSegmentation": asked.get("year"), "VOCDetection": asked.get("year")}
    variant = variants.get(kind) or ("small" if kind == "Places365" and asked["small"] else "")
    return f"{kind} {variant}".rstrip()


def _find_split(kind: str, made, asked: dict) -> str:
    """The split, by the arguments; of a folder and of a file of annotations, by the name."""
    if kind == "ImageFolder":
        name = os.path.basename(str(asked["root"]).rstrip(os.sep)).lower()
        return "val" if any(word in name for word in ("val", "test")) else "train"
    if "annFile" in asked:
        name = os.path.basename(str(asked["annFile"]))
        return next((split for split in picture_sets.SETS[kind].splits if split in name), name)
    if "train" in asked:
        return getattr(made, "what", None) or ("train" if asked["train"] else "test")
    return str(asked.get("image_set") or asked["split"]).lower()
