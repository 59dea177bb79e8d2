//! What `nvidia-smi` prints: its table, `-q`, and `--query-… --format=csv`.

mod csv;
mod query;
mod table;

use super::size;
use super::stated::StatedBytes;
use crate::bytes::Bytes;

pub(super) use self::csv::{read as read_csv, read_bare as read_bare_list};
pub(super) use self::query::read as read_query;
pub(super) use self::table::read as read_table;

/// The output of one call of `nvidia-smi`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvidiaSmi {
    /// The line of the text on which it starts, counted from 1.
    pub line: u32,
    /// The driver's version, e.g. `535.104.05`.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver can serve, e.g. `12.2`.
    pub cuda: Option<String>,
    /// The GPUs it lists.
    pub gpus: Vec<SmiGpu>,
    /// The processes it lists; `None` where the text has no list of them, empty where it says that there are none.
    pub processes: Option<Vec<SmiProcess>>,
}

/// A GPU, by NVML's numbering, which `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER` may make another than PyTorch's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmiGpu {
    /// Its number.
    pub index: Option<u32>,
    /// Its name, cut off (`...`) where the table is too narrow.
    pub name: Option<String>,
    /// Its PCI bus id, as printed.
    pub bus_id: Option<String>,
    /// Its memory. `nvidia-smi` prints whole MiB and does not say how it rounds: ±1 MiB.
    pub total_bytes: Option<StatedBytes>,
    /// Used, by whomever.
    pub used_bytes: Option<StatedBytes>,
    /// Free.
    pub free_bytes: Option<StatedBytes>,
    /// Kept by the driver and the firmware.
    pub reserved_bytes: Option<StatedBytes>,
    /// The parts it is cut into.
    pub mig_devices: Vec<MigDevice>,
}

/// A part of a GPU (Multi-Instance GPU).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MigDevice {
    /// GPU instance.
    pub gpu_instance: u32,
    /// Compute instance.
    pub compute_instance: u32,
    /// Its number on its GPU.
    pub index: u32,
    /// Its memory.
    pub total_bytes: Option<StatedBytes>,
    /// Used.
    pub used_bytes: Option<StatedBytes>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmiProcess {
    /// The GPU's number.
    pub gpu_index: Option<u32>,
    /// The GPU's identity as `--query-compute-apps` prints it: a UUID or a bus id.
    pub gpu_id: Option<String>,
    /// GPU instance, on a GPU that is cut into parts.
    pub gpu_instance: Option<u32>,
    /// Compute instance.
    pub compute_instance: Option<u32>,
    /// Its process id; `None` where the driver does not say.
    pub pid: Option<u32>,
    /// `C` compute, `G` graphics, `C+G` both, `M+C` under MPS.
    pub kind: Option<String>,
    /// Its name, as printed.
    pub name: String,
    /// What it uses of the GPU; `None` where the driver does not say (Windows, WSL, containers).
    pub used_bytes: Option<StatedBytes>,
}

/// `1024MiB`, `1024 MiB` or `1024`; `None` for `N/A`, `[Not Supported]` and all else.
fn mib(text: &str) -> Option<StatedBytes> {
    let text = text.trim();
    let (number, length) = size::whole(text.as_bytes())?;
    let unit = text[length..].trim();
    let is_one = (unit.is_empty() || unit == "MiB") && number < 1 << 30;
    is_one.then(|| StatedBytes {
        nearest: Bytes::from_mib(number),
        lowest: Bytes::from_mib(number.saturating_sub(1)),
        highest: Bytes::from_mib(number + 1),
    })
}

/// Text that says something: not `N/A`.
fn said(text: &str) -> Option<String> {
    let text = text.trim();
    let is_nothing =
        text.is_empty() || text.starts_with("N/A") || text.starts_with("[N/A") || text.starts_with("[Not ");
    (!is_nothing).then(|| text.to_owned())
}
