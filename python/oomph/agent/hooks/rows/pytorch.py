"""What is replaced in PyTorch and in Python itself, for a dry run on a phantom GPU."""

ROWS = (
    ("position.steps", "notes where each optimizer is made, and its parameters", ("torch.optim.optimizer:Optimizer.__init__",)),
    ("position.steps", "notes the line that clears the gradients", ("torch.optim.optimizer:Optimizer.zero_grad", "torch.nn.modules.module:Module.zero_grad")),
    ("position.backward", "is the phase of the backward pass", ("torch.autograd.graph:_engine_run_backward = torch.autograd:_engine_run_backward",)),
    ("position.modules", "notes a model that is moved before its first call", ("torch.nn.modules.module:Module.to", "torch.nn.modules.module:Module.cuda")),
)
