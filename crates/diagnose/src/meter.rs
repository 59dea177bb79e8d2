//! The figures of a process while it runs, from its records and the events of its recording.

use std::collections::{BTreeMap, VecDeque};

use report::metrics::{DeviceMetrics, LoaderMetrics, ProcessMetrics, StepGrowth, TrackerRun};
use trace::run::{DeviceStats, GpuRecord, LoaderWait, StepRecord, TrackerRecord};
use trace::{BlockChange, Phase, Process, Record, Recording};

use crate::measure::pace::estimate_growth;

/// The number of last steps from which the growth is estimated: some seconds, or as many slow steps.
const STEPS: usize = 64;
/// The number of last records of steps from which their time is taken. A record comes four times a second, or after a slower step.
const TIMED: usize = 16;

/// Follows one process.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    pid: u32,
    rank: u32,
    is_further: bool,
    steps: u32,
    has_ended: bool,
    phase: Option<Phase>,
    /// The last recorded steps with a time.
    timed: VecDeque<TimedStep>,
    trackers: Vec<TrackerRun>,
    devices: BTreeMap<u32, DeviceMeter>,
}

#[derive(Clone, Debug)]
struct TimedStep {
    step: u32,
    monotonic_ns: u64,
    loader: Option<LoaderWait>,
}

#[derive(Clone, Debug, Default)]
struct DeviceMeter {
    /// The figures, but for the growth.
    known: DeviceMetrics,
    /// The memory that PyTorch can reserve, as stated at its first use.
    usable_bytes: Option<u64>,
    /// True once the events state the allocated memory: records are older.
    is_counted: bool,
    step: u32,
    step_peak_bytes: u64,
    last_step_peak_bytes: Option<u64>,
    /// The allocated bytes after each of the last recorded steps.
    after_steps: VecDeque<(u32, u64)>,
}

impl Meter {
    /// A process without records. `is_further`: another process has the rank.
    pub fn new(is_further: bool) -> Meter {
        Meter { is_further, ..Meter::default() }
    }

    /// A process with all its records, and its recording.
    pub fn of(process: &Process, recording: Option<&Recording>) -> Meter {
        let mut meter = Meter { pid: process.identity.pid, rank: process.identity.rank, ..Meter::default() };
        process.gpus.iter().for_each(|gpu| meter.note_gpu(gpu));
        process.steps.iter().for_each(|step| meter.note_step(step));
        process.ooms.iter().for_each(|oom| meter.note_stats(&oom.stats));
        let at_end = process.end.iter().flat_map(|end| &end.devices);
        at_end.for_each(|stats| meter.note_stats(stats));
        if let Some(recording) = recording {
            meter.note_recording(recording);
        }
        meter
    }

    /// The process id; 0 before its record.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// True if the process has recorded its end.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Notes that the process has ended without a record.
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Notes a record.
    pub fn note_record(&mut self, record: &Record) {
        match record {
            Record::Process(process) => (self.pid, self.rank) = (process.pid, process.rank),
            Record::Gpu(gpu) => self.note_gpu(gpu),
            Record::Step(step) => self.note_step(step),
            Record::Oom(oom) => self.note_stats(&oom.stats),
            Record::Tracker(tracker) => self.trackers.push(name_run(tracker)),
            Record::End(end) => {
                end.devices.iter().for_each(|stats| self.note_stats(stats));
                self.has_ended = true;
            }
            _ => {}
        }
    }

    /// Notes a change of the allocated memory.
    pub fn note_change(&mut self, change: &BlockChange) {
        let device = self.device(change.device.into());
        let known = &mut device.known;
        if !std::mem::replace(&mut device.is_counted, true) {
            // The events start with an empty device; a record may be behind some of them.
            known.allocated_bytes = 0;
        }
        known.allocated_bytes = known.allocated_bytes.saturating_add_signed(change.bytes);
        known.reserved_bytes = change.reserved_bytes;
        if change.step > device.step {
            // Before the first change the peak of the step is unknown.
            device.last_step_peak_bytes = Some(device.step_peak_bytes).filter(|_| device.step > 0);
            (device.step, device.step_peak_bytes) = (change.step, 0);
        }
        device.step_peak_bytes = device.step_peak_bytes.max(known.allocated_bytes);
        device.note_peaks();
    }

    /// Notes the allocated memory of a device, where the changes since the last note are unknown.
    pub fn set_allocated(&mut self, device: u32, bytes: u64) {
        let device = self.device(device);
        device.is_counted = true;
        device.known.allocated_bytes = bytes;
        (device.step, device.last_step_peak_bytes) = (0, None);
        device.note_peaks();
    }

    /// Notes the number of completed steps.
    pub fn set_steps(&mut self, steps: u32) {
        self.steps = self.steps.max(steps);
    }

    /// Notes the phase of the last allocation.
    pub fn set_phase(&mut self, phase: Option<Phase>) {
        self.phase = phase;
    }

    /// The time of the last recorded step, by the clock that all processes of the machine share.
    pub fn last_step_ns(&self) -> Option<u64> {
        self.timed.back().map(|last| last.monotonic_ns)
    }

    /// The figures by now.
    pub fn measure(&self) -> ProcessMetrics {
        let devices = self.devices.values().filter(|device| device.known.reserved_peak_bytes > 0);
        ProcessMetrics {
            pid: self.pid,
            rank: self.rank,
            is_further: self.is_further,
            steps: self.steps,
            ended: self.has_ended,
            phase: self.phase.map(Phase::name),
            step_seconds: self.time_step(),
            loader: self.measure_loader(),
            trackers: self.trackers.clone(),
            devices: devices.map(DeviceMeter::measure).collect(),
        }
    }

    /// The first and the last of the timed steps, and the time between.
    fn span(&self) -> Option<(&TimedStep, &TimedStep, f64)> {
        let (first, last) = (self.timed.front()?, self.timed.back()?);
        let passed = last.monotonic_ns.checked_sub(first.monotonic_ns).filter(|passed| *passed > 0)?;
        Some((first, last, passed as f64))
    }

    fn time_step(&self) -> Option<f64> {
        let (first, last, passed_ns) = self.span()?;
        let steps = last.step.checked_sub(first.step).filter(|steps| *steps > 0)?;
        Some(passed_ns / 1e9 / f64::from(steps))
    }

    fn measure_loader(&self) -> Option<LoaderMetrics> {
        let (first, last, passed_ns) = self.span()?;
        let loader = last.loader.as_ref()?;
        let before_ns = first.loader.as_ref().map_or(0, |loader| loader.wait_ns);
        let wait_share = (loader.wait_ns.saturating_sub(before_ns) as f64 / passed_ns).min(1.0);
        Some(LoaderMetrics { wait_share, workers: loader.workers, pins_memory: loader.pins_memory })
    }

    fn device(&mut self, device: u32) -> &mut DeviceMeter {
        let found = self.devices.entry(device).or_default();
        found.known.device = device;
        found
    }

    fn note_gpu(&mut self, gpu: &GpuRecord) {
        let device = self.device(gpu.device);
        device.known.name.clone_from(&gpu.name);
        device.known.total_bytes = gpu.total_bytes;
        device.usable_bytes = gpu.free_bytes.or(device.usable_bytes);
    }

    fn note_step(&mut self, step: &StepRecord) {
        self.set_steps(step.step);
        if step.monotonic_ns > 0 {
            let timed = TimedStep { step: step.step, monotonic_ns: step.monotonic_ns, loader: step.loader.clone() };
            self.timed.push_back(timed);
        }
        if self.timed.len() > TIMED {
            self.timed.pop_front();
        }
        for stats in &step.devices {
            self.note_stats(stats);
            let after = &mut self.device(stats.device).after_steps;
            after.push_back((step.step, stats.allocated_bytes));
            // The first step allocates lasting memory, such as the state of the optimizer.
            if after.len() > STEPS || after.front().is_some_and(|(step, _)| *step <= 1) {
                after.pop_front();
            }
        }
    }

    fn note_stats(&mut self, stats: &DeviceStats) {
        let device = self.device(stats.device);
        let known = &mut device.known;
        if !device.is_counted {
            known.allocated_bytes = stats.allocated_bytes;
            known.reserved_bytes = stats.reserved_bytes;
        }
        known.allocated_peak_bytes = known.allocated_peak_bytes.max(stats.allocated_peak_bytes);
        known.reserved_peak_bytes = known.reserved_peak_bytes.max(stats.reserved_peak_bytes);
        known.alloc_retries = Some(stats.alloc_retries);
        known.inactive_split_bytes = Some(stats.inactive_split_bytes);
    }

    /// Notes a whole recording. The memory before its first event is the blocks at the end less all changes.
    fn note_recording(&mut self, recording: &Recording) {
        let mut before: BTreeMap<u32, i64> = BTreeMap::new();
        for held in recording.list_held() {
            *before.entry(held.device.into()).or_default() += held.bytes.cast_signed();
        }
        for change in recording.list_changes() {
            let bytes = before.entry(change.device.into()).or_default();
            *bytes = bytes.saturating_sub(change.bytes);
        }
        for (device, bytes) in before {
            self.set_allocated(device, u64::try_from(bytes).unwrap_or_default());
        }
        recording.list_changes().for_each(|change| self.note_change(&change));
        self.set_steps(recording.steps_done());
    }
}

impl DeviceMeter {
    fn note_peaks(&mut self) {
        let known = &mut self.known;
        known.allocated_peak_bytes = known.allocated_peak_bytes.max(known.allocated_bytes);
        known.reserved_peak_bytes = known.reserved_peak_bytes.max(known.reserved_bytes);
    }

    fn measure(&self) -> DeviceMetrics {
        let after: Vec<(u32, u64)> = self.after_steps.iter().copied().collect();
        let growth = estimate_growth(&after).and_then(|per_step_bytes| {
            let usable = self.usable_bytes.unwrap_or(self.known.total_bytes);
            let peak = self.last_step_peak_bytes.unwrap_or(self.known.allocated_peak_bytes);
            let steps_to_error = (usable.saturating_sub(peak) / per_step_bytes).checked_add(1)?;
            (usable > 0).then_some(StepGrowth { per_step_bytes, steps_to_error })
        });
        let known = self.known.clone();
        let spare_bytes = self.usable_bytes.map(|usable| usable.saturating_sub(known.reserved_peak_bytes));
        DeviceMetrics {
            growth,
            cache_bytes: known.reserved_bytes.saturating_sub(known.allocated_bytes),
            need_bytes: spare_bytes.map(|spare| known.total_bytes.saturating_sub(spare)),
            spare_bytes,
            ..known
        }
    }
}

fn name_run(record: &TrackerRecord) -> TrackerRun {
    let TrackerRecord { library, run, name, place } = record.clone();
    TrackerRun { library, run, name, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(allocated_bytes: u64) -> DeviceStats {
        DeviceStats { allocated_bytes, allocated_peak_bytes: 700, reserved_peak_bytes: 800, ..DeviceStats::default() }
    }

    fn step(step: u32, allocated_bytes: u64) -> Record {
        Record::Step(StepRecord { step, devices: vec![stats(allocated_bytes)], ..StepRecord::default() })
    }

    fn gpu() -> Record {
        Record::Gpu(GpuRecord { total_bytes: 1200, free_bytes: Some(1000), ..GpuRecord::default() })
    }

    fn change(bytes: i64, step: u32) -> BlockChange {
        BlockChange { device: 0, bytes, reserved_bytes: 800, step }
    }

    fn meter(records: &[Record], changes: &[BlockChange]) -> DeviceMetrics {
        let mut meter = Meter::default();
        for record in records {
            meter.note_record(record);
        }
        for change in changes {
            meter.note_change(change);
        }
        meter.measure().devices.remove(0)
    }

    #[test]
    fn events_state_what_is_allocated_and_records_the_rest() {
        let growing = [gpu(), step(1, 100), step(2, 110), step(3, 120), step(4, 130), step(5, 140)];
        let changes = [change(300, 5), change(200, 5), change(-400, 5), change(40, 6)];
        let found = meter(&growing, &changes);
        assert_eq!((found.allocated_bytes, found.allocated_peak_bytes, found.alloc_retries), (140, 700, Some(0)));
        assert_eq!((found.total_bytes, found.reserved_bytes, found.reserved_peak_bytes), (1200, 800, 800));
        assert_eq!((found.cache_bytes, found.need_bytes, found.spare_bytes), (660, Some(1000), Some(200)));
    }

    #[test]
    fn the_last_whole_step_tells_when_memory_runs_out() {
        let growing = [gpu(), step(1, 100), step(2, 110), step(3, 120), step(4, 130), step(5, 140)];
        let rise = |steps_to_error| Some(StepGrowth { per_step_bytes: 10, steps_to_error });
        assert_eq!(meter(&growing, &[]).growth, rise(31), "300 of 1000 bytes are free at the peak of the run");
        let changes = [change(640, 5), change(-500, 5), change(700, 6), change(1, 6)];
        assert_eq!(meter(&growing, &changes).growth, rise(37), "360 are free at the peak of step 5");
        assert_eq!(meter(&growing[..4], &[]).growth, None);
    }

    #[test]
    fn the_last_steps_tell_their_time_and_the_wait_for_the_loader() {
        let timed = |step: u32, millis: u64, wait_millis: u64| {
            let loader = Some(LoaderWait { wait_ns: wait_millis * 1_000_000, workers: 2, pins_memory: true });
            Record::Step(StepRecord { step, monotonic_ns: millis * 1_000_000, loader, ..StepRecord::default() })
        };
        let measure = |records: &[Record]| {
            let mut meter = Meter::default();
            for record in records {
                meter.note_record(record);
            }
            let found = meter.measure();
            (found.step_seconds, found.loader)
        };
        assert_eq!(measure(&[timed(1, 500, 0)]), (None, None), "one moment tells no time");
        let loader = LoaderMetrics { wait_share: 0.75, workers: 2, pins_memory: true };
        assert_eq!(measure(&[timed(1, 500, 100), timed(5, 2500, 1600)]), (Some(0.5), Some(loader)));
        let many: Vec<Record> =
            (1..=40).map(|step| timed(step, u64::from(step) * if step < 24 { 9 } else { 8 }, 0)).collect();
        assert_eq!(measure(&many).0, Some(0.001 * (320.0 - 200.0) / 15.0), "the last 16 records");
    }

    #[test]
    fn a_process_without_a_device_has_no_figures() {
        let mut meter = Meter::default();
        meter.note_record(&gpu());
        assert_eq!(meter.measure().devices, []);
    }
}
