//! `growing-memory`: every step leaves memory behind.

use report::{Contents, Finding, Growth, Remedy, RuleId, Severity, Standing, Verdict};
use trace::{Bytes, Lifetime};

use super::{Facts, bytes, count};
use crate::measure::growth::{Survivors, survivors};

/// How many lines are named.
const LINES: usize = 3;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let Some(growth) = &facts.report.growth else {
        return Vec::new();
    };
    let survivors = survivors(facts.view);
    let mut evidence = vec![bytes(
        "growth per step",
        growth.bytes_per_step,
        "memory_stats after each step",
    )];
    for line in survivors.iter().take(LINES) {
        let what = format!(
            "made at {}:{} and alive a step later",
            line.location.file, line.location.line
        );
        evidence.push(bytes(&what, line.bytes, "lifetimes in the trace"));
    }
    if let Some(step) = growth.full_at_step {
        evidence.push(count(
            "step at which the device is full",
            u64::from(step),
            "growth from the peak on",
        ));
    }
    let severity = if facts.report.verdict == Verdict::Oom {
        Severity::Error
    } else {
        Severity::Warning
    };
    vec![Finding {
        rule: RuleId("growing-memory"),
        severity,
        message: message(growth, survivors.first()),
        location: growth.location.clone(),
        evidence,
        remedies: release(facts, growth).into_iter().collect(),
    }]
}

fn message(growth: &Growth, most: Option<&Survivors>) -> String {
    let what = most.map_or_else(String::new, |line| match line.count {
        1 => "; most of it is 1 tensor made here that something keeps".to_owned(),
        n => format!("; most of it is {n} tensors made here that something keeps"),
    });
    let full = growth.full_at_step.map_or_else(String::new, |step| {
        format!(", so the device is full at step {step}")
    });
    format!(
        "every step leaves {} behind{full}{what}",
        growth.bytes_per_step
    )
}

/// The peak of this run if what the line made were let go of: exact, from the lifetimes.
fn release(facts: &Facts, growth: &Growth) -> Option<Remedy> {
    let line = growth.location.as_ref()?;
    let view = facts.view;
    let (before, at) = view
        .found
        .allocated_peak
        .map(|peak| (peak.bytes, peak.event))?;
    let step = view.mark(at)?.step;
    let old = |life: &&Lifetime| {
        view.mark(life.allocation.event)
            .is_some_and(|mark| mark.step < step)
    };
    let made_here = |life: &&Lifetime| view.own_line(view.stack(life)).as_ref() == Some(line);
    let live = view
        .live_after(at)
        .filter(|(_, contents)| *contents != Contents::Parameters);
    let kept: Bytes = live
        .map(|(life, _)| life)
        .filter(old)
        .filter(made_here)
        .map(|life| life.allocation.block)
        .sum();
    (kept > Bytes::ZERO).then(|| Remedy {
        remedy: "keep a number, or a detached copy on the CPU, instead of the tensor".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - kept),
        how: "use .item() or .detach().cpu() where the result is stored; reckoned as the peak less what this line \
              made in earlier steps"
            .to_owned(),
    })
}
