"""What is replaced in PyTorch and in Python itself, in every dry run; in a real run only what `live` names."""

_C10D = "torch.distributed.distributed_c10d"
# What gathers Python objects and integers of ranks.
_OBJECTS = ("broadcast_object_list", "all_gather_object", "gather_object", "scatter_object_list", "send_object_list", "recv_object_list")
_INTEGERS = ("broadcast", "all_gather", "all_gather_into_tensor")


def _collective(name: str) -> str:
    return f"{_C10D}:{name} = torch.distributed:{name}"


# The optimizers of PyTorch, by module, whose `step` imports the compiler.
_OPTIMIZERS = (
    "adadelta:Adadelta", "_adafactor:Adafactor", "adagrad:Adagrad", "adam:Adam", "adamax:Adamax", "asgd:ASGD", "_muon:Muon",
    "nadam:NAdam", "radam:RAdam", "rmsprop:RMSprop", "rprop:Rprop", "sgd:SGD",
)  # fmt: skip
COMPILER = (
    *(f"torch.optim.optimizer:Optimizer.{name}" for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict")),
    *(f"torch.optim.{name}.step" for name in _OPTIMIZERS),
    "torch.utils.checkpoint:checkpoint", "torch.utils.checkpoint:_run_fn_with_dynamo_disabled",
)
_SPLIT = f"{_collective('split_group')} = torch.distributed.device_mesh:split_group"
_LOADERS = "torch.utils.data.dataloader"

ROWS = (
    ("hooks.compiler", "spares the import of the compiler while nothing is compiled", COMPILER),
    ("position.steps", "notes where an optimizer is made, and its parameters", ("torch.optim.optimizer:Optimizer.__init__",)),
    ("position.steps", "notes the line that clears gradients", ("torch.optim.optimizer:Optimizer.zero_grad", "torch.nn.modules.module:Module.zero_grad")),
    ("position.backward", "marks the phase of the backward pass", ("torch.autograd.graph:_engine_run_backward = torch.autograd:_engine_run_backward",)),
    ("position.modules", "notes a model that is moved before its first call", ("torch.nn.modules.module:Module.to", "torch.nn.modules.module:Module.cuda")),
    ("memory.stats", "keeps the peaks and counts that a reset clears", (
        "torch._C:_cuda_resetPeakMemoryStats", "torch._C:_cuda_resetAccumulatedMemoryStats",
        "torch._C:_accelerator_resetPeakStats", "torch._C:_accelerator_resetAccumulatedStats",
    )),
    ("memory.history", "keeps the program from ending the recorded history", (
        "torch._C:_cuda_record_memory_history", "torch._C:_cuda_record_memory_history_legacy",
    )),
    ("memory.history", "keeps a snapshot from importing the compiler", ("torch:_inductor",)),
    ("memory.leftovers", "notes what variables keep after the cache is emptied", ("torch.cuda.memory:empty_cache = torch.cuda:empty_cache",)),
    ("memory.limits", "notes the limit that a program sets for itself", (
        "torch.cuda.memory:set_per_process_memory_fraction = torch.cuda:set_per_process_memory_fraction",
    )),
    ("process.finish", "writes the last records of a program that leaves at once", ("os:_exit",)),
    ("process.server", "ends the imports of a fork server before CUDA starts", ("torch.cuda:_lazy_init",)),
    ("libraries", "opens the phantom's library in place of CUDA's runtime", ("ctypes:_dlopen",)),
    ("life.loading", "compiles the program's own modules with loops that can be shortened", ("importlib.machinery:SourceFileLoader.get_code",)),
    ("life.stages", "notes that the program saves", (
        "torch.serialization:save = torch:save", "safetensors.torch:save_file", "transformers.modeling_utils:PreTrainedModel.save_pretrained",
        "torch.distributed.checkpoint.state_dict_saver:save = torch.distributed.checkpoint:save",
    )),
    ("life.stages", "notes that the program generates a text", ("transformers.generation.utils:GenerationMixin.generate",)),
    ("host.initializers", "leaves large weights undrawn", ("torch.nn.init:orthogonal_", "torch.nn.init:_no_grad_trunc_normal_")),
    ("host.latent", "draws an undrawn tensor that the program reads", ("torch:Tensor.tolist", "torch:Tensor.numpy")),
    ("host.checkpoints.unread", "leaves large weights of a checkpoint unread", ("torch:UntypedStorage.from_file", "torch.serialization:load = torch:load")),
    ("host.checkpoints.moves", "moves a folder where the guard refuses to rename it", (
        "os:rename = pathlib:_NormalAccessor.rename", "os:replace = pathlib:_NormalAccessor.replace",
    )),
    ("host.checkpoints.safetensors_files", "writes a file in sight of the guard", ("safetensors:serialize_file",)),
    ("ranks.groups", "tells the phantom the ranks of a group", (f"{_C10D}:_process_group_color", _SPLIT)),
    ("ranks.groups", "waits for the watchdog of NCCL", ("torch.nn.parallel.distributed:DistributedDataParallel.__init__",)),
    ("ranks.objects", "passes objects between ranks through the group's store", tuple(map(_collective, _OBJECTS))),
    ("ranks.integers", "passes small integers between ranks through the group's store", tuple(map(_collective, _INTEGERS))),
    ("ranks.absent_ranks_cpu", "stands in for gloo, of a rank that is alone", (
        f"{_C10D}:ProcessGroupGloo", "torch._C._distributed_c10d:FakeProcessGroup._set_sequence_number_for_group",
        _collective("monitored_barrier"), _SPLIT,
    )),
    ("values.generation", "lets a text grow to its maximum length", (
        "transformers.generation.stopping_criteria:StoppingCriteriaList.__call__",
        "transformers.generation.utils:GenerationMixin._has_unfinished_sequences",
        "transformers.generation.utils:GenerationMixin._beam_search_has_unfinished_sequences",
    )),
    ("values.known.sharing", "forgets the values of memory that others may write", (
        "torch._C:_to_dlpack", "torch._C:_to_dlpack_versioned", "torch._C:_from_dlpack", "torch:Tensor.__cuda_array_interface__",
        "torch:UntypedStorage._share_cuda_", "torch:UntypedStorage._new_shared_cuda",
    )),
    ("life.loaders", "counts batches, and goes to others", (f"{_LOADERS}:_BaseDataLoaderIter.__init__",)),
    ("live.loader", "times the waits for data, in a real run", (
        f"{_LOADERS}:_SingleProcessDataLoaderIter._next_data", f"{_LOADERS}:_MultiProcessingDataLoaderIter._next_data",
    )),
)  # fmt: skip
