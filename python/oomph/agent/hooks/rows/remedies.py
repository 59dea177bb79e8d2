"""What is replaced where a remedy is tried or a real run is recorded, in PyTorch and in the libraries that train with it."""

# The classes of `torch.optim`, each with a constructor of its own.
OPTIMIZERS = (
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam",
)  # fmt: skip
# The schedulers with a `step` of their own, but for `ReduceLROnPlateau`, which programs call once an epoch.
SCHEDULERS = ("LRScheduler", "ChainedScheduler", "CosineAnnealingWarmRestarts", "SequentialLR")

_CALL = ("torch.nn.modules.module:Module.__call__",)
_MOVES = ("torch.nn.modules.module:Module.to", "torch.nn.modules.module:Module.cuda")
_ENGINE = ("torch.autograd.graph:_engine_run_backward",)
_OPTIMIZER = ("torch.optim.optimizer:Optimizer.__init__",)
_LOADER = ("torch.utils.data.dataloader:DataLoader.__init__",)
_ZERO_GRAD = ("torch.optim.optimizer:Optimizer.zero_grad", "torch.nn.modules.module:Module.zero_grad")
_CLIPS = tuple(f"torch.nn.utils.clip_grad:{name} = torch.nn.utils:{name}" for name in ("clip_grad_norm_", "clip_grad_value_"))
_UNSCALE = ("torch.amp.grad_scaler:GradScaler.unscale_",)
_TRAINING_ARGUMENTS = ("transformers.training_args:TrainingArguments.__post_init__",)
_LIGHTNING = tuple(f"{package}.trainer.trainer:Trainer.__init__" for package in ("lightning.pytorch", "pytorch_lightning"))
_OPTIONS = (
    "argparse:ArgumentParser.parse_known_args",
    "click.core:Command.parse_args",
    "typer._click.core:Command.parse_args",
    "absl.flags:FlagValues.__call__",
    "fire.core:_CallAndUpdateTrace",
    "jsonargparse._core:ArgumentParser.parse_args",
    "tyro._cli:cli",
)
_TRANSFORMS = ("transforms", "v2._container")

ROWS = (
    ("remedies.models", "changes a model before its training, and what is around its forward", _CALL),
    ("remedies.models", "changes a model before it is compiled", ("torch:compile", "torch.nn.modules.module:Module.compile")),
    ("remedies.models", "changes a model before it is moved to a GPU, or in place of the move", _MOVES),
    ("remedies.linears", "notes the optimizers, which tell training from inference", _OPTIMIZER),
    ("remedies.optimizers", "changes the arguments of an optimizer", tuple(f"torch.optim:{name}.__init__" for name in OPTIMIZERS)),
    ("remedies.optimizers", "makes another optimizer", ("torch.optim.optimizer:Optimizer.__new__",)),
    ("remedies.bitsandbytes", "selects the optimizer of a Trainer", _TRAINING_ARGUMENTS),
    ("remedies.optimizer_offload", "tells of gradients that are changed after their copy", (*_CLIPS, *_UNSCALE)),
    ("remedies.loaders", "changes the arguments of a loader", _LOADER),
    ("remedies.set_to_none", "drops gradients in place of zeros", _ZERO_GRAD),
    ("remedies.no_grad_in_eval", "is without a graph around a module in evaluation mode", _CALL),
    ("remedies.no_grad_in_eval", "notes the optimizers, which hold what is trained", _OPTIMIZER),
    ("remedies.no_grad_in_eval", "checks that no backward follows an evaluation", _ENGINE),
    ("remedies.inplace_activations", "says why autograd refuses", _ENGINE),
    ("remedies.autocast", "ends autocast where backward begins", _ENGINE),
    ("remedies.autocast", "meets an autocast of the program's own", ("torch.amp.autocast_mode:autocast.__enter__",)),
    ("remedies.autocast", "asks a Trainer for mixed precision", (*_TRAINING_ARGUMENTS, *_LIGHTNING)),
    ("remedies.activation_memory_budget", "sets the part that a compiler keeps", ("torch._functorch.config:activation_memory_budget",)),
    ("remedies.batch_split", "divides batches", (*_LOADER, "torch.utils.data.dataloader:DataLoader.__iter__")),
    ("remedies.batch_split", "has a Trainer divide batches and accumulate", (*_TRAINING_ARGUMENTS, *_LIGHTNING)),
    ("remedies.gradient_accumulation", "divides the loss", ("torch._tensor:Tensor.backward",)),
    ("remedies.gradient_accumulation", "keeps steps for the last part", ("torch.optim.optimizer:Optimizer.profile_hook_step",)),
    ("remedies.gradient_accumulation", "keeps steps for the last part", tuple(f"torch.optim.lr_scheduler:{name}.step" for name in SCHEDULERS)),
    ("remedies.gradient_accumulation", "keeps gradients between the parts", (*_ZERO_GRAD, *_CLIPS, *_UNSCALE)),
    ("remedies.gradient_accumulation", "keeps steps for the last part", tuple(f"torch.amp.grad_scaler:GradScaler.{name}" for name in ("update", "step"))),
    ("remedies.chunked_cross_entropy", "computes a loss in chunks", ("torch.nn.functional:cross_entropy",), "traced"),
    ("remedies.sdpa", "asks for no weights of attention", ("torch.nn.modules.activation:MultiheadAttention.forward",), "traced"),
    ("remedies.sdpa", "tells of attention that is written out", ("torch:softmax", "torch.nn.functional:softmax", "torch._tensor:Tensor.softmax")),
    ("remedies.sdpa", "chooses the attention of a model", ("transformers.modeling_utils:PreTrainedModel._check_and_adjust_attn_implementation",)),
    ("remedies.sizes.loaders", "changes the size of batches", (*_LOADER, "torch.utils.data.sampler:BatchSampler.__init__")),
    ("remedies.parsers", "lists the options of a parser, and changes a size among them", _OPTIONS),
    ("remedies.own_options", "lists the keys of Hydra's configuration", ("hydra._internal.hydra:Hydra.compose_config",)),
    ("remedies.own_options", "lists the variables of the environment that the program reads", ("os:_Environ.__getitem__",)),
    ("remedies.overlay", "reads a file with another content", ("builtins:open = io:open",)),
    ("remedies.overlay", "compiles a module with another content", ("importlib.machinery:SourceFileLoader.get_code",)),
    ("remedies.sizes.tokenizers", "changes the length of sequences", ("transformers.tokenization_utils_base:PreTrainedTokenizerBase.__call__",)),
    ("remedies.sizes.training_arguments", "changes a size of a Trainer", _TRAINING_ARGUMENTS),
    ("remedies.sizes.transforms", "changes the size of images", tuple(f"torchvision.transforms.{module}:Compose.__init__" for module in _TRANSFORMS)),
)
