"""The well-known data sets of torchvision as a table: splits, classes and sizes of pictures, with the source of the figures."""

from dataclasses import dataclass, field

# Width before height.
_PHOTOS = ((500, 375), (375, 500), (500, 333), (400, 300))
_CIFAR_100 = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle caterpillar cattle "
    "chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house "
    "kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid "
    "otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew "
    "skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout "
    "tulip turtle wardrobe whale willow_tree wolf woman worm"
)
_VOC_CLASSES = (
    "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant sheep sofa train tvmonitor"
)


@dataclass(frozen=True)
class Known:
    """A set: pictures by split, the number of classes, and the page or the paper with both."""

    splits: dict[str, int]
    classes: int
    source: str
    # Of a set that its class reads into an array, the shape of a picture; else the sizes of the picture files.
    shape: tuple[int, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    # The names of the classes, if programs read them.
    names: str = ""
    # The attributes of the class in torchvision 0.15 to 0.26, and what makes the value of each (`fillings.MAKERS`).
    fill: dict[str, str] = field(default_factory=dict)


_INDEXED = {"classes": "names", "class_to_idx": "indices"}
_TENSORS = {"data": "tensor", "targets": "label tensor"}
_LISTED = {"data": "array", "targets": "labels"}
_NUMBERED = {"data": "array", "labels": "label array"}
_LABELLED = {"_image_files": "pictures", "_labels": "spread", "loader": "loader", **_INDEXED}
_PAIRED = {"loader": "loader", "targets": "spread", "imgs": "pairs"}
_FOLDER = {**_PAIRED, "extensions": "nothing", "samples": "pairs", **_INDEXED}
_SPLITS_MNIST, _SPLITS_IMAGENET = {"train": 60000, "test": 10000}, {"train": 1281167, "val": 50000}
_SPLITS_PLACES = {"train-standard": 1803460, "train-challenge": 8026628, "val": 36500}
_PLACES = {"split": "split", "small": "small", **_PAIRED, "classes": "paths", "class_to_idx": "indices"}
_EMNIST, _COCO, _VOC = "arXiv:1702.05373, table II", "cocodataset.org", "host.robots.ox.ac.uk/pascal/VOC"

# By class, and by the variant that an argument chooses.
SETS = {
    "MNIST": Known(_SPLITS_MNIST, 10, "yann.lecun.com/exdb/mnist", (28, 28), fill=_TENSORS),
    "FashionMNIST": Known(_SPLITS_MNIST, 10, "arXiv:1708.07747", (28, 28), fill=_TENSORS),
    "KMNIST": Known(_SPLITS_MNIST, 10, "arXiv:1812.01718", (28, 28), fill=_TENSORS),
    "QMNIST": Known(
        {"train": 60000, "test": 60000, "test10k": 10000, "test50k": 50000, "nist": 402953}, 10, "arXiv:1905.10498", (28, 28),
        fill={"data": "tensor", "targets": "label rows"},
    ),
    "EMNIST byclass": Known({"train": 697932, "test": 116323}, 62, _EMNIST, (28, 28), fill=_TENSORS),
    "EMNIST bymerge": Known({"train": 697932, "test": 116323}, 47, _EMNIST, (28, 28), fill=_TENSORS),
    "EMNIST balanced": Known({"train": 112800, "test": 18800}, 47, _EMNIST, (28, 28), fill=_TENSORS),
    # Class 0 is "N/A".
    "EMNIST letters": Known({"train": 124800, "test": 20800}, 27, _EMNIST, (28, 28), fill={"data": "tensor", "targets": "letter tensor"}),
    "EMNIST digits": Known({"train": 240000, "test": 40000}, 10, _EMNIST, (28, 28), fill=_TENSORS),
    "EMNIST mnist": Known(_SPLITS_MNIST, 10, _EMNIST, (28, 28), fill=_TENSORS),
    "CIFAR10": Known(
        {"train": 50000, "test": 10000}, 10, "www.cs.toronto.edu/~kriz/cifar.html", (32, 32, 3),
        names="airplane automobile bird cat deer dog frog horse ship truck", fill={**_LISTED, **_INDEXED},
    ),
    "CIFAR100": Known(
        {"train": 50000, "test": 10000}, 100, "www.cs.toronto.edu/~kriz/cifar.html", (32, 32, 3), names=_CIFAR_100, fill={**_LISTED, **_INDEXED}
    ),
    "SVHN": Known({"train": 73257, "test": 26032, "extra": 531131}, 10, "ufldl.stanford.edu/housenumbers", (3, 32, 32), fill=_NUMBERED),
    # Pictures without a label have -1.
    "STL10": Known(
        {"train": 5000, "test": 8000, "unlabeled": 100000, "train+unlabeled": 105000}, 10, "cs.stanford.edu/~acoates/stl10", (3, 96, 96),
        names="airplane bird car cat deer dog horse monkey ship truck", fill={"data": "array", "labels": "some labels", "classes": "names"},
    ),
    "USPS": Known({"train": 7291, "test": 2007}, 10, "www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html", (16, 16), fill=_LISTED),
    "ImageNet": Known(
        _SPLITS_IMAGENET, 1000, "arXiv:1409.0575, table 2", sizes=_PHOTOS,
        fill={"split": "split", **_FOLDER, "classes": "synonyms", "class_to_idx": "synonym indices", "wnids": "numbers", "wnid_to_idx": "number indices"},
    ),
    # A folder of unknown pictures has the shape of ImageNet.
    "ImageFolder": Known(_SPLITS_IMAGENET, 1000, "ImageNet", sizes=_PHOTOS, fill=_FOLDER),
    "Food101": Known(
        {"train": 75750, "test": 25250}, 101, "data.vision.ee.ethz.ch/cvl/datasets_extra/food-101", sizes=((512, 512), (512, 384), (384, 512)),
        fill=_LABELLED,
    ),
    "Flowers102": Known(
        {"train": 1020, "val": 1020, "test": 6149}, 102, "www.robots.ox.ac.uk/~vgg/data/flowers/102", sizes=((500, 667), (667, 500)), fill=_LABELLED
    ),
    "FGVCAircraft": Known(
        {"train": 3334, "val": 3333, "trainval": 6667, "test": 3333}, 100, "arXiv:1306.5151", sizes=((1024, 695), (1200, 812)), fill=_LABELLED
    ),
    "DTD": Known(
        {"train": 1880, "val": 1880, "test": 1880}, 47, "www.robots.ox.ac.uk/~vgg/data/dtd", sizes=((640, 480), (300, 300)), fill=_LABELLED
    ),
    "OxfordIIITPet": Known(
        {"trainval": 3680, "test": 3669}, 37, "www.robots.ox.ac.uk/~vgg/data/pets", sizes=_PHOTOS,
        fill={
            "_images": "pictures", "_segs": "grey masks", "_labels": "spread", "_bin_labels": "halves", "bin_classes": "animals",
            "bin_class_to_idx": "animal indices", **_INDEXED,
        },
    ),
    "Places365": Known(_SPLITS_PLACES, 365, "places2.csail.mit.edu", sizes=((683, 512), (512, 683)), fill=_PLACES),
    "Places365 small": Known(_SPLITS_PLACES, 365, "places2.csail.mit.edu", sizes=((256, 256),), fill=_PLACES),
    "CelebA": Known(
        {"train": 162770, "valid": 19867, "test": 19962, "all": 202599}, 10177, "mmlab.ie.cuhk.edu.hk/projects/CelebA.html", sizes=((178, 218),),
        fill={
            "filename": "pictures", "attr": "40 zeros", "attr_names": "attributes", "identity": "1 one", "bbox": "4 zeros",
            "landmarks_align": "10 zeros",
        },
    ),
    "VOCSegmentation 2012": Known(
        {"train": 1464, "val": 1449, "trainval": 2913}, 21, _VOC, sizes=_PHOTOS, fill={"images": "pictures", "targets": "masks"}
    ),
    "VOCSegmentation 2007": Known(
        {"train": 209, "val": 213, "trainval": 422, "test": 210}, 21, _VOC, sizes=_PHOTOS, fill={"images": "pictures", "targets": "masks"}
    ),
    "VOCDetection 2012": Known(
        {"train": 5717, "val": 5823, "trainval": 11540}, 20, _VOC, sizes=_PHOTOS, names=_VOC_CLASSES, fill={"images": "pictures", "targets": "boxes"}
    ),
    "VOCDetection 2007": Known(
        {"train": 2501, "val": 2510, "trainval": 5011, "test": 4952}, 20, _VOC, sizes=_PHOTOS, names=_VOC_CLASSES,
        fill={"images": "pictures", "targets": "boxes"},
    ),
    **{
        kind: Known(
            {"train2017": 118287, "val2017": 5000, "train2014": 82783, "val2014": 40504}, 80, _COCO, sizes=((640, 480), (480, 640), (640, 427)),
            fill={"coco": target, "ids": "ids"},
        )
        for kind, target in (("CocoCaptions", "captions"), ("CocoDetection", "objects"))
    },
}  # fmt: skip
