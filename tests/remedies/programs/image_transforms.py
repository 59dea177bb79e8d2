"""Images that torchvision's transforms bring to the size of the model's input."""

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import FakeData

pipeline = transforms.Compose([transforms.Resize(144), transforms.CenterCrop(128), transforms.ToTensor()])
data = FakeData(size=24, image_size=(3, 150, 150), num_classes=10, transform=pipeline)
loader = DataLoader(data, batch_size=8, shuffle=True)

model = nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.LazyLinear(10))
model(torch.zeros(1, *data[0][0].shape))
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images.cuda()), labels.cuda()).backward()
    optimizer.step()
