//! A real run under the recommended setting, compared with the prediction.

use report::Standing;
use report::tune::{Measured, Setting, TuneReport};
use trace::{Bytes, Record, Run};

use crate::ending::ended_by_oom;
use crate::measure::run_records;

/// Returns `report` with the results of `run`, made under the recommended setting. The prediction is verified if the
/// run reserved the predicted bytes with the predicted retries; otherwise a prediction verified by replay alone
/// becomes an estimate.
#[must_use]
pub fn with_measured(mut report: TuneReport, run: &Run) -> TuneReport {
    let Some(recommended) = &mut report.recommended else { return report };
    if let Some(own) = own_settings(run, &recommended.setting.conf) {
        let end = format!("; the program sets PYTORCH_CUDA_ALLOC_CONF itself (`{own}`), so no run under it was made");
        recommended.how.push_str(&end);
        return report;
    }
    let measured = measured(run, &recommended.setting);
    (recommended.standing, recommended.how) = judge(&measured, &recommended.setting);
    recommended.measured = Some(measured);
    for remedy in report.findings.iter_mut().flat_map(|finding| &mut finding.remedies) {
        (remedy.standing, remedy.how) = (recommended.standing, recommended.how.clone());
    }
    report
}

fn judge(measured: &Measured, predicted: &Setting) -> (Standing, String) {
    let (found, foretold) = (measured.reserved_bytes, predicted.reserved_bytes);
    if !measured.as_predicted {
        let ends = if measured.oom { "ran out" } else { "reserved" };
        let how = format!(
            "a run under it {ends}: {} bytes and {} retries, where the replay said {} and {}",
            found.0, measured.retries, foretold.0, predicted.retries
        );
        return (Standing::Estimated, how);
    }
    let (found, foretold) = (measured.allocated_bytes, predicted.allocated_bytes);
    // Threads that allocate concurrently have a different order in each run.
    let differs = || format!("; it allocated {} bytes, where the recorded run did {}", found.0, foretold.0);
    let end = if found == foretold { String::new() } else { differs() };
    let how = format!("replayed, and then run under it: the run reserved as much, to the byte{end}");
    (Standing::Verified, how)
}

/// Returns the setting of a program that configures the allocator itself.
fn own_settings<'a>(run: &'a Run, conf: &str) -> Option<&'a str> {
    let snapshots = run.processes.iter().filter_map(|process| process.snapshot.as_ref());
    snapshots.map(|snapshot| snapshot.settings.conf.as_str()).find(|&own| own != conf)
}

/// Returns the largest figures over all processes and devices.
fn measured(run: &Run, predicted: &Setting) -> Measured {
    let mut worst = Measured::default();
    for process in &run.processes {
        worst.oom |= ended_by_oom(process);
    }
    for record in run_records::records(run) {
        worst.oom |= matches!(record, Record::Oom { .. });
        if let Record::End { devices, .. } | Record::Step { devices, .. } = record {
            for stats in devices {
                worst.reserved_bytes = worst.reserved_bytes.max(Bytes(stats.reserved_peak_bytes));
                worst.allocated_bytes = worst.allocated_bytes.max(Bytes(stats.allocated_peak_bytes));
                worst.retries = worst.retries.max(stats.alloc_retries);
            }
        }
    }
    worst.as_predicted = worst.reserved_bytes == predicted.reserved_bytes
        && worst.retries == predicted.retries
        && worst.oom == predicted.oom;
    worst
}
