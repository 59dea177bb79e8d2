//! The phantom's records: the lines of `phantom-<pid>.jsonl`.

use serde::{Deserialize, Serialize};

/// A line of `phantom-<pid>.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PhantomRecord {
    /// The phantom; the first line.
    Phantom {
        /// The process id.
        pid: u32,
        /// The number of visible devices.
        devices: u32,
        /// The total memory of a device, as in `cudaMemGetInfo`.
        total_bytes: u64,
    },
    /// Device memory was allocated (`delta` > 0) or freed.
    Memory {
        /// The device.
        device: u32,
        /// The owner: `context`, `pytorch`, or the name of another library.
        owner: String,
        /// The change of the owner's share in bytes.
        delta: i64,
        /// The bytes in use on the device afterwards, of all owners.
        used_bytes: u64,
    },
    /// A request failed: the device is out of memory.
    Refused {
        /// The device.
        device: u32,
        /// The owner.
        owner: String,
        /// The requested size.
        bytes: u64,
    },
    /// PyTorch gave memory to a library as its workspace.
    Workspace {
        /// `cublas`, `cublaslt`, `cudnn`, …
        library: String,
        /// The address.
        address: u64,
        /// The size.
        bytes: u64,
    },
    /// A figure that the phantom models and that a real library chooses itself.
    Assumption {
        /// A stable name, e.g. `cudnn-convolution-workspace`.
        id: String,
        /// The assumption in one sentence.
        text: String,
        /// The largest amount of device memory that depends on it.
        bytes: u64,
    },
    /// The program called a function that the phantom lacks.
    Missing {
        /// The name of the function.
        symbol: String,
    },
}
