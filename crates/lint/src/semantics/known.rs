//! Facts about functions and methods of PyTorch and libraries around it: results that are tensors, and graphs that end.
//!
//! Sources: the signatures and documentation of torch 2.11, torchvision 0.26, transformers 5.17 and accelerate 1.15.

use super::Call;
use super::names::last;

/// The result of a method of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// A Python value.
    Plain,
    /// A tensor without a graph.
    Detached,
    /// A tensor of the same graph.
    Same,
    /// A leaf that requires a gradient.
    Leaf,
}

/// The result of a method of a tensor.
pub(crate) fn tensor_method(name: &str) -> Gives {
    match name {
        "item" | "tolist" | "numpy" | "size" | "dim" | "numel" | "nelement" | "data_ptr" | "element_size"
        | "backward" | "is_contiguous" | "get_device" | "stride" | "storage" | "type" | "register_hook"
        | "retain_grad" | "__len__" | "equal" | "allclose" | "is_floating_point" | "ndimension" => Gives::Plain,
        "detach" | "detach_" | "argmax" | "argmin" | "argsort" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "long"
        | "int" | "bool" | "short" | "byte" | "char" | "nonzero" | "isnan" | "isinf" | "isfinite" | "sign"
        | "round" | "floor" | "ceil" | "bincount" | "zeros_like" | "new_zeros" | "new_ones" | "new_tensor"
        | "new_full" | "new_empty" | "any" | "all" | "unique" | "count_nonzero" | "multinomial" => Gives::Detached,
        "requires_grad_" => Gives::Leaf,
        _ => Gives::Same,
    }
}

/// The result of an attribute of a tensor.
pub(crate) fn tensor_attribute(name: &str) -> Option<Gives> {
    match name {
        "data" | "grad" => Some(Gives::Detached),
        "shape" | "dtype" | "device" | "ndim" | "requires_grad" | "is_cuda" | "is_leaf" | "layout" | "grad_fn" => {
            Some(Gives::Plain)
        }
        // From `loss` on: outputs of models of transformers, diffusers and timm.
        "T" | "mT" | "H" | "mH" | "real" | "imag" | "loss" | "logits" | "last_hidden_state" | "hidden_states"
        | "pooler_output" | "sample" | "attentions" | "prediction_logits" | "losses" | "values" => Some(Gives::Same),
        _ => None,
    }
}

/// Checks whether a function of torch creates a tensor without a tensor argument.
pub(crate) fn makes_tensor(path: &str) -> bool {
    let Some(name) = path.strip_prefix("torch.") else { return false };
    matches!(
        name,
        "zeros"
            | "ones"
            | "empty"
            | "full"
            | "rand"
            | "randn"
            | "randint"
            | "randperm"
            | "arange"
            | "linspace"
            | "logspace"
            | "eye"
            | "tensor"
            | "as_tensor"
            | "from_numpy"
            | "zeros_like"
            | "ones_like"
            | "empty_like"
            | "full_like"
            | "rand_like"
            | "randn_like"
            | "randint_like"
            | "tril_indices"
            | "triu_indices"
            | "Tensor"
            | "FloatTensor"
            | "LongTensor"
            | "IntTensor"
            | "cuda.FloatTensor"
            | "cuda.LongTensor"
            | "normal"
            | "bernoulli"
    )
}

/// Checks whether the result of a function of torch never has a graph.
pub(crate) fn ends_graph(path: &str) -> bool {
    matches!(
        path,
        "torch.argmax"
            | "torch.argmin"
            | "torch.argsort"
            | "torch.eq"
            | "torch.ne"
            | "torch.lt"
            | "torch.gt"
            | "torch.le"
            | "torch.ge"
            | "torch.nonzero"
            | "torch.isnan"
            | "torch.isinf"
            | "torch.isfinite"
            | "torch.round"
            | "torch.sign"
            | "torch.multinomial"
            | "torch.bincount"
            | "torch.unique"
            | "torch.any"
            | "torch.all"
            | "torch.equal"
            | "torch.allclose"
            | "torch.is_tensor"
            | "torch.numel"
            | "torch.nn.functional.one_hot"
            | "torch.autograd.grad"
            | "torch.load"
            | "torch.searchsorted"
            | "torch.bucketize"
            | "torch.count_nonzero"
            | "torch.histc"
    )
}

/// Checks whether a function of torch computes: its result has the graph of the arguments.
pub(crate) fn computes(path: &str) -> bool {
    if let Some(name) = path.strip_prefix("torch.nn.functional.").or_else(|| path.strip_prefix("torch.special.")) {
        return !name.contains('.');
    }
    if let Some(name) = path.strip_prefix("torch.linalg.").or_else(|| path.strip_prefix("torch.fft.")) {
        return !name.contains('.');
    }
    let Some(name) = path.strip_prefix("torch.") else { return false };
    let is_function = !name.contains('.') && name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_other = name.starts_with("is_")
        || name.starts_with("set_")
        || name.starts_with("get_")
        || matches!(
            name,
            "save" | "load" | "device" | "compile" | "manual_seed" | "no_grad" | "inference_mode" | "enable_grad"
        )
        || matches!(
            name,
            "jit" | "vmap" | "seed" | "initial_seed" | "use_deterministic_algorithms" | "typename" | "dtype"
        );
    is_function && !is_other
}

/// Checks for a class of `torch.nn` without parameters that computes on its input: a loss or an activation.
pub(crate) fn is_parameterless(path: &str) -> bool {
    let Some(name) = path.strip_prefix("torch.nn.").map(last) else { return false };
    name.ends_with("Loss")
        || name.contains("Pool")
        || name.starts_with("Dropout")
        || name.starts_with("Upsample")
        || name.ends_with("Pad1d")
        || name.ends_with("Pad2d")
        || name.ends_with("Pad3d")
        || matches!(
            name,
            "ReLU"
                | "ReLU6"
                | "LeakyReLU"
                | "GELU"
                | "SiLU"
                | "Mish"
                | "ELU"
                | "SELU"
                | "CELU"
                | "Sigmoid"
                | "LogSigmoid"
                | "Tanh"
                | "Softmax"
                | "LogSoftmax"
                | "Softplus"
                | "Hardtanh"
                | "Hardswish"
                | "Identity"
                | "Flatten"
                | "Unflatten"
                | "PixelShuffle"
                | "CosineSimilarity"
                | "PairwiseDistance"
        )
}

/// Checks for a class of `torch.nn`, or a function that creates a module.
pub(crate) fn makes_module(path: &str) -> bool {
    let name = last(path);
    let is_class = name.starts_with(|first: char| first.is_ascii_uppercase());
    if let Some(rest) = path.strip_prefix("torch.nn.") {
        return is_class
            && !matches!(name, "Parameter" | "Buffer" | "ParameterList" | "ParameterDict")
            && !rest.starts_with("utils");
    }
    let is_model_zoo = path.starts_with("torchvision.models.") || path.starts_with("segmentation_models_pytorch.");
    (is_model_zoo && !name.ends_with("_Weights") && !path.contains("_Weights."))
        || path == "timm.create_model"
        || path == "timm.models.create_model"
        || path == "torch.hub.load"
        || path == "torch.jit.script"
        || path == "torch.jit.trace"
        || is_pretrained_model(path)
        || (path.starts_with("transformers.") && is_class && is_model_class(name))
        || matches!(path, "peft.get_peft_model" | "peft.prepare_model_for_kbit_training")
}

/// `transformers.AutoModelForCausalLM.from_pretrained`, `diffusers.UNet2DConditionModel.from_config`.
fn is_pretrained_model(path: &str) -> bool {
    let mut parts = path.rsplit('.');
    matches!(parts.next(), Some("from_pretrained" | "from_config")) && parts.next().is_some_and(is_model_class)
}

/// Checks whether a class of transformers or diffusers is a model.
pub(crate) fn is_model_class(name: &str) -> bool {
    let is_other =
        ["Tokenizer", "Config", "Processor", "Extractor", "Pipeline", "Scheduler", "Trainer", "Arguments", "Collator"];
    !is_other.iter().any(|other| name.contains(other))
        && (name.ends_with("Model")
            || name.contains("ModelFor")
            || name.contains("For")
            || name.contains("Autoencoder")
            || name.ends_with("LMHeadModel"))
}

/// Checks for a function of a library around PyTorch whose result has the graph of its arguments.
pub(crate) fn keeps_graph(path: &str) -> bool {
    let families = [
        "einops.",
        "torch.distributions.",
        "torchvision.ops.",
        "torchvision.transforms.functional.",
        "kornia.",
        "torch_scatter.",
        "torchmetrics.functional.",
        "torch.func.",
        "piq.",
        "torchaudio.functional.",
    ];
    families.iter().any(|it| path.starts_with(it)) || path == "torchvision.utils.make_grid"
}

/// Checks for a wrapper that runs the module given as its first argument.
pub(crate) fn keeps_module(path: &str) -> bool {
    matches!(
        last(path),
        "DistributedDataParallel" | "DDP" | "DataParallel" | "FullyShardedDataParallel" | "FSDP" | "get_peft_model"
    ) || matches!(path, "torch.compile" | "copy.deepcopy" | "torch.nn.SyncBatchNorm.convert_sync_batchnorm")
}

/// Checks for the class of an optimizer.
pub(crate) fn makes_optimizer(path: &str) -> bool {
    let name = last(path);
    let is_class = name.starts_with(|first: char| first.is_ascii_uppercase());
    (path.starts_with("torch.optim.") && is_class && !path.contains("lr_scheduler") && !path.contains("swa_utils"))
        || (path.starts_with("bitsandbytes.optim.") && is_class)
        || matches!(path, "transformers.AdamW" | "transformers.Adafactor" | "transformers.optimization.Adafactor")
        || matches!(path, "timm.optim.create_optimizer" | "timm.optim.create_optimizer_v2")
}

/// Checks for the class of a gradient scaler.
pub(crate) fn makes_scaler(path: &str) -> bool {
    matches!(path, "torch.amp.GradScaler" | "torch.cuda.amp.GradScaler" | "torch.amp.grad_scaler.GradScaler")
        || path == "torch.cuda.amp.grad_scaler.GradScaler"
}

/// Checks for the class of a data loader.
pub(crate) fn makes_loader(path: &str) -> bool {
    let name = last(path);
    (path.starts_with("torch.utils.data.") || path.starts_with("torch_geometric.")) && name.ends_with("DataLoader")
        || matches!(path, "torch_geometric.loader.DataLoader" | "torch_geometric.data.DataLoader")
}

/// Checks for a call that yields the items of an argument: `enumerate`, `tqdm`.
pub(crate) fn wraps_iterable(call: &Call<'_>) -> bool {
    let Some(path) = call.path.as_deref() else {
        return call.is_method("log_every") || call.is_method("track");
    };
    let name = last(path);
    matches!(path, "enumerate" | "zip" | "iter" | "reversed" | "itertools.islice" | "tqdm" | "track")
        || (path.starts_with("tqdm.") && matches!(name, "tqdm" | "trange" | "tqdm_notebook"))
        || path == "rich.progress.track"
        || name == "log_every"
}
