"""torchvision's sets with --fake-data: lengths, classes, sizes and types as their documentation has them."""

import torch
import torchvision
from step import make_step
from torchvision import datasets, transforms

# Class: its arguments, the number of items and of classes, the mode and size of a picture, and the type of a target.
SETS = [
    ("MNIST", {}, 60000, 10, "L", (28, 28), int),
    ("MNIST", {"train": False, "download": True}, 10000, 10, "L", (28, 28), int),
    ("FashionMNIST", {}, 60000, 10, "L", (28, 28), int),
    ("KMNIST", {"train": False}, 10000, 10, "L", (28, 28), int),
    ("EMNIST", {"split": "balanced"}, 112800, 47, "L", (28, 28), int),
    ("EMNIST", {"split": "letters"}, 124800, 27, "L", (28, 28), int),
    ("EMNIST", {"split": "byclass", "train": False}, 116323, 62, "L", (28, 28), int),
    ("QMNIST", {}, 60000, 10, "L", (28, 28), int),
    ("CIFAR10", {"download": True}, 50000, 10, "RGB", (32, 32), int),
    ("CIFAR100", {"train": False}, 10000, 100, "RGB", (32, 32), int),
    ("SVHN", {"split": "train"}, 73257, None, "RGB", (32, 32), int),
    ("SVHN", {"split": "extra"}, 531131, None, "RGB", (32, 32), int),
    ("STL10", {"split": "unlabeled"}, 100000, 10, "RGB", (96, 96), int),
    ("STL10", {"split": "train", "folds": 0}, 1000, 10, "RGB", (96, 96), int),
    ("USPS", {}, 7291, None, "L", (16, 16), int),
    ("ImageNet", {"split": "train"}, 1281167, 1000, "RGB", None, int),
    ("ImageNet", {"split": "val"}, 50000, 1000, "RGB", None, int),
    ("ImageFolder", {}, 1281167, 1000, "RGB", None, int),
    ("Food101", {"split": "test"}, 25250, 101, "RGB", None, int),
    ("Flowers102", {"split": "val"}, 1020, 102, "RGB", None, int),
    ("FGVCAircraft", {"split": "train"}, 3334, 100, "RGB", None, int),
    ("DTD", {}, 1880, 47, "RGB", None, int),
    ("OxfordIIITPet", {}, 3680, 37, "RGB", None, int),
    ("OxfordIIITPet", {"split": "test", "target_types": ["category", "segmentation"]}, 3669, 37, "RGB", None, tuple),
    ("Places365", {"small": True, "split": "val"}, 36500, 365, "RGB", (256, 256), int),
    ("CelebA", {"split": "valid"}, 19867, None, "RGB", (178, 218), torch.Tensor),
    ("VOCSegmentation", {}, 1464, None, "RGB", None, None),
    ("VOCDetection", {"year": "2007", "image_set": "test"}, 4952, None, "RGB", None, dict),
    ("CocoDetection", {"annFile": "annotations/instances_val2017.json"}, 5000, None, "RGB", None, list),
    ("CocoCaptions", {"annFile": "annotations/captions_train2014.json"}, 82783, None, "RGB", None, list),
]

for name, arguments, count, classes, mode, size, target_type in SETS:
    kind = getattr(datasets, name)
    made = kind("absent", **arguments)
    assert isinstance(made, kind) and len(made) == count, (name, arguments, len(made))
    assert classes is None or len(made.classes) == classes, (name, len(made.classes))
    for index in (0, count - 1):
        picture, target = made[index]
        assert picture.mode == mode and size in (None, picture.size), (name, picture.mode, picture.size)
        assert target_type is None or isinstance(target, target_type), (name, type(target))
        assert target_type is not int or classes is None or -1 <= target < classes, (name, target)


class Own(datasets.CIFAR10):
    """A script's own class over torchvision's arrays."""

    def __getitem__(self, index):
        return self.data[index].shape, self.targets[index]


assert Own("absent")[0] == ((32, 32, 3), 0)
assert datasets.CelebA("absent").attr.shape == (162770, 40)
boxes = datasets.CocoDetection("absent", "instances_train2017.json")[3][1]
assert all(len(box["bbox"]) == 4 and 1 <= box["category_id"] <= 90 for box in boxes)
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
loader = torch.utils.data.DataLoader(datasets.ImageFolder("absent/train", crop), batch_size=4, shuffle=True, num_workers=2)
images, labels = next(iter(loader))
assert images.shape == (4, 3, 224, 224) and labels.dtype == torch.int64, (images.shape, labels.dtype)
assert torchvision.datasets.MNIST("absent").data.shape == (60000, 28, 28)
make_step()
