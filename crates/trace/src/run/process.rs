//! Questions to the records of a process.

use super::record::{DeviceStats, DumpRecord, OomRecord, Process, ProcessRecord, Record, StepRecord};
use crate::ids::DeviceIndex;

impl Process {
    /// Checks that the agent recorded the process; a snapshot may also come alone.
    pub fn is_recorded(&self) -> bool {
        self.identity != ProcessRecord::default()
    }

    /// The optimizer steps that ended after `oom` was raised.
    pub fn steps_after(&self, oom: &OomRecord) -> impl Iterator<Item = &StepRecord> {
        // Both count the step under way, so that the numbers have the order of the records.
        let under_way = oom.step;
        self.steps.iter().filter(move |step| step.step >= under_way)
    }

    /// The dump at the last out-of-memory error of a real run, if no optimizer step followed.
    pub fn last_dump(&self) -> Option<&DumpRecord> {
        self.dump.as_ref().filter(|dump| self.step_count() < dump.step)
    }

    /// True if the process was alive when oomph asked for its end, and left no later record of an error.
    pub fn was_stopped(&self) -> bool {
        self.stop.is_some() && self.errors.is_empty()
    }

    /// The number of optimizer steps.
    pub fn step_count(&self) -> u32 {
        let at_end = self.end.iter().map(|end| end.steps);
        self.steps.iter().map(|step| step.step).chain(at_end).max().unwrap_or_default()
    }

    /// All figures of `memory_stats`, in no order.
    pub fn stats(&self) -> impl Iterator<Item = &DeviceStats> {
        let at_end = self.end.iter().flat_map(|end| &end.devices);
        let at_steps = self.steps.iter().flat_map(|step| &step.devices);
        let at_stop = self.stop.iter().flat_map(|stop| &stop.devices);
        at_steps.chain(at_stop).chain(self.ooms.iter().map(|oom| &oom.stats)).chain(at_end)
    }

    /// The figures of `memory_stats` for `device`, in no order.
    pub fn stats_of(&self, device: DeviceIndex) -> impl Iterator<Item = &DeviceStats> {
        self.stats().filter(move |stats| stats.device == device.0)
    }

    /// The devices that the process used through PyTorch, in order; of a killed process that left no figures of PyTorch's, those
    /// with memory in use.
    pub fn devices(&self) -> Vec<DeviceIndex> {
        let mut devices: Vec<DeviceIndex> = self.stats().map(|stats| DeviceIndex(stats.device)).collect();
        let traces = self.snapshot.iter().flat_map(|snapshot| (0..).zip(&snapshot.traces));
        devices.extend(traces.filter(|(_, trace)| !trace.is_empty()).map(|(index, _)| DeviceIndex(index)));
        // A killed process wrote no last figures, and perhaps none at all.
        if self.unrecorded.is_some() || (self.end.is_none() && devices.is_empty()) {
            devices.extend(self.ledger.devices());
        }
        devices.sort_unstable();
        devices.dedup();
        devices
    }
}

impl FromIterator<Record> for Process {
    fn from_iter<T: IntoIterator<Item = Record>>(records: T) -> Process {
        let mut process = Process::default();
        records.into_iter().for_each(|record| process.take(record));
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_was_under_way_at_an_error_ends_after_it() {
        let step = |step| Record::Step(StepRecord { step, ..StepRecord::default() });
        let oom = |step| Record::Oom(OomRecord { step, ..OomRecord::default() });
        let process: Process = [oom(1), step(1), step(2), oom(3), step(3)].into_iter().collect();
        let after = process.ooms.iter().map(|oom| process.steps_after(oom).count());
        assert_eq!(after.collect::<Vec<_>>(), [3, 1]);
        assert_eq!(process.step_count(), 3);
    }
}
