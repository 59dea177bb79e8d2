//! A real run under the recommended setting, beside what was predicted.

use report::Standing;
use report::tune::{Measured, TuneReport};
use trace::{Bytes, Record, Run};

use crate::measure::records;

/// `report` with what `run`, made under the recommended setting, came to. The prediction is verified if the run did all of
/// it; what was verified by replay alone and comes out otherwise is an estimate.
#[must_use]
pub fn with_measured(mut report: TuneReport, run: &Run) -> TuneReport {
    let Some(recommended) = &mut report.recommended else { return report };
    let mut measured = measured(run);
    let predicted = &recommended.setting;
    measured.as_predicted = measured.reserved_bytes == predicted.reserved_bytes
        && measured.allocated_bytes == predicted.allocated_bytes
        && measured.retries == predicted.retries
        && measured.oom == predicted.oom;
    (recommended.standing, recommended.how) = if measured.as_predicted {
        (Standing::Verified, "replayed, and then run under it: the run reserved as much, to the byte".to_owned())
    } else {
        let (found, foretold) = (measured.reserved_bytes, predicted.reserved_bytes);
        (
            Standing::Estimated,
            format!("a run under it reserved {} bytes, where the replay said {}", found.0, foretold.0),
        )
    };
    for remedy in report.findings.iter_mut().flat_map(|finding| &mut finding.remedies) {
        (remedy.standing, remedy.how) = (recommended.standing, recommended.how.clone());
    }
    recommended.measured = Some(measured);
    report
}

/// The worst over all processes and devices.
fn measured(run: &Run) -> Measured {
    let mut worst = Measured::default();
    for process in &run.processes {
        worst.oom |= records::ended_by_oom(process);
    }
    for record in records::records(run) {
        worst.oom |= matches!(record, Record::Oom { .. });
        if let Record::End { devices, .. } | Record::Step { devices, .. } = record {
            for stats in devices {
                worst.reserved_bytes = worst.reserved_bytes.max(Bytes(stats.reserved_peak_bytes));
                worst.allocated_bytes = worst.allocated_bytes.max(Bytes(stats.allocated_peak_bytes));
                worst.retries = worst.retries.max(stats.alloc_retries);
            }
        }
    }
    worst
}
