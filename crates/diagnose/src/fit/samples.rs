//! Batches that were run without a limit, and forecasts from their recordings for other batches.

use allocator::SimulatedDevice;
use report::Usage;
use trace::Bytes;
use wire::limit::PAGE_BYTES;

use super::recording::ReplayableRun;
use super::trial::Trial;

/// A batch that was run.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(super) size: u64,
    pub(crate) usage: Usage,
    /// No device of less will do.
    pub(super) least: Bytes,
    pub(super) recording: Option<ReplayableRun>,
}

/// The expectation for a batch without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forecast {
    Fits,
    DoesNot,
    /// The smaller and the larger batches run different kernels, and their forecasts differ.
    Unsure,
    /// No two recordings have the same kernels.
    Unknown,
}

/// All samples, the smallest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples(Vec<Sample>);

impl Sample {
    /// The sample of a run.
    pub(crate) fn of(size: u64, trial: &Trial) -> Sample {
        Sample { size, usage: trial.usage, least: trial.least(), recording: trial.recording.clone() }
    }

    /// Foretells another size from the line through this sample and `other`; `None` if the two differ in more than sizes.
    pub(crate) fn foretell(&self, other: &Sample, size: u64) -> Option<Sample> {
        let outside = self.outside();
        if outside != other.outside() {
            return None;
        }
        let recording = self.scaled(other, size)?;
        let (allocated_bytes, reserved_bytes) = recording.find_peaks()?;
        let optional = |sample: &Sample| sample.usage.allocated_bytes + outside - sample.least;
        let usage = Usage { allocated_bytes, reserved_bytes, device_bytes: reserved_bytes + outside };
        let least = allocated_bytes + outside - optional(self).max(optional(other)).min(allocated_bytes);
        Some(Sample { size, usage, least, recording: Some(recording) })
    }

    /// The same run where a CUDA context of `to` bytes takes the place of one of `from`; both take whole pages.
    pub(crate) fn with_context(&self, from: Bytes, to: Bytes) -> Sample {
        let [from, to] = [from, to].map(in_pages);
        let usage = Usage { device_bytes: self.usage.device_bytes + to - from, ..self.usage };
        Sample { usage, least: self.least + to - from, ..self.clone() }
    }

    /// Device memory outside PyTorch's allocator.
    fn outside(&self) -> Bytes {
        self.usage.device_bytes - self.usage.reserved_bytes
    }

    /// True if the batch fits on a device of `target` bytes: by its need, by its live bytes, else by a replay.
    pub(crate) fn fits(&self, target: Bytes) -> Option<bool> {
        if self.usage.device_bytes <= target {
            return Some(true);
        }
        if self.least > target {
            return Some(false);
        }
        self.recording.as_ref().map(|recording| recording.fits(device(target, self.outside())))
    }

    /// True if the batch has requests that PyTorch can do without, so that a replay is not the last word.
    pub(super) fn has_optional(&self) -> bool {
        self.recording.as_ref().is_some_and(ReplayableRun::has_optional)
    }

    /// The recording at another size, by the line through this sample and `other`.
    fn scaled(&self, other: &Sample, size: u64) -> Option<ReplayableRun> {
        self.recording.as_ref()?.scaled(self.size, other.recording.as_ref()?, other.size, size)
    }
}

impl Samples {
    pub(super) fn add(&mut self, sample: Sample) {
        self.0.push(sample);
        self.0.sort_by_key(|sample| sample.size);
    }

    pub(super) fn as_slice(&self) -> &[Sample] {
        &self.0
    }

    /// Forecasts `size` within `target` from the nearest smaller and larger batch.
    pub(super) fn forecast(&self, size: u64, target: Bytes) -> Forecast {
        let below = self.0.iter().rev().find(|sample| sample.size <= size);
        let above = self.0.iter().find(|sample| sample.size > size);
        if let Some((below, above)) = below.zip(above)
            && let Some(scaled) = below.scaled(above, size)
        {
            return forecast_of(scaled.fits(device(target, below.outside())));
        }
        let words: Vec<bool> =
            [below, above].into_iter().flatten().filter_map(|near| self.by_line(near, size, target)).collect();
        match words[..] {
            [] => Forecast::Unknown,
            [one, other] if one != other => Forecast::Unsure,
            [one, ..] => forecast_of(one),
        }
    }

    /// The forecast for `size` by the line through `near` and the nearest batch with the same kernels.
    fn by_line(&self, near: &Sample, size: u64, target: Bytes) -> Option<bool> {
        let mut others: Vec<&Sample> = self.0.iter().filter(|other| other.size != near.size).collect();
        others.sort_by_key(|other| other.size.abs_diff(near.size));
        let scaled = others.into_iter().find_map(|other| near.scaled(other, size))?;
        Some(scaled.fits(device(target, near.outside())))
    }

    /// The bytes of a further sample, by the two batches nearest to `size`.
    pub(super) fn bytes_per_sample(&self, size: u64) -> Option<Bytes> {
        let mut nearest: Vec<&Sample> = self.0.iter().collect();
        nearest.sort_by_key(|sample| sample.size.abs_diff(size));
        let [one, other, ..] = nearest[..] else { return None };
        let difference = one.usage.allocated_bytes.0.abs_diff(other.usage.allocated_bytes.0);
        Some(Bytes(difference.checked_div(one.size.abs_diff(other.size))?))
    }
}

/// Whole pages of device memory.
fn in_pages(bytes: Bytes) -> Bytes {
    Bytes(bytes.0.next_multiple_of(PAGE_BYTES))
}

fn forecast_of(fits: bool) -> Forecast {
    if fits { Forecast::Fits } else { Forecast::DoesNot }
}

fn device(target: Bytes, outside: Bytes) -> SimulatedDevice {
    SimulatedDevice::new(target.0, outside.0)
}
