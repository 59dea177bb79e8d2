//! The rules, one file each: a rule finds one cause in the facts, or nothing. All else below `rules` is no rule.

use super::rule::Rule;

// make generate: rules
pub(super) mod allocator_setting_harmful;
pub(super) mod attention_matrix;
pub(super) mod batch_too_large;
pub(super) mod cache_flushed;
pub(super) mod caught_oom;
pub(super) mod dataset_on_gpu;
pub(super) mod earlier_model_alive;
pub(super) mod exception_holds_frames;
pub(super) mod fragmentation;
pub(super) mod grad_recorded_in_eval;
pub(super) mod gradients_alive_in_forward;
pub(super) mod growing_collection;
pub(super) mod host_memory;
pub(super) mod mig;
pub(super) mod need_exceeds_device;
pub(super) mod non_pytorch_memory;
pub(super) mod one_hot_of_vocabulary;
pub(super) mod one_huge_request;
pub(super) mod optimizer_state;
pub(super) mod other_process_memory;
pub(super) mod pairwise_by_broadcasting;
pub(super) mod rank_imbalance;
pub(super) mod reference_cycle;
pub(super) mod retained_graph;
pub(super) mod saved_intermediates;
pub(super) mod shm;
pub(super) mod small_gpu_fraction;
pub(super) mod unclear;
pub(super) mod value_dependent_shape;
pub(super) mod vocabulary_logits;
pub(super) mod weights_loaded_twice;
pub(super) mod wrong_device;
pub(super) mod wsl;

/// The rules in the order of the table.
pub(super) static RULES: &[Rule] = &[
    wrong_device::RULE,
    other_process_memory::RULE,
    small_gpu_fraction::RULE,
    mig::RULE,
    wsl::RULE,
    non_pytorch_memory::RULE,
    host_memory::RULE,
    shm::RULE,
    allocator_setting_harmful::RULE,
    rank_imbalance::RULE,
    attention_matrix::RULE,
    pairwise_by_broadcasting::RULE,
    one_hot_of_vocabulary::RULE,
    vocabulary_logits::RULE,
    one_huge_request::RULE,
    exception_holds_frames::RULE,
    reference_cycle::RULE,
    retained_graph::RULE,
    growing_collection::RULE,
    saved_intermediates::RULE,
    earlier_model_alive::RULE,
    weights_loaded_twice::RULE,
    dataset_on_gpu::RULE,
    grad_recorded_in_eval::RULE,
    gradients_alive_in_forward::RULE,
    fragmentation::RULE,
    optimizer_state::RULE,
    batch_too_large::RULE,
    need_exceeds_device::RULE,
    caught_oom::RULE,
    cache_flushed::RULE,
    value_dependent_shape::RULE,
    unclear::RULE,
];
// end: rules
