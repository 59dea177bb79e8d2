"""Fills the attributes of torchvision's data sets as their classes would from files. See Note [Made-up data].

A function here takes the set, whose base class has been initialised, and the arguments of its class; the names of attributes are those of
torchvision 0.15 to 0.26. `KeyError` for a split without figures.
"""

import os
import sys

from . import picture_files, picture_sets
from .annotations import MadeAnnotations

_QMNIST_COLUMNS = 8


def _zeros(*shape: int):
    """An array of bytes that no memory backs until it is written."""
    return sys.modules["numpy"].zeros(shape, dtype="uint8")


def _cycle(count: int, classes: int, first: int = 0) -> list[int]:
    return [first + index % (classes - first) for index in range(count)]


def fill_mnist(made, asked: dict) -> str:
    """MNIST and its like: `data` and `targets` are tensors."""
    torch, kind = sys.modules["torch"], _name_of(made, ("EMNIST", "QMNIST", "KMNIST", "FashionMNIST", "MNIST"))
    split = getattr(made, "what", None) or ("train" if asked["train"] else "test")
    key = f"EMNIST {made.split}" if kind == "EMNIST" else kind
    known = picture_sets.ARRAYS[key]
    count = known.splits[split]
    made.data = torch.from_numpy(_zeros(count, *known.shape))
    labels = torch.tensor(_cycle(count, known.classes, 1 if key == "EMNIST letters" else 0))
    made.targets = labels[:, None].repeat(1, _QMNIST_COLUMNS) if kind == "QMNIST" else labels
    return key


def fill_cifar(made, asked: dict) -> str:
    """CIFAR: `data` is an array, `targets` a list."""
    key = _name_of(made, ("CIFAR100", "CIFAR10"))
    known = picture_sets.ARRAYS[key]
    count = known.splits["train" if asked["train"] else "test"]
    made.data, made.targets = _zeros(count, *known.shape), _cycle(count, known.classes)
    _name(made, picture_sets.CLASSES[key])
    return key


def fill_svhn(made, asked: dict) -> str:
    """SVHN: `labels` is an array."""
    known = picture_sets.ARRAYS["SVHN"]
    count = known.splits[asked["split"]]
    made.data, made.labels = _zeros(count, *known.shape), sys.modules["numpy"].array(_cycle(count, known.classes))
    return "SVHN"


def fill_stl10(made, asked: dict) -> str:
    """STL10: pictures without a label have -1; a fold has 1,000 pictures."""
    known = picture_sets.ARRAYS["STL10"]
    count = 1000 if asked["folds"] is not None else known.splits[asked["split"]]
    labelled = 0 if asked["split"] == "unlabeled" else min(count, known.splits["test" if asked["split"] == "test" else "train"])
    made.data = _zeros(count, *known.shape)
    made.labels = sys.modules["numpy"].array(_cycle(labelled, known.classes) + [-1] * (count - labelled))
    made.classes = picture_sets.CLASSES["STL10"]
    return "STL10"


def fill_usps(made, asked: dict) -> str:
    """USPS: `targets` is a list."""
    known = picture_sets.ARRAYS["USPS"]
    count = known.splits["train" if asked["train"] else "test"]
    made.data, made.targets = _zeros(count, *known.shape), _cycle(count, known.classes)
    return "USPS"


def fill_labelled(made, asked: dict) -> str:
    """Sets with a list of files, and one of labels."""
    key = _name_of(made, ("Food101", "Flowers102", "FGVCAircraft", "DTD"))
    known = picture_sets.FILES[key]
    count = known.splits[asked["split"]]
    made._image_files, made._labels = _repeat(picture_files.list_pictures(key, known.sizes), count), picture_files.spread(count, known.classes)
    made.loader = asked.get("loader") or _default_loader()
    _name(made, picture_files.name_classes(known.classes))
    return key


def fill_pets(made, asked: dict) -> str:
    """Oxford-IIIT Pets: breeds, cat or dog, and masks."""
    known = picture_sets.FILES["OxfordIIITPet"]
    count = known.splits[asked["split"]]
    made._images = _repeat(picture_files.list_pictures("pet", known.sizes), count)
    made._segs = _repeat(picture_files.list_masks("pet", known.sizes, "L"), count)
    made._labels = picture_files.spread(count, known.classes)
    made._bin_labels = [label % 2 for label in made._labels]
    made.bin_classes = ["Cat", "Dog"]
    made.bin_class_to_idx = {"Cat": 0, "Dog": 1}
    _name(made, picture_files.name_classes(known.classes))
    return "OxfordIIITPet"


def fill_folder(made, asked: dict) -> str:
    """A folder of pictures: the shape of ImageNet, as a split for validation or for training by the folder's name."""
    is_validation = any(word in os.path.basename(str(asked["root"]).rstrip(os.sep)).lower() for word in ("val", "test"))
    _fill_samples(made, asked, "val" if is_validation else "train", picture_files.name_classes(1000))
    return f"ImageFolder {asked['root']}"


def fill_imagenet(made, asked: dict) -> str:
    """ImageNet: the names of a class are a tuple. The class asks for its files before its base class is initialised."""
    given = asked.get("kwargs", {})
    base = sys.modules["torchvision.datasets.vision"].VisionDataset
    base.__init__(made, asked["root"], transform=given.get("transform"), target_transform=given.get("target_transform"))
    made.split = asked["split"]
    names = picture_files.list_imagenet_names()
    _fill_samples(made, given, asked["split"], [f"n{index:08}" for index in range(len(names))])
    made.wnids, made.wnid_to_idx = made.classes, made.class_to_idx
    made.classes = [tuple(name.split(", ")) for name in names]
    made.class_to_idx = {name: index for index, several in enumerate(made.classes) for name in several}
    return "ImageNet"


def _fill_samples(made, asked: dict, split: str, classes: list[str]) -> None:
    known = picture_sets.FILES["ImageNet"]
    count = known.splits[split]
    made.loader = asked.get("loader") or _default_loader()
    made.extensions = None
    _name(made, classes)
    made.targets = picture_files.spread(count, len(classes))
    files = picture_files.list_pictures("photo", known.sizes)
    # The pairs are shared: 8 bytes a picture.
    pairs = [[(file, label) for label in range(len(classes))] for file in files]
    made.samples = made.imgs = [pairs[index % len(files)][label] for index, label in enumerate(made.targets)]


def fill_places(made, asked: dict) -> str:
    """Places365: pairs as in a folder."""
    known = picture_sets.FILES["Places365 small" if asked["small"] else "Places365"]
    made.split, made.small, made.loader = asked["split"], asked["small"], asked.get("loader") or _default_loader()
    _name(made, [f"/p/{name}" for name in picture_files.name_classes(known.classes)])
    made.targets = picture_files.spread(known.splits[asked["split"]], known.classes)
    files = picture_files.list_pictures(f"place-{asked['small']}", known.sizes)
    pairs = [[(file, label) for label in range(known.classes)] for file in files]
    made.imgs = [pairs[index % len(files)][label] for index, label in enumerate(made.targets)]
    return "Places365"


def fill_celeba(made, asked: dict) -> str:
    """CelebA: tensors of 40 attributes, an identity, a box and 10 coordinates."""
    torch, numpy = sys.modules["torch"], sys.modules["numpy"]
    known = picture_sets.FILES["CelebA"]
    count = known.splits[asked["split"].lower()]
    zeros = lambda columns: torch.from_numpy(numpy.zeros((count, columns), dtype="int64"))
    made.filename = _repeat(picture_files.list_pictures("face", known.sizes), count)
    made.attr, made.identity, made.bbox, made.landmarks_align = (zeros(columns) for columns in (picture_sets.CELEBA_ATTRIBUTES, 1, 4, 10))
    made.identity += 1
    made.attr_names = [f"attribute_{index:02}" for index in range(picture_sets.CELEBA_ATTRIBUTES)]
    return "CelebA"


def fill_voc(made, asked: dict) -> str:
    """Pascal VOC: masks, or annotations."""
    kind = _name_of(made, ("VOCSegmentation", "VOCDetection"))
    key = f"{kind} {asked['year']}"
    known = picture_sets.FILES[key]
    count = known.splits[asked["image_set"]]
    made.images = _repeat(picture_files.list_pictures("voc", known.sizes), count)
    is_masks = kind == "VOCSegmentation"
    targets = picture_files.list_masks("voc", known.sizes, "P") if is_masks else picture_files.list_annotations(known.sizes, picture_sets.VOC)
    made.targets = _repeat(targets, count)
    return key


def fill_coco(made, asked: dict) -> str:
    """COCO: objects, or captions, by the name of the annotations' file."""
    known = picture_sets.FILES["Coco"]
    name = os.path.basename(str(asked["annFile"]))
    count = next(count for split, count in known.splits.items() if split in name) if any(split in name for split in known.splits) else known.splits[name]
    base = sys.modules["torchvision.datasets.vision"].VisionDataset
    base.__init__(made, asked["root"], asked["transforms"], asked["transform"], asked["target_transform"])
    files = picture_files.list_pictures("coco", known.sizes)
    sizes = [known.sizes[index % len(known.sizes)] for index in range(len(files))]
    made.coco = MadeAnnotations(files, sizes, count, _name_of(made, ("CocoCaptions", "CocoDetection")) == "CocoCaptions")
    made.ids = made.coco.getImgIds()
    return f"COCO {name}"


def _repeat(values: list, count: int) -> list:
    """`count` references to a few values."""
    return (values * (count // len(values) + 1))[:count]


def _name(made, classes: list[str]) -> None:
    made.classes, made.class_to_idx = list(classes), {name: index for index, name in enumerate(classes)}


def _name_of(made, names: tuple[str, ...]) -> str:
    """The name of the first class that the set is an instance of."""
    module = sys.modules["torchvision.datasets"]
    return next(name for name in names if isinstance(made, getattr(module, name)))


def _default_loader():
    return sys.modules["torchvision.datasets.folder"].default_loader
