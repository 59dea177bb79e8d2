"""The well-known data sets of torchvision: splits, classes, and sizes of pictures, as their documentation and their papers have them."""

from dataclasses import dataclass

# Width before height.
PHOTOS = ((500, 375), (375, 500), (500, 333), (400, 300))
_CIFAR_100 = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle caterpillar cattle "
    "chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house "
    "kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid "
    "otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew "
    "skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout "
    "tulip turtle wardrobe whale willow_tree wolf woman worm"
)


@dataclass(frozen=True)
class Arrays:
    """A set that its class reads into an array: pictures by split, the shape of a picture, and its classes."""

    splits: dict[str, int]
    shape: tuple[int, ...]
    classes: int


@dataclass(frozen=True)
class Files:
    """A set of picture files: pictures by split, their sizes, and the number of classes."""

    splits: dict[str, int]
    sizes: tuple[tuple[int, int], ...]
    classes: int


_TEN_SPLITS = {"train": 60000, "test": 10000}
ARRAYS = {
    "MNIST": Arrays(_TEN_SPLITS, (28, 28), 10),
    "FashionMNIST": Arrays(_TEN_SPLITS, (28, 28), 10),
    "KMNIST": Arrays(_TEN_SPLITS, (28, 28), 10),
    "QMNIST": Arrays({"train": 60000, "test": 60000, "test10k": 10000, "test50k": 50000, "nist": 402953}, (28, 28), 10),
    "EMNIST byclass": Arrays({"train": 697932, "test": 116323}, (28, 28), 62),
    "EMNIST bymerge": Arrays({"train": 697932, "test": 116323}, (28, 28), 47),
    "EMNIST balanced": Arrays({"train": 112800, "test": 18800}, (28, 28), 47),
    # Class 0 is "N/A".
    "EMNIST letters": Arrays({"train": 124800, "test": 20800}, (28, 28), 27),
    "EMNIST digits": Arrays({"train": 240000, "test": 40000}, (28, 28), 10),
    "EMNIST mnist": Arrays(_TEN_SPLITS, (28, 28), 10),
    "CIFAR10": Arrays({"train": 50000, "test": 10000}, (32, 32, 3), 10),
    "CIFAR100": Arrays({"train": 50000, "test": 10000}, (32, 32, 3), 100),
    "SVHN": Arrays({"train": 73257, "test": 26032, "extra": 531131}, (3, 32, 32), 10),
    "STL10": Arrays({"train": 5000, "test": 8000, "unlabeled": 100000, "train+unlabeled": 105000}, (3, 96, 96), 10),
    "USPS": Arrays({"train": 7291, "test": 2007}, (16, 16), 10),
}
CLASSES = {
    "CIFAR10": "airplane automobile bird cat deer dog frog horse ship truck".split(),
    "CIFAR100": _CIFAR_100.split(),
    "STL10": "airplane bird car cat deer dog horse monkey ship truck".split(),
}
# Every training split of ImageNet, 2012.
_IMAGENET = {"train": 1281167, "val": 50000}
FILES = {
    "ImageNet": Files(_IMAGENET, PHOTOS, 1000),
    # A folder of unknown pictures has the shape of ImageNet.
    "ImageFolder": Files(_IMAGENET, PHOTOS, 1000),
    "Food101": Files({"train": 75750, "test": 25250}, ((512, 512), (512, 384), (384, 512)), 101),
    "Flowers102": Files({"train": 1020, "val": 1020, "test": 6149}, ((500, 667), (667, 500)), 102),
    "FGVCAircraft": Files({"train": 3334, "val": 3333, "trainval": 6667, "test": 3333}, ((1024, 695), (1200, 812)), 100),
    "DTD": Files({"train": 1880, "val": 1880, "test": 1880}, ((640, 480), (300, 300)), 47),
    "OxfordIIITPet": Files({"trainval": 3680, "test": 3669}, PHOTOS, 37),
    "Places365": Files({"train-standard": 1803460, "train-challenge": 8026628, "val": 36500}, ((683, 512), (512, 683)), 365),
    "Places365 small": Files({"train-standard": 1803460, "train-challenge": 8026628, "val": 36500}, ((256, 256),), 365),
    "CelebA": Files({"train": 162770, "valid": 19867, "test": 19962, "all": 202599}, ((178, 218),), 10177),
    "VOCSegmentation 2012": Files({"train": 1464, "val": 1449, "trainval": 2913}, PHOTOS, 21),
    "VOCSegmentation 2007": Files({"train": 209, "val": 213, "trainval": 422, "test": 210}, PHOTOS, 21),
    "VOCDetection 2012": Files({"train": 5717, "val": 5823, "trainval": 11540}, PHOTOS, 20),
    "VOCDetection 2007": Files({"train": 2501, "val": 2510, "trainval": 5011, "test": 4952}, PHOTOS, 20),
    "Coco": Files({"train2017": 118287, "val2017": 5000, "train2014": 82783, "val2014": 40504}, ((640, 480), (480, 640), (640, 427)), 80),
}
VOC = (
    "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant sheep sofa train tvmonitor"
).split()
CELEBA_ATTRIBUTES, COCO_HIGHEST_CATEGORY = 40, 90
