"""DeepSpeed: one engine, ZeRO stage by argument."""

import argparse

import deepspeed
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(6))
        self.head = nn.Linear(1024, 10)

    def forward(self, x, y):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return nn.functional.cross_entropy(self.head(x), y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    parser.add_argument("--stage", type=int, default=1)
    args = parser.parse_args()
    config = {
        "train_micro_batch_size_per_gpu": 32,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": args.stage},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
        "gradient_clipping": 1.0,
    }
    with deepspeed.zero.Init(config_dict_or_path=config, enabled=args.stage == 3):
        model = Net()
    engine, _, _, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters(), config=config)
    for _ in range(4):
        x = torch.randn(32, 1024, device=engine.device, dtype=torch.bfloat16)
        y = torch.randint(0, 10, (32,), device=engine.device)
        loss = engine(x, y)
        engine.backward(loss)
        engine.step()


if __name__ == "__main__":
    main()
