//! The unserved requests of a process.
//!
//! PyTorch's observer sees the requests of its own allocator. Requests of libraries, and of allocators without an
//! observer, are in the phantom's journal. PyTorch's own refusals in the journal say nothing: PyTorch empties its cache
//! and asks again.

use trace::Process;
use trace::run::OomRecord;
use trace::run::owner::PYTORCH;

/// True if the device could not serve a request of the process.
pub(super) fn has_unserved_request(process: &Process) -> bool {
    process.ooms.iter().any(is_error) || has_final_refusal(process)
}

/// True if PyTorch raised an error to the program. PyTorch retries convolutions with smaller workspaces silently
/// (`run_conv_plan` in `aten/src/ATen/native/cudnn/Conv_v8.cpp`).
pub(super) fn is_error(oom: &OomRecord) -> bool {
    oom.caught_at.is_some() || oom.frames.first().is_none_or(|(function, _, _)| function != "_conv_forward")
}

/// Checks that the phantom refused a request that PyTorch's observer never sees.
pub(super) fn has_final_refusal(process: &Process) -> bool {
    process.ledger.refusals.iter().any(|refused| refused.owner != PYTORCH || process.unrecorded.is_some())
}
