//! The remedies as data: one row for each, in `table.rs`.
//!
//! # Note [One row for a remedy]
//! A remedy has parts in several places: a module of the agent (`python/oomph/agent/remedies`), a file of `patch`, a
//! page (`docs/remedies`) and cases (`tests/remedies`). All other knowledge of a remedy is in its row. `tests/files.rs`
//! checks the parts of each row; `make generate` writes the lists made from rows: the
//! agent's `table.py`, the modules of `patch`, and the index of the pages.

pub mod setting;
mod spec;
mod table;

pub use self::spec::{Exactness, RemedySpec, Rewriting, Saves, SearchTurn, SettingValue, StandardOption, Trying};
pub use self::table::{
    ACTIVATION_MEMORY_BUDGET, ALLOCATOR_SETTINGS, BATCH_SIZE, CHECKPOINTING, FULLY_SHARD, GRADIENT_ACCUMULATION,
    NO_GRAD_IN_EVAL, OWN_OPTIONS, TABLE,
};

/// The kinds of places that set a batch size for all loaders of a program; the other kinds cut batches by themselves.
pub const SOURCES_OF_ALL_BATCHES: [&str; 2] = ["option", "constant"];

/// The row of a remedy.
pub fn find(name: &str) -> Option<&'static RemedySpec> {
    TABLE.iter().find(|spec| spec.name == name)
}

/// True if a real run can apply a remedy: by the agent, or in the environment. Only a phantom answers for the absent ranks of `fully-shard`.
pub fn works_in_real_run(name: &str) -> bool {
    let has_agent = find(name).is_some_and(|spec| spec.has_agent);
    (has_agent && ![FULLY_SHARD, OWN_OPTIONS].contains(&name)) || name == ALLOCATOR_SETTINGS
}

/// The remedies that are edited into a source, in the order of a patch, then the remedies with code to copy.
pub fn in_patch_order() -> Vec<&'static RemedySpec> {
    let mut specs: Vec<&RemedySpec> = TABLE.iter().filter(|spec| spec.rewriting != Rewriting::Absent).collect();
    specs.sort_by_key(|spec| spec.patch_order());
    specs
}
