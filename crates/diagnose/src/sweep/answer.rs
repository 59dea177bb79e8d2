//! The need of a point by a run or a replay, and the verdict on each GPU.

use report::Usage;
use report::sweep::{HowKnown, PointVerdict, SweepPoint};
use trace::Bytes;

use crate::fit::Sample;

/// A GPU of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepGpu {
    /// The name.
    pub name: String,
    /// The memory, less the use of other processes.
    pub capacity: Bytes,
    /// Memory of a CUDA context.
    pub context: Bytes,
}

/// The need of a point on one GPU, to be judged on other GPUs of the same compute capability.
#[derive(Clone, Debug)]
pub struct PointAnswer {
    /// The need; `None` for a program that failed.
    sample: Option<Box<Sample>>,
    how: HowKnown,
    error: Option<String>,
    seconds: f64,
    torch: Option<String>,
}

impl PointAnswer {
    pub(super) fn of(sample: &Sample, how: HowKnown, seconds: f64, torch: Option<String>) -> PointAnswer {
        PointAnswer { sample: Some(Box::new(sample.clone())), how, error: None, seconds, torch }
    }

    pub(super) fn failed(message: String, seconds: f64, torch: Option<String>) -> PointAnswer {
        PointAnswer { sample: None, how: HowKnown::Run, error: Some(message), seconds, torch }
    }

    /// The peaks of the run; `None` for a program that failed.
    pub fn usage(&self) -> Option<Usage> {
        self.sample.as_ref().map(|sample| sample.usage)
    }

    /// Judges the point on a GPU. `context`: the context's bytes in the run. The caller adds parameters and command.
    pub fn judge(&self, gpu: &SweepGpu, context: Bytes) -> SweepPoint {
        let blank = SweepPoint {
            gpu: gpu.name.clone(),
            capacity_bytes: gpu.capacity,
            how: self.how,
            seconds: self.seconds,
            torch: self.torch.clone(),
            error: self.error.clone(),
            ..SweepPoint::default()
        };
        let Some(sample) = &self.sample else { return SweepPoint { verdict: PointVerdict::Failed, ..blank } };
        let sample = sample.with_context(context, gpu.context);
        let need = sample.usage.device_bytes;
        let judged = match sample.fits(gpu.capacity) {
            Some(true) if need <= gpu.capacity => PointVerdict::Fits,
            Some(true) => PointVerdict::Tight,
            Some(false) | None => PointVerdict::Oom,
        };
        SweepPoint {
            verdict: judged,
            need_bytes: Some(need),
            spare_bytes: Some(signed(gpu.capacity).saturating_sub(signed(need))),
            allocated_bytes: Some(sample.usage.allocated_bytes),
            reserved_bytes: Some(sample.usage.reserved_bytes),
            ..blank
        }
    }
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.0).unwrap_or(i64::MAX)
}
