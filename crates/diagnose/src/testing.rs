//! Records for the unit tests of several files.

use trace::Launch;
use trace::run::OomRecord;

/// The launcher's record of a real run.
pub(crate) fn launch() -> Launch {
    Launch {
        format: Launch::FORMAT,
        oomph: String::new(),
        command: Vec::new(),
        gpu_name: String::new(),
        device_total_bytes: 0,
        device_others_bytes: 0,
        device_context_bytes: 0,
        devices: 0,
        unlimited: false,
        steps: 0,
        job: None,
        slurm_job: None,
        ended: None,
        host: None,
        effects: None,
    }
}

/// An out-of-memory error that the handler in this line of `train.py` catches, and that makes the number `lowers` smaller.
pub(crate) fn oom(caught_at: Option<u32>, lowers: Option<&str>) -> OomRecord {
    OomRecord {
        requested_bytes: 1,
        step: 1,
        caught_at: caught_at.map(|line| ("train.py".to_owned(), line)),
        lowers: lowers.map(str::to_owned),
        ..OomRecord::default()
    }
}
