//! A CUDA device that has memory and no compute, preloaded in front of NVIDIA's libraries.
//!
//! Memory calls keep an exact ledger per device and answer as a GPU of the chosen profile would; kernel launches, BLAS
//! and DNN calls return success at once. Internal choices of those libraries (workspaces, contexts) are modelled, and
//! the journal names each used model as an assumption.
//!
//! # Design constraints
//! - Nothing of PyTorch's allocator is known here: PyTorch brings the real allocator.
//! - Every out-parameter is written, or the call fails loudly and by name. See Note [Out-parameters] in `boundary`.
//! - `unsafe` lives in `boundary`, `caller`, `enter`, `fatbin`, `files`, `holes`, `host`, `notes`, `others`, `resolve`, `table/mapping`, `undo` and `values`; the files under `api`
//!   take typed parameters and need none.
//! - Inert until CUDA is used: preloaded into a compiler or a shell, the library costs nothing and changes nothing,
//!   except the addresses of large aligned requests (Note [Host memory] in `host`), notes on connections (Note `[Connections]` in
//!   `files/network.rs`) and, if a launcher asks, notes on the files read (Note [Files looked at] in `files`), a
//!   journal of changes (Note [Undo journal] in `undo`), a guard of other processes (Note [Other processes] in `others`) and holes for written zeros (Note `[Holes]` in `holes`).

mod api;
mod boundary;
mod caller;
mod cubin;
mod cuda;
mod device;
mod enter;
mod fatbin;
mod files;
mod generated;
mod handle;
mod holes;
mod host;
mod journal;
mod ledger;
mod notes;
mod others;
mod ranges;
mod resolve;
mod space;
mod status;
mod stderr;
mod system_call;
mod table;
mod undo;
mod values;
mod version;

/// Items for the integration tests; no other crate links this library.
#[doc(hidden)]
pub mod testing {
    pub use crate::api::driver::DriverStatus;
    pub use crate::api::driver::virtual_memory as driver;
    pub use crate::api::runtime::{CudaStatus, memory as runtime, pool};
    pub use crate::boundary::{In, Out, Status};
    pub use crate::ledger::PAGE_BYTES;
}
