//! A program for the tests of this crate.

use std::time::Duration;

use trace::Bytes;

use crate::options::RunOptions;
use crate::spec::{Device, DeviceFacts, RunSpec};

/// `python train.py` on one toy device.
pub(crate) fn spec() -> RunSpec {
    RunSpec {
        command: ["python", "train.py"].map(Into::into).to_vec(),
        is_script: true,
        device: Device::Phantom(facts()),
        options: RunOptions::default(),
        timeout: Duration::from_mins(1),
        verbose: false,
    }
}

/// The toy device.
pub(crate) fn facts() -> DeviceFacts {
    DeviceFacts {
        name: "toy".to_owned(),
        variable: "name=toy".to_owned(),
        total: Bytes(100),
        context: Bytes(1),
        others: Bytes::ZERO,
    }
}
