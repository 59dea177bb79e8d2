//! The unserved requests of a process.
//!
//! PyTorch's observer sees the requests of its own allocator. Requests of libraries, and of allocators without an
//! observer, are in the phantom's journal. PyTorch's own refusals in the journal say nothing: PyTorch empties its cache
//! and asks again.

use trace::{PhantomRecord, Process, Record};

use crate::measure::run_records::unrecorded;

/// The owner of PyTorch's memory in the phantom's journal (`crates/phantom/src/ledger.rs`).
const PYTORCH: &str = "pytorch";

/// Whether the device could not serve a request of the process.
pub(crate) fn has_unserved_request(process: &Process) -> bool {
    process.records.iter().any(is_error) || process.phantom.iter().any(|record| is_final_refusal(record, process))
}

/// True if PyTorch raised an error to the program. PyTorch retries convolutions with smaller workspaces silently
/// (`run_conv_plan` in `aten/src/ATen/native/cudnn/Conv_v8.cpp`).
pub(crate) fn is_error(record: &Record) -> bool {
    let Record::Oom { caught_at, frames, .. } = record else { return false };
    caught_at.is_some() || frames.first().is_none_or(|(function, _, _)| function != "_conv_forward")
}

pub(crate) fn is_final_refusal(record: &PhantomRecord, process: &Process) -> bool {
    let PhantomRecord::Refused { owner, .. } = record else { return false };
    owner != PYTORCH || unrecorded(process).is_some()
}
