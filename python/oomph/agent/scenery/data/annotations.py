"""A stand-in for `pycocotools.coco.COCO`: annotations of a picture are made on access. See Note [Made-up data]."""

from collections.abc import Callable, Iterator, Mapping

# The average number of objects of a picture of COCO, and the categories, whose ids have gaps (`instances_train2017.json`).
_OBJECTS = 7
_MISSING = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
_CATEGORIES = [index for index in range(1, 91) if index not in _MISSING]
_CAPTIONS = 5


class _Made(Mapping):
    """A dict whose values are made on access."""

    def __init__(self, keys: list[int], make: Callable[[int], object]) -> None:
        self._keys, self._known, self._make = keys, set(keys), make

    def __getitem__(self, key: int) -> object:
        if key not in self._known:
            raise KeyError(key)
        return self._make(key)

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class MadeAnnotations:
    """The questions that data sets and scripts ask."""

    def __init__(self, files: list[str], sizes: list[tuple[int, int]], count: int, has_captions: bool) -> None:
        self._files, self._sizes, self._count, self._has_captions = files, sizes, count, has_captions

    @property
    def imgs(self) -> Mapping:
        """The pictures by id."""
        return _Made(self.getImgIds(), self._picture)

    @property
    def anns(self) -> Mapping:
        """The annotations by id."""
        return _Made(self.getAnnIds(), self._annotation)

    @property
    def cats(self) -> Mapping:
        """The categories by id."""
        return _Made(self.getCatIds(), lambda index: self.loadCats(index)[0])

    @property
    def imgToAnns(self) -> Mapping:
        """The annotations of each picture."""
        return _Made(self.getImgIds(), lambda index: self.loadAnns(self.getAnnIds(index)))

    @property
    def catToImgs(self) -> Mapping:
        """The pictures with each category; the n-th object of a picture has the category of number picture + n."""
        spread, pictures = len(_CATEGORIES), self.getImgIds()
        place = {category: index for index, category in enumerate(_CATEGORIES)}
        return _Made(self.getCatIds(), lambda index: [picture for picture in pictures if (place[index] - picture) % spread < _OBJECTS])

    def createIndex(self) -> None:
        """Nothing: the index is made on access."""

    def getImgIds(self, *_args, **_kwargs) -> list[int]:
        """The ids of all pictures."""
        return list(range(1, self._count + 1))

    def getCatIds(self, *_args, **_kwargs) -> list[int]:
        """The ids of all categories."""
        return list(_CATEGORIES)

    def getAnnIds(self, imgIds=(), *_args, **_kwargs) -> list[int]:
        """The ids of the annotations of pictures; all pictures without any."""
        ids = [imgIds] if isinstance(imgIds, int) else list(imgIds) or self.getImgIds()
        return [index * 10 + number for index in ids for number in range(_CAPTIONS if self._has_captions else _OBJECTS)]

    def loadCats(self, ids=()) -> list[dict]:
        """Categories."""
        return [{"id": index, "name": f"category {index}", "supercategory": "thing"} for index in _listed(ids)]

    def loadImgs(self, ids=()) -> list[dict]:
        """Pictures."""
        return [self._picture(index) for index in _listed(ids)]

    def loadAnns(self, ids=()) -> list[dict]:
        """Annotations."""
        return [self._annotation(index) for index in _listed(ids)]

    def _picture(self, index: int) -> dict:
        width, height = self._sizes[index % len(self._sizes)]
        return {"id": index, "file_name": self._files[index % len(self._files)], "width": width, "height": height}

    def _annotation(self, index: int) -> dict:
        picture, number = divmod(index, 10)
        if self._has_captions:
            return {"id": index, "image_id": picture, "caption": "a made-up picture of one colour"}
        width, height = self._sizes[picture % len(self._sizes)]
        x, y, wide, high = 10.0 * number, 8.0 * number, width / 4, height / 4
        outline = [x, y, x + wide, y, x + wide, y + high, x, y + high]
        return {
            "id": index, "image_id": picture, "category_id": _CATEGORIES[(picture + number) % len(_CATEGORIES)], "iscrowd": 0,
            "bbox": [x, y, wide, high], "area": wide * high, "segmentation": [outline],
        }  # fmt: skip


def _listed(ids) -> list[int]:
    return [ids] if isinstance(ids, int) else list(ids)
