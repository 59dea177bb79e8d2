//! `growing-memory`: every step leaves memory behind.

use report::{Finding, Growth, Location, Remedy, RuleId, Severity, Standing, Verdict};
use trace::{Bytes, EventIndex};

use super::{Facts, bytes, count};
use crate::measure::growth::{Survivors, stays, survivors};
use crate::measure::view::View;

/// How many lines are named.
const LINES: usize = 3;

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let growth = facts.report.growth.as_ref()?;
    let survivors = survivors(facts.view);
    let mut evidence = vec![bytes("growth per step", growth.bytes_per_step, "memory_stats after each step")];
    for survivor in survivors.iter().take(LINES) {
        let (file, line) = (facts.case.show(&survivor.location.file), survivor.location.line);
        let what = format!("made at {file}:{line} and alive a step later");
        evidence.push(bytes(&what, survivor.bytes, "lifetimes in the trace"));
    }
    if let Some(step) = growth.full_at_step {
        evidence.push(count("step at which the device is full", u64::from(step), "growth from the peak on"));
    }
    let severity = if facts.report.verdict == Verdict::Oom { Severity::Error } else { Severity::Warning };
    Some(Finding {
        rule: RuleId("growing-memory"),
        severity,
        message: message(growth, survivors.first()),
        location: growth.location.clone(),
        evidence,
        remedies: release(facts, growth).into_iter().collect(),
    })
}

fn message(growth: &Growth, most: Option<&Survivors>) -> String {
    let what = most.map_or_else(String::new, |line| match line.count {
        1 => "; most of it is 1 tensor made here that something keeps".to_owned(),
        n => format!("; most of it is {n} tensors made here that something keeps"),
    });
    let full = growth.full_at_step.map_or_else(String::new, |step| format!(", so the device is full at step {step}"));
    format!("every step leaves {} behind{full}{what}", growth.bytes_per_step)
}

/// The peak less what the line made in earlier steps.
fn release(facts: &Facts, growth: &Growth) -> Option<Remedy> {
    let peak = facts.view.found.allocated_peak?;
    let kept = kept_at(facts.view, peak.event, growth.location.as_ref()?)?;
    (kept > Bytes::ZERO).then(|| Remedy {
        remedy: "keep a number, or a detached copy on the CPU, instead of the tensor".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(peak.bytes),
        after_bytes: Some(peak.bytes - kept),
        how: "use .item() or .detach().cpu() where the result is stored; reckoned as the peak less what this line \
              made in earlier steps"
            .to_owned(),
    })
}

/// What `line` made in steps before that of `event` and is alive right after it; `None` where the step is not known.
fn kept_at(view: &View, event: EventIndex, line: &Location) -> Option<Bytes> {
    let step = view.mark(event)?.step;
    let blocks = view.live_after(event).filter_map(|(life, contents)| {
        let made = view.mark(life.allocation.event)?.step;
        let here = view.own_line(view.stack(life)).as_ref() == Some(line);
        (made < step && here && !stays(contents)).then_some(life.allocation.block)
    });
    Some(blocks.sum())
}
