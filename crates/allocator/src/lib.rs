//! PyTorch's CUDA caching allocator as a pure state machine: the same operations make the same blocks.
//!
//! # Design constraints
//! - No IO, no clock, no threads inside the machine: the same operations under the same settings lead to the same
//!   state.
//! - No device: the machine sees only the small interface [`Device`].
//! - Versions of PyTorch are data: [`Rules`] for the machine, a table of keys for the parser of settings.

mod block;
mod device;
mod error;
mod free_set;
mod ids;
pub mod limit;
mod machine;
mod pool;
pub mod replay;
mod rules;
pub mod settings;
pub mod size;
mod stats;

pub use device::{Device, Pages, SimulatedDevice, Space};
pub use error::{MallocError, OutOfMemory};
pub use ids::{BlockId, PrivatePoolId};
pub use machine::{Allocator, BlockView, Observer, PoolOptions, Route, SegmentView, Thread};
pub use rules::{Rules, Tie};
pub use settings::{Reserve, Settings, SettingsError};
pub use stats::{Stat, StatArray, Stats};
