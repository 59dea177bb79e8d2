//! The table: every cause that `check`, `explain` and `tune` name.

use crate::id::CauseId;
use crate::spec::{CauseSpec, Role};

// make generate: causes
/// Every cause. The order breaks ties between findings.
pub static TABLE: &[CauseSpec] = &[
    CauseSpec {
        id: CauseId::WrongDevice,
        name: "wrong-device",
        summary: "several processes of one job use one device, for example every rank on GPU 0",
        role: Role::Job,
    },
    CauseSpec {
        id: CauseId::OtherProcessMemory,
        name: "other-process-memory",
        summary: "another process holds memory of the device",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::SmallGpuFraction,
        name: "small-gpu-fraction",
        summary: "a memory fraction set for this process makes the device smaller than its memory",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::Mig,
        name: "mig",
        summary: "the device is a MIG slice of a larger GPU",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::Wsl,
        name: "wsl",
        summary: "the program ran under WSL, where Windows uses a part of the device's memory",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::NonPytorchMemory,
        name: "non-pytorch-memory",
        summary: "this process holds device memory outside PyTorch's allocator",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::HostMemory,
        name: "host-memory",
        summary: "the host's memory ran out, not the device's",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::Shm,
        name: "shm",
        summary: "the host's shared memory ran out; DataLoader workers pass batches through it",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::AllocatorSettingHarmful,
        name: "allocator-setting-harmful",
        summary: "an allocator setting, or emptying the cache in every step, costs more than it saves",
        role: Role::Surroundings,
    },
    CauseSpec {
        id: CauseId::RankImbalance,
        name: "rank-imbalance",
        summary: "one rank of a job holds much more than the others",
        role: Role::Job,
    },
    CauseSpec {
        id: CauseId::AttentionMatrix,
        name: "attention-matrix",
        summary: "attention materialises its matrix, length times length for every head",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::PairwiseByBroadcasting,
        name: "pairwise-by-broadcasting",
        summary: "broadcasting makes a tensor with an element for each pair",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::OneHotOfVocabulary,
        name: "one-hot-of-vocabulary",
        summary: "an index is spread out into a one-hot matrix",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::VocabularyLogits,
        name: "vocabulary-logits",
        summary: "scores over a large vocabulary, and their copies in the loss",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::OneHugeRequest,
        name: "one-huge-request",
        summary: "one request is larger than the memory that could ever be free",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::ExceptionHoldsFrames,
        name: "exception-holds-frames",
        summary: "a failed step was retried while the exception still held the tensors of the first try, or the program keeps exceptions",
        role: Role::Peak,
    },
    CauseSpec {
        id: CauseId::ReferenceCycle,
        name: "reference-cycle",
        summary: "tensors in reference cycles, which only Python's garbage collector frees",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::RetainedGraph,
        name: "retained-graph",
        summary: "a result is kept with its autograd graph, and with every tensor that its forward saved",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::GrowingCollection,
        name: "growing-collection",
        summary: "tensors are kept in a list, a dict, a cache or an exporter, step after step",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::SavedIntermediates,
        name: "saved-intermediates",
        summary: "results from inside the model are kept for debugging, metrics or the next step",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::EarlierModelAlive,
        name: "earlier-model-alive",
        summary: "a model that the program no longer calls is still on the device, with its gradients and its optimizer's state",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::WeightsLoadedTwice,
        name: "weights-loaded-twice",
        summary: "weights are on the device twice, because a checkpoint was loaded there and then copied into a model, or in a larger type first, because they are cast there",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::DatasetOnGpu,
        name: "dataset-on-gpu",
        summary: "data of many iterations is on the device at once",
        role: Role::Growth,
    },
    CauseSpec {
        id: CauseId::GradRecordedInEval,
        name: "grad-recorded-in-eval",
        summary: "a forward without a backward saves its activations for a backward",
        role: Role::Peak,
    },
    CauseSpec {
        id: CauseId::GradientsAliveInForward,
        name: "gradients-alive-in-forward",
        summary: "gradients of the previous step are still alive while the forward saves activations",
        role: Role::Peak,
    },
    CauseSpec {
        id: CauseId::Fragmentation,
        name: "fragmentation",
        summary: "the allocator held enough free memory for the request, but no free block was large enough",
        role: Role::Request,
    },
    CauseSpec {
        id: CauseId::OptimizerState,
        name: "optimizer-state",
        summary: "the peak or the failed request is the optimizer's state, or the temporaries of its step",
        role: Role::Peak,
    },
    CauseSpec {
        id: CauseId::BatchTooLarge,
        name: "batch-too-large",
        summary: "activations, temporaries and inputs fill the device, and they grow with the batch",
        role: Role::Peak,
    },
    CauseSpec {
        id: CauseId::NeedExceedsDevice,
        name: "need-exceeds-device",
        summary: "the program needs more memory than the device has, whatever the allocator does",
        role: Role::Need,
    },
    CauseSpec {
        id: CauseId::CaughtOom,
        name: "caught-oom",
        summary: "an out-of-memory error was caught, and the program continued",
        role: Role::Caught,
    },
    CauseSpec {
        id: CauseId::CacheFlushed,
        name: "cache-flushed",
        summary: "the program continued only because PyTorch emptied its cache",
        role: Role::Retries,
    },
    CauseSpec {
        id: CauseId::ValueDependentShape,
        name: "value-dependent-shape",
        summary: "the size of a result depends on values, which a dry run does not compute",
        role: Role::Shapes,
    },
    CauseSpec {
        id: CauseId::Unclear,
        name: "unclear",
        summary: "the evidence does not decide between causes",
        role: Role::Unclear,
    },
];
// end: causes
