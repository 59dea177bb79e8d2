//! The forecast that a check makes for a later real run of the same command.
//!
//! # Note [Forecasts]
//!
//! `oomph check` keeps the stages of the last check of a command. `oomph run` of the same words, in the same folder, with the same changes, compares them
//! with the free memory of its GPU before the program starts. Sizes on the device do not depend on the GPU model but for the context, so a
//! check for another GPU counts. The script and the files that the report names must be unchanged; other inputs (the environment, data,
//! libraries) are not compared, and the warning is a sentence, never a reason to stop.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use report::{Change, StageUse};
use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::cache::hash;
use crate::spec::starts_python;

/// The stages of a checked program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// Raised when the meaning of the fields changes.
    pub format: u32,
    /// The memory of the checked device for the program.
    pub available_bytes: Bytes,
    /// The program's files that the report names, with a hash of the content of each.
    pub sources: Vec<(PathBuf, String)>,
    /// The stages, in the order of their first visit.
    pub stages: Vec<StageUse>,
}

/// A stage that does not fit, and how much memory it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage<'a> {
    /// The first such stage.
    pub stage: &'a StageUse,
    /// The least memory that the stage needs on the device.
    pub need: Bytes,
}

impl Forecast {
    /// The format of this build.
    pub const FORMAT: u32 = 1;

    /// Returns the first stage that needs more than `free` bytes of a device.
    pub fn find_shortage(&self, free: Bytes) -> Option<Shortage<'_>> {
        self.stages.iter().find_map(|stage| {
            let need = self.least_need(stage, free);
            (need > free).then_some(Shortage { stage, need })
        })
    }

    /// The allocated memory of the stage, outside of PyTorch too. On a device no larger than the checked one, a stage that did not fit there needs its cache.
    fn least_need(&self, stage: &StageUse, free: Bytes) -> Bytes {
        if stage.fits == Some(false) && free <= self.available_bytes {
            return stage.peak_device_bytes;
        }
        stage.peak_allocated_bytes + (stage.peak_device_bytes - stage.peak_reserved_bytes)
    }
}

/// The name of the forecast of a command line in a folder. The Python that starts a program does not count.
pub fn forecast_key(folder: &Path, command: &[OsString], changes: &[Change]) -> String {
    let words: Vec<&OsStr> =
        command.iter().map(OsString::as_os_str).skip(usize::from(starts_python(command))).collect();
    hash(&(Forecast::FORMAT, folder, words, changes))
}

#[cfg(test)]
mod tests {
    use trace::LifeStage;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn stage(stage: LifeStage, allocated: u64, reserved: u64, fits: Option<bool>) -> StageUse {
        StageUse {
            stage,
            step: Some(600),
            begins_step: Some(600),
            peak_allocated_bytes: Bytes(allocated * GIB),
            peak_reserved_bytes: Bytes(reserved * GIB),
            peak_device_bytes: Bytes((reserved + 1) * GIB),
            only_there_bytes: Bytes::ZERO,
            only_there_location: None,
            location: None,
            begins_at: None,
            fits,
        }
    }

    #[test]
    fn the_first_stage_that_lacks_memory_is_found() {
        let forecast = Forecast {
            format: Forecast::FORMAT,
            available_bytes: Bytes(6 * GIB),
            sources: Vec::new(),
            stages: vec![
                stage(LifeStage::Steps, 2, 3, Some(true)),
                stage(LifeStage::Evaluation, 5, 7, Some(false)),
                stage(LifeStage::Save, 9, 9, Some(false)),
            ],
        };
        // The free memory, the stage, and its least need: allocated and 1 GiB outside of PyTorch, or reserved where the check refused it.
        let cases = [
            (12, None),
            (10, None),
            (9, Some((LifeStage::Save, 10))),
            (6, Some((LifeStage::Evaluation, 8))),
            (5, Some((LifeStage::Evaluation, 8))),
            (2, Some((LifeStage::Steps, 3))),
        ];
        for (free, expected) in cases {
            let found = forecast.find_shortage(Bytes(free * GIB));
            assert_eq!(found.map(|found| (found.stage.stage, found.need.0 / GIB)), expected, "{free} GiB free");
        }
    }

    #[test]
    fn the_command_names_a_forecast_whatever_python_runs_it() {
        let key = |folder: &str, words: &[&str], changes: &[Change]| {
            forecast_key(Path::new(folder), &words.iter().map(OsString::from).collect::<Vec<_>>(), changes)
        };
        let named = key("/work", &["/usr/bin/python3", "train.py", "--batch", "8"], &[]);
        let same = [key("/work", &["python", "train.py", "--batch", "8"], &[])];
        let others = [
            key("/work", &["python", "train.py", "--batch 8"], &[]),
            key("/work", &["python", "train.py"], &[]),
            key("/other", &["python", "train.py", "--batch", "8"], &[]),
            key("/work", &["python", "train.py", "--batch", "8"], &[Change::new("sdpa")]),
            key("/work", &["torchrun", "train.py", "--batch", "8"], &[]),
        ];
        assert!(same.iter().all(|key| *key == named));
        assert!(others.iter().all(|key| *key != named));
    }
}
