//! A real run under the recommended setting, compared with the prediction.

use report::tune::{Measured, Recommendation, Setting};
use report::{Finding, Remedy, Standing};
use trace::{Bytes, Process, Run};

use crate::judge::outcome::Outcome;

/// Returns the recommendation and the findings with the results of `run`, made under the recommended setting. The prediction is
/// verified if the run reserved the predicted bytes with the predicted retries; otherwise a prediction verified by replay
/// alone becomes an estimate.
pub(super) fn verify(recommended: Recommendation, findings: Vec<Finding>, run: &Run) -> (Recommendation, Vec<Finding>) {
    if let Some(own) = own_settings(run, &recommended.setting.conf) {
        let how = format!(
            "{}; the program sets PYTORCH_CUDA_ALLOC_CONF itself (`{own}`), so no run under it was made",
            recommended.how
        );
        return (Recommendation { how, ..recommended }, findings);
    }
    let measured = measured(run, &recommended.setting);
    let (standing, how) = judge(&measured, &recommended.setting);
    let prove = |remedy: Remedy| Remedy { standing, how: how.clone(), ..remedy };
    let prove_all =
        |finding: Finding| Finding { remedies: finding.remedies.into_iter().map(prove).collect(), ..finding };
    let findings = findings.into_iter().map(prove_all).collect();
    (Recommendation { standing, how, measured: Some(measured), ..recommended }, findings)
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
    // The replay serves a request or not: that the program has another way out does not matter here.
    let is_refused = run.processes.iter().any(|process| !process.ooms.is_empty());
    let mut worst = Measured { oom: is_refused || Outcome::of(run) == Outcome::Ended, ..Measured::default() };
    for stats in run.processes.iter().flat_map(Process::stats) {
        worst.reserved_bytes = worst.reserved_bytes.max(Bytes(stats.reserved_peak_bytes));
        worst.allocated_bytes = worst.allocated_bytes.max(Bytes(stats.allocated_peak_bytes));
        worst.retries = worst.retries.max(stats.alloc_retries);
    }
    worst.as_predicted = worst.reserved_bytes == predicted.reserved_bytes
        && worst.retries == predicted.retries
        && worst.oom == predicted.oom;
    worst
}
