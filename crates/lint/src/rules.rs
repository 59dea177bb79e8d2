//! The registry of rules. Each file in `rules` is one rule, named after the pattern that it finds; the page of a rule is
//! `docs/lint/NAME.md`, its cases are `cases/NAME.md`.
//!
//! Only `lib.rs` reads the registry. `make generate` writes it from the folder.

use crate::rule::Rule;

// make generate: rules
mod accumulated_graph;
mod accumulation_skips_backward;
mod accumulation_without_division;
mod accumulation_without_no_sync;
mod alloc_conf_after_cuda;
mod alloc_conf_ignored;
mod amp_argument_names;
mod anomaly_detection_left_on;
mod attention_matrix;
mod backward_in_autocast;
mod batches_queued_on_the_host;
mod carried_hidden_state;
mod cat_in_loop;
mod checkpoint_without_use_reentrant;
mod checkpoints_kept;
mod create_graph_in_backward;
mod created_on_the_host;
mod cuda_graph_per_shape;
mod cuda_in_dataset;
mod cycle_keeps_batches;
mod data_parallel;
mod dataset_on_gpu;
mod deprecated_cuda_amp;
mod empty_cache_in_loop;
mod eval_logits_on_gpu;
mod every_rank_on_gpu_0;
mod exception_kept;
mod forward_without_no_grad;
mod gc_collect_in_loop;
mod grad_recorded_in_eval;
mod gradients_kept_as_zeros;
mod graph_in_collection;
mod hook_keeps_tensors;
mod hook_registered_in_loop;
mod load_without_map_location;
mod loader_in_list;
mod loader_restarted_in_loop;
mod local_rank_unused;
mod log_of_softmax;
mod loss_kept_with_storage;
mod max_split_size_with_expandable_segments;
mod memory_history_unbounded;
mod memory_map_read_whole;
mod method_not_called;
mod missing_zero_grad;
mod model_copied_in_loop;
mod no_grad_not_entered;
mod non_blocking_without_pinned_memory;
mod offload_after_cuda;
mod one_hot_of_vocabulary;
mod outputs_kept_on_gpu;
mod pairwise_by_broadcasting;
mod process_group_in_loop;
mod profiler_without_schedule;
mod python_objects_in_dataset;
mod repeat_of_tensor;
mod retain_graph_in_loop;
mod retry_in_except;
mod tensors_in_cache;
mod workers_unset;
mod workers_with_gpu_tensors;
mod zero_grad_after_forward;

/// All rules, ordered by name.
pub(crate) static RULES: &[Rule] = &[
    accumulated_graph::RULE,
    accumulation_skips_backward::RULE,
    accumulation_without_division::RULE,
    accumulation_without_no_sync::RULE,
    alloc_conf_after_cuda::RULE,
    alloc_conf_ignored::RULE,
    amp_argument_names::RULE,
    anomaly_detection_left_on::RULE,
    attention_matrix::RULE,
    backward_in_autocast::RULE,
    batches_queued_on_the_host::RULE,
    carried_hidden_state::RULE,
    cat_in_loop::RULE,
    checkpoint_without_use_reentrant::RULE,
    checkpoints_kept::RULE,
    create_graph_in_backward::RULE,
    created_on_the_host::RULE,
    cuda_graph_per_shape::RULE,
    cuda_in_dataset::RULE,
    cycle_keeps_batches::RULE,
    data_parallel::RULE,
    dataset_on_gpu::RULE,
    deprecated_cuda_amp::RULE,
    empty_cache_in_loop::RULE,
    eval_logits_on_gpu::RULE,
    every_rank_on_gpu_0::RULE,
    exception_kept::RULE,
    forward_without_no_grad::RULE,
    gc_collect_in_loop::RULE,
    grad_recorded_in_eval::RULE,
    gradients_kept_as_zeros::RULE,
    graph_in_collection::RULE,
    hook_keeps_tensors::RULE,
    hook_registered_in_loop::RULE,
    load_without_map_location::RULE,
    loader_in_list::RULE,
    loader_restarted_in_loop::RULE,
    local_rank_unused::RULE,
    log_of_softmax::RULE,
    loss_kept_with_storage::RULE,
    max_split_size_with_expandable_segments::RULE,
    memory_history_unbounded::RULE,
    memory_map_read_whole::RULE,
    method_not_called::RULE,
    missing_zero_grad::RULE,
    model_copied_in_loop::RULE,
    no_grad_not_entered::RULE,
    non_blocking_without_pinned_memory::RULE,
    offload_after_cuda::RULE,
    one_hot_of_vocabulary::RULE,
    outputs_kept_on_gpu::RULE,
    pairwise_by_broadcasting::RULE,
    process_group_in_loop::RULE,
    profiler_without_schedule::RULE,
    python_objects_in_dataset::RULE,
    repeat_of_tensor::RULE,
    retain_graph_in_loop::RULE,
    retry_in_except::RULE,
    tensors_in_cache::RULE,
    workers_unset::RULE,
    workers_with_gpu_tensors::RULE,
    zero_grad_after_forward::RULE,
];
// end: rules
