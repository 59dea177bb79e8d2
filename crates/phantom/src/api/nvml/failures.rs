//! Failures of NVML, for tests of monitors.
//!
//! # Note [NVML failures]
//!
//! `OOMPH_NVML` lists failures, separated by commas. An unknown word is reported and ignored.
//!
//! | word | effect |
//! |---|---|
//! | `absent` | `dlopen` finds no NVML |
//! | `old` | the NVML of an old driver: `dlsym` finds no `nvmlDeviceGetMemoryInfo_v2` and no function ending in `_v3` |
//! | `no-driver` | `nvmlInit` returns `NVML_ERROR_DRIVER_NOT_LOADED` |
//! | `no-memory` | the memory of a device is not supported, and a process's is not available, as on GB10 and in WSL |
//! | `lost:N` | device N returns `NVML_ERROR_GPU_IS_LOST`; it is still counted, and has a handle |
//! | `util:N` | a utilization of N percent |
//!
//! `oomph phantom` acts on `absent` and `old` by a library in front of the phantom (`crates/drive/src/unpack.rs`), since a library cannot
//! hide its functions from `dlsym`.

use std::sync::OnceLock;

use wire::variable;

use crate::device::PhysicalDevice;
use crate::stderr::complain;

/// The failures of this process.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Failures {
    pub(super) has_no_driver: bool,
    pub(super) has_no_memory: bool,
    lost: Vec<u32>,
    pub(super) utilization_percent: u32,
}

impl Failures {
    /// True for a device that fell off the bus.
    pub(super) fn is_lost(&self, PhysicalDevice(device): PhysicalDevice) -> bool {
        self.lost.contains(&device)
    }

    fn parse(text: &str) -> (Failures, Vec<&str>) {
        let mut failures = Failures::default();
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let unknown = words.filter(|word| failures.add(word).is_none()).collect();
        (failures, unknown)
    }

    fn add(&mut self, word: &str) -> Option<()> {
        match word.split_once(':') {
            Some(("lost", device)) => self.lost.push(device.parse().ok()?),
            Some(("util", percent)) => {
                self.utilization_percent = percent.parse().ok().filter(|percent| *percent <= 100)?;
            }
            None if word == "no-driver" => self.has_no_driver = true,
            None if word == "no-memory" => self.has_no_memory = true,
            // The binary's.
            None if [variable::NVML_ABSENT, variable::NVML_OLD].contains(&word) => {}
            _ => return None,
        }
        Some(())
    }
}

/// The failures that the environment asks for.
pub(super) fn failures() -> &'static Failures {
    static FAILURES: OnceLock<Failures> = OnceLock::new();
    FAILURES.get_or_init(|| {
        let text = std::env::var(variable::NVML).unwrap_or_default();
        let (failures, unknown) = Failures::parse(&text);
        for word in unknown {
            complain(&format!("{}: cannot read `{word}`, expected a failure such as `lost:1`", variable::NVML));
        }
        failures
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_and_unknown_words_are_named() {
        let (found, unknown) = Failures::parse("lost:1, no-driver,util:85,no-memory,old,,lost:3,lost:x,util:101,cold");
        assert_eq!((found.has_no_driver, found.has_no_memory, found.utilization_percent), (true, true, 85));
        assert_eq!([0, 1, 2, 3].map(|device| found.is_lost(PhysicalDevice(device))), [false, true, false, true]);
        assert_eq!(unknown, ["lost:x", "util:101", "cold"]);
        assert_eq!(Failures::parse(""), (Failures::default(), Vec::new()));
    }
}
