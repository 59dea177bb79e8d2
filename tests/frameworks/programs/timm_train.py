"""timm: a training loop with mixup, EMA, timm's optimizer factory and a gradient scaler."""

import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3, NativeScaler

model = timm.create_model("vit_tiny_patch16_224", num_classes=10, drop_path_rate=0.1).cuda()
ema = ModelEmaV3(model, decay=0.999)
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05, layer_decay=0.75)
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
criterion, scaler = SoftTargetCrossEntropy(), NativeScaler()
for _ in range(4):
    images, target = torch.randn(8, 3, 224, 224, device="cuda"), torch.randint(0, 10, (8,), device="cuda")
    images, target = mixup(images, target)
    with torch.autocast("cuda", torch.float16):
        loss = criterion(model(images), target)
    scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
    optimizer.zero_grad()
    ema.update(model)
