"""The models of the cross-check: each function returns a model, its optimizer and a function that computes a loss."""

from functools import partial

import torch
import torchvision
import transformers
from torch import nn

SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def mlp(optimizer=partial(torch.optim.SGD, lr=0.1), dtype=torch.float32):
    """Linear layers, whose odd sizes the allocator must round."""
    model = nn.Sequential(nn.Linear(333, 1111), nn.GELU(), nn.Linear(1111, 1111), nn.GELU(), nn.Linear(1111, 7))
    model.to("cuda", dtype)
    x = torch.randn(65, 333, device="cuda", dtype=dtype)
    return model, optimizer(model.parameters()), lambda: model(x).float().square().mean()


def vision(name, memory_format=torch.contiguous_format, optimizer=partial(torch.optim.SGD, lr=0.1, momentum=0.9)):
    """A torchvision classifier; its convolutions are cuDNN's."""
    model = torchvision.models.get_model(name, weights=None, num_classes=10)
    model.to("cuda", memory_format=memory_format)
    images = torch.randn(4, 3, 64, 64, device="cuda").to(memory_format=memory_format)
    return model, optimizer(model.parameters()), lambda: model(images).mean()


def language(name, autocast=False, **config):
    """A transformers model built from its configuration."""
    cls = getattr(transformers, name)
    model = cls(cls.config_class(vocab_size=1000, pad_token_id=0, **SIZES, **config)).cuda()
    ids = torch.ones(4, 48, dtype=torch.long, device="cuda")

    def loss():
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            return model(input_ids=ids, labels=ids).loss

    return model, torch.optim.AdamW(model.parameters()), loss


def recurrent(cls):
    """A recurrent net of two layers, with all weights in one buffer of cuDNN's layout."""
    model = cls(40, 80, num_layers=2).cuda()
    x = torch.randn(30, 8, 40, device="cuda")
    return model, torch.optim.Adam(model.parameters()), lambda: model(x)[0].mean()


def transformer():
    """An encoder with a decoder."""
    model = nn.Transformer(64, 4, 2, 2, 128, batch_first=True).cuda()
    source, target = torch.randn(2, 4, 32, 64, device="cuda")
    return model, torch.optim.RMSprop(model.parameters()), lambda: model(source, target).mean()


def embedding():
    """A large table of which a step reads a few rows."""
    model = nn.EmbeddingBag(50_000, 33).cuda()
    indices = torch.zeros(8, 16, dtype=torch.long, device="cuda")
    return model, torch.optim.Adagrad(model.parameters()), lambda: model(indices).mean()


PROGRAMS = {
    "mlp_sgd": mlp,
    "mlp_adamw": partial(mlp, torch.optim.AdamW),
    "mlp_amsgrad": partial(mlp, partial(torch.optim.Adam, amsgrad=True)),
    "mlp_bf16": partial(mlp, torch.optim.AdamW, torch.bfloat16),
    "resnet18": partial(vision, "resnet18"),
    "resnet18_channels_last": partial(vision, "resnet18", torch.channels_last),
    "mobilenet_v3_small": partial(vision, "mobilenet_v3_small", optimizer=torch.optim.RMSprop),
    "convnext_tiny": partial(vision, "convnext_tiny", optimizer=torch.optim.AdamW),
    "gpt2": partial(language, "GPT2LMHeadModel"),
    "gpt2_autocast": partial(language, "GPT2LMHeadModel", autocast=True),
    "bert": partial(language, "BertForMaskedLM"),
    "llama": partial(language, "LlamaForCausalLM", num_key_value_heads=2),
    "lstm": partial(recurrent, nn.LSTM),
    "gru": partial(recurrent, nn.GRU),
    "transformer": transformer,
    "embedding_bag": embedding,
}
