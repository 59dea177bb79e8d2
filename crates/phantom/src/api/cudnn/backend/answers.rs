//! Attributes that cuDNN finds out itself.

use std::sync::Arc;

use super::attributes as name;
use super::descriptor::{Attribute, Descriptor};
use super::graph::{
    FP32_ENGINE, FRUGAL_ENGINE, MODELLED_ENGINE, config_workspace, has_fp32_engine, is_convolution, plan_workspace,
};

/// Engines that exist for a graph.
const ENGINES: i64 = 3;

/// `CUDNN_NUMERICAL_NOTE_TENSOR_CORE`.
const TENSOR_CORE: i32 = 0;

/// Shared memory of an engine: the amount that every device grants a block without an opt-in.
const SHARED_MEMORY_BYTES: i32 = 48 << 10;

/// The value of an unset attribute; `None` if cuDNN has none, or if the value is unknown here.
pub(crate) fn answer(descriptor: &Arc<Descriptor>, attribute: i32) -> Option<Attribute> {
    Some(match (descriptor.kind, attribute) {
        (name::ENGINEHEUR, name::ENGINEHEUR_RESULTS) => Attribute::Descriptors(configs(descriptor)?),
        (name::ENGINECFG, name::ENGINECFG_INTERMEDIATE_INFO | name::ENGINECFG_KNOB_CHOICES)
        | (name::ENGINE, name::ENGINE_KNOB_INFO | name::ENGINE_LAYOUT_INFO) => Attribute::Descriptors(Vec::new()),
        (name::ENGINECFG, name::ENGINECFG_WORKSPACE_SIZE) => bytes(config_workspace(descriptor)?.bytes),
        (name::ENGINECFG, name::ENGINECFG_SHARED_MEMORY_USED) => Attribute::int32(SHARED_MEMORY_BYTES),
        (name::EXECUTION_PLAN, name::EXECUTION_PLAN_WORKSPACE_SIZE) => bytes(plan_workspace(descriptor)?.bytes),
        (
            name::EXECUTION_PLAN,
            name::EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS | name::EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS,
        ) => Attribute::none(name::INT64),
        (name::ENGINE, name::ENGINE_NUMERICAL_NOTE) => numerical_notes(descriptor)?,
        (name::ENGINE, name::ENGINE_BEHAVIOR_NOTE) => Attribute::none(name::BEHAVIOR_NOTE),
        (name::OPERATIONGRAPH, name::OPERATIONGRAPH_ENGINE_GLOBAL_COUNT) => Attribute::int64(&[ENGINES]),
        _ => return None,
    })
}

fn bytes(bytes: u64) -> Attribute {
    Attribute::int64(&[i64::try_from(bytes).unwrap_or(i64::MAX)])
}

/// Without `allow_tf32`, PyTorch leaves out engines with the note of tensor cores (`filterEngineConfigs` in
/// `aten/src/ATen/native/cudnn/Conv_v8.cpp`, 2.11).
fn numerical_notes(engine: &Descriptor) -> Option<Attribute> {
    let graph = engine.child(name::ENGINE_OPERATION_GRAPH)?;
    let is_tf32 = engine.number(name::ENGINE_GLOBAL_INDEX) == Some(MODELLED_ENGINE) && has_fp32_engine(graph);
    let notes: &[i32] = if is_tf32 { &[TENSOR_CORE] } else { &[] };
    Some(Attribute::enumeration(name::NUMERICAL_NOTE, notes))
}

/// The heuristic's results: the modelled engine, and for convolutions the frugal one; as a fallback the latter alone.
fn configs(heuristic: &Descriptor) -> Option<Vec<Arc<Descriptor>>> {
    let graph = heuristic.child(name::ENGINEHEUR_OPERATION_GRAPH)?;
    let is_fallback = heuristic.number(name::ENGINEHEUR_MODE) == Some(name::FALLBACK);
    let engines: &[i64] = match (is_convolution(graph), is_fallback) {
        (true, true) => &[FRUGAL_ENGINE],
        (true, false) if has_fp32_engine(graph) => &[MODELLED_ENGINE, FP32_ENGINE, FRUGAL_ENGINE],
        (true, false) => &[MODELLED_ENGINE, FRUGAL_ENGINE],
        (false, _) => &[MODELLED_ENGINE],
    };
    Some(engines.iter().map(|&index| config(graph, index)).collect())
}

fn config(graph: &Arc<Descriptor>, index: i64) -> Arc<Descriptor> {
    let engine = Descriptor::made(
        name::ENGINE,
        [
            (name::ENGINE_OPERATION_GRAPH, Attribute::Descriptors(vec![Arc::clone(graph)])),
            (name::ENGINE_GLOBAL_INDEX, Attribute::int64(&[index])),
        ],
    );
    let engine = Attribute::Descriptors(vec![Arc::new(engine)]);
    Arc::new(Descriptor::made(name::ENGINECFG, [(name::ENGINECFG_ENGINE, engine)]))
}
