//! The run that the page of `check` draws. No other format shows a picture, so the report of `check` has none.

use trace::DeviceIndex;

use crate::explain::{DeviceMemory, HistoryPeak, Picture};

/// The run behind the figures of a `check` report: without a limit if the program does not fit, else on the named GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunPicture {
    /// True if the run had no limit: then its peak is the need.
    pub is_unlimited: bool,
    /// The holders of the device's memory at the peak; `None` if no device was used.
    pub memory: Option<DeviceMemory>,
    /// Every device of every process with a history, the device of the report first.
    pub devices: Vec<DevicePicture>,
}

/// A device of a run, as one process used the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DevicePicture {
    /// The process's rank.
    pub rank: u32,
    /// The device, in PyTorch's numbering within the process.
    pub device: DeviceIndex,
    /// The number of events in the history.
    pub events: u64,
    /// The largest use of memory.
    pub peak: HistoryPeak,
    /// The event of the last failed request.
    pub oom_event: Option<u32>,
    /// Use of memory over time.
    pub picture: Picture,
}
