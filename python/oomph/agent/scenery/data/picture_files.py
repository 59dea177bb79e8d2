"""Writes a few small files for a made-up set: pictures of one colour, masks and annotations. See Note [Made-up data]."""

import functools
import os
import sys

from ...host import hollow

# The different pictures of a set.
DIFFERENT = 8
_OBJECTS = 3


def list_pictures(name: str, sizes: tuple[tuple[int, int], ...]) -> list[str]:
    """The paths of the pictures of a set."""
    return [_write(os.getpid(), f"{name}-{index}.jpg", "RGB", sizes[index % len(sizes)], 30 * index) for index in range(DIFFERENT)]


def list_masks(name: str, sizes: tuple[tuple[int, int], ...], mode: str) -> list[str]:
    """The paths of the masks of the pictures: class 1 everywhere."""
    return [_write(os.getpid(), f"{name}-{index}.png", mode, sizes[index % len(sizes)], 1) for index in range(DIFFERENT)]


def list_annotations(sizes: tuple[tuple[int, int], ...], names: list[str]) -> list[str]:
    """The paths of annotations in the form of Pascal VOC."""
    return [_write_annotation(os.getpid(), index, sizes[index % len(sizes)], tuple(names)) for index in range(DIFFERENT)]


@functools.cache
def _write(process: int, file: str, mode: str, size: tuple[int, int], color: int) -> str:
    path = os.path.join(hollow.make_folder(process), file)
    image = __import__("PIL.Image", fromlist=["Image"])
    image.new(mode, size, (color,) * 3 if mode == "RGB" else color).save(path)
    return path


@functools.cache
def _write_annotation(process: int, index: int, size: tuple[int, int], names: tuple[str, ...]) -> str:
    width, height = size
    path = os.path.join(hollow.make_folder(process), f"voc-{index}.xml")
    box = f"<xmin>1</xmin><ymin>1</ymin><xmax>{width // 2}</xmax><ymax>{height // 2}</ymax>"
    objects = (
        f"<object><name>{names[(index + number) % len(names)]}</name><pose>Unspecified</pose><truncated>0</truncated>"
        f"<difficult>0</difficult><bndbox>{box}</bndbox></object>"
        for number in range(_OBJECTS)
    )
    shape = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
    with open(path, "w", encoding="ascii") as file:
        file.write(f"<annotation><filename>{index:06}.jpg</filename>{shape}<segmented>0</segmented>{''.join(objects)}</annotation>")
    return path


def spread(count: int, classes: int) -> list[int]:
    """The classes of `count` pictures in the order of folders: every class has as many."""
    return [index * classes // count for index in range(count)]


def name_classes(count: int) -> list[str]:
    """Names for classes whose names no table has."""
    return [f"class_{index:03}" for index in range(count)]


def list_imagenet_names() -> list[str]:
    """The names of ImageNet's classes, which torchvision's weights have."""
    return list(sys.modules["torchvision"].models._meta._IMAGENET_CATEGORIES)
