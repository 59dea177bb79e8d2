//! The output of `nvidia-smi`: its table, `-q`, and `--query-… --format=csv`.

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
    /// The line of the text on which the output starts, counted from 1.
    pub line: u32,
    /// The driver's version, e.g. `535.104.05`.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver supports, e.g. `12.2`.
    pub cuda: Option<String>,
    /// The listed GPUs.
    pub gpus: Vec<SmiGpu>,
    /// The listed processes; `None` for a text without a list, empty for an empty list.
    pub processes: Option<Vec<SmiProcess>>,
}

/// A GPU, in NVML's numbering. PyTorch's numbering may differ, by `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmiGpu {
    /// The number.
    pub index: Option<u32>,
    /// The name, cut off (`...`) if the table is too narrow.
    pub name: Option<String>,
    /// The PCI bus id, as printed.
    pub bus_id: Option<String>,
    /// The total memory. `nvidia-smi` prints whole MiB with unknown rounding: ±1 MiB.
    pub total_bytes: Option<StatedBytes>,
    /// Used by all processes.
    pub used_bytes: Option<StatedBytes>,
    /// Free.
    pub free_bytes: Option<StatedBytes>,
    /// Reserved for driver and firmware.
    pub reserved_bytes: Option<StatedBytes>,
    /// The MIG devices.
    pub mig_devices: Vec<MigDevice>,
}

/// A part of a GPU (Multi-Instance GPU).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MigDevice {
    /// GPU instance.
    pub gpu_instance: u32,
    /// Compute instance.
    pub compute_instance: u32,
    /// The number on its GPU.
    pub index: u32,
    /// The total memory.
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
    /// GPU instance, on a GPU with MIG.
    pub gpu_instance: Option<u32>,
    /// Compute instance.
    pub compute_instance: Option<u32>,
    /// The process id; `None` if the driver does not report it.
    pub pid: Option<u32>,
    /// `C` compute, `G` graphics, `C+G` both, `M+C` under MPS.
    pub kind: Option<String>,
    /// The name, as printed.
    pub name: String,
    /// The GPU memory of the process; `None` if the driver does not report it (Windows, WSL, containers).
    pub used_bytes: Option<StatedBytes>,
}

/// `1024MiB`, `1024 MiB` or `1024`; `None` for `N/A`, `[Not Supported]` and other texts.
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

/// The text, unless it is `N/A`.
fn available(text: &str) -> Option<String> {
    let text = text.trim();
    let is_nothing =
        text.is_empty() || text.starts_with("N/A") || text.starts_with("[N/A") || text.starts_with("[Not ");
    (!is_nothing).then(|| text.to_owned())
}
