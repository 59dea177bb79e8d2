"""What a program does with PyTorch, as events: each function is replaced once, and the parts of the agent that want to hear of it put a layer around it.

The function behind each event, in torch 2.5 to 2.15:

- an optimizer is made by `Optimizer.__init__`, also one of a subclass of the program's
- a module is called by `Module.__call__`, whether or not its class has a `forward` of its own
- a module is moved by `to` or `cuda`
- all of `Tensor.backward`, `torch.autograd.backward` and `torch.autograd.grad` enter the engine by `_engine_run_backward`
- a `DataLoader` is made by `DataLoader.__init__`
- gradients are cleared by `zero_grad` of an optimizer or a module, clipped by `torch.nn.utils`, and unscaled by a `GradScaler`

and in the libraries that train:

- arguments of transformers' Trainer, of the classes derived from `TrainingArguments` too, check themselves in `__post_init__`
- a `Trainer` of Lightning is made by `Trainer.__init__`, in a package of either name
"""

from collections.abc import Callable

from .replacing import Layer, around


def before(told: Callable[..., object]) -> Layer:
    """A layer that calls `told` with the arguments, then the function."""

    def layer(call, *args, **kwargs):
        told(*args, **kwargs)
        return call(*args, **kwargs)

    return layer


def after(told: Callable[..., object]) -> Layer:
    """A layer that calls the function, then `told` with the arguments."""

    def layer(call, *args, **kwargs):
        result = call(*args, **kwargs)
        told(*args, **kwargs)
        return result

    return layer


def instead(function: Callable[..., object]) -> Layer:
    """A layer that calls `function` in place of the function."""
    return lambda _call, *args, **kwargs: function(*args, **kwargs)


def on_optimizer_made(told: Callable[[object], object]) -> None:
    """Calls `told(optimizer)` after each construction of an optimizer."""
    around("torch.optim.optimizer:Optimizer.__init__", after(lambda optimizer, *_args, **_kwargs: told(optimizer)))


def around_module_call(layer: Layer) -> None:
    """Has `layer(call, module, *args, **kwargs)` run at each call of a module."""
    around("torch.nn.modules.module:Module.__call__", layer)


def around_move(layer: Layer) -> None:
    """Has `layer(call, module, *args, **kwargs)` run at each move of a module by `to`."""
    around("torch.nn.modules.module:Module.to", layer)


def around_cuda(layer: Layer) -> None:
    """Has `layer(call, module, device)` run at each move of a module by `cuda`."""
    around("torch.nn.modules.module:Module.cuda", layer)


def around_backward(layer: Layer) -> None:
    """Has `layer(run, outputs, *args, **kwargs)` run at each call into the autograd engine."""
    around("torch.autograd.graph:_engine_run_backward", layer)


def around_loader_made(layer: Layer) -> None:
    """Has `layer(init, loader, *args, **kwargs)` run at each construction of a `DataLoader`."""
    around("torch.utils.data.dataloader:DataLoader.__init__", layer)


def around_zero_grad(layer: Layer) -> None:
    """Has `layer(zero_grad, owner, *args, **kwargs)` run where an optimizer or a module clears gradients."""
    around("torch.optim.optimizer:Optimizer.zero_grad", layer)
    around("torch.nn.modules.module:Module.zero_grad", layer)


def around_clip(layer: Layer) -> None:
    """Has `layer(clip, parameters, *args, **kwargs)` run where gradients are clipped, by norm or by value."""
    around("torch.nn.utils.clip_grad:clip_grad_norm_", layer)
    around("torch.nn.utils.clip_grad:clip_grad_value_", layer)


def around_unscale(layer: Layer) -> None:
    """Has `layer(unscale, scaler, optimizer)` run where a `GradScaler` unscales gradients."""
    around("torch.amp.grad_scaler:GradScaler.unscale_", layer)


def before_training_arguments(told: Callable[[object], object]) -> None:
    """Calls `told(arguments)` on each `TrainingArguments` of transformers, before it checks itself."""
    around("transformers.training_args:TrainingArguments.__post_init__", before(lambda arguments, *_args, **_kwargs: told(arguments)))


def before_lightning_trainer(told: Callable[[dict], object]) -> None:
    """Calls `told(keywords)` before each construction of Lightning's `Trainer`; `told` may change the keywords."""

    def layer(init, trainer, *args, **kwargs):
        told(kwargs)
        return init(trainer, *args, **kwargs)

    for package in ("lightning.pytorch", "pytorch_lightning"):
        around(f"{package}.trainer.trainer:Trainer.__init__", layer)
