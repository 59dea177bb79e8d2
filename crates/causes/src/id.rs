//! The identifiers of the causes.

// make generate: causes
/// The identifier of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseId {
    /// `wrong-device`.
    WrongDevice,
    /// `other-process-memory`.
    OtherProcessMemory,
    /// `small-gpu-fraction`.
    SmallGpuFraction,
    /// `mig`.
    Mig,
    /// `wsl`.
    Wsl,
    /// `non-pytorch-memory`.
    NonPytorchMemory,
    /// `host-memory`.
    HostMemory,
    /// `shm`.
    Shm,
    /// `allocator-setting-harmful`.
    AllocatorSettingHarmful,
    /// `rank-imbalance`.
    RankImbalance,
    /// `attention-matrix`.
    AttentionMatrix,
    /// `pairwise-by-broadcasting`.
    PairwiseByBroadcasting,
    /// `one-hot-of-vocabulary`.
    OneHotOfVocabulary,
    /// `vocabulary-logits`.
    VocabularyLogits,
    /// `one-huge-request`.
    OneHugeRequest,
    /// `exception-holds-frames`.
    ExceptionHoldsFrames,
    /// `reference-cycle`.
    ReferenceCycle,
    /// `retained-graph`.
    RetainedGraph,
    /// `growing-collection`.
    GrowingCollection,
    /// `saved-intermediates`.
    SavedIntermediates,
    /// `earlier-model-alive`.
    EarlierModelAlive,
    /// `weights-loaded-twice`.
    WeightsLoadedTwice,
    /// `dataset-on-gpu`.
    DatasetOnGpu,
    /// `grad-recorded-in-eval`.
    GradRecordedInEval,
    /// `gradients-alive-in-forward`.
    GradientsAliveInForward,
    /// `fragmentation`.
    Fragmentation,
    /// `optimizer-state`.
    OptimizerState,
    /// `batch-too-large`.
    BatchTooLarge,
    /// `need-exceeds-device`.
    NeedExceedsDevice,
    /// `caught-oom`.
    CaughtOom,
    /// `cache-flushed`.
    CacheFlushed,
    /// `value-dependent-shape`.
    ValueDependentShape,
    /// `unclear`.
    Unclear,
}
// end: causes
