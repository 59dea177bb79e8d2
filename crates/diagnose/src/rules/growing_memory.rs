//! `growing-memory`: every step leaves memory behind.

use report::{Finding, Growth, Location, Remedy, RuleId, Severity, Standing};
use trace::{Bytes, EventIndex};

use super::{Cause, Rank, bytes, count};
use crate::facts::Facts;
use crate::measure::growth::{Survivors, stays, survivors};
use crate::measure::life::Life;
use crate::measure::view::View;

/// How many lines are named.
const LINES: usize = 3;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let (growth, view) = (facts.growth.as_ref()?, facts.view?);
    let survivors = survivors(view);
    let mut evidence = vec![bytes("growth per step", growth.bytes_per_step, facts.growth_source)];
    for survivor in survivors.iter().take(LINES) {
        let what = format!("made at {} and alive a step later", facts.at(&survivor.location));
        evidence.push(bytes(&what, survivor.bytes, "lifetimes in the trace"));
    }
    if let Some(step) = growth.full_at_step {
        evidence.push(count("step at which the device is full", u64::from(step), "growth from the peak on"));
    }
    let severity = if facts.fatal { Severity::Error } else { Severity::Warning };
    let finding = Finding {
        rule: RuleId("growing-memory"),
        severity,
        message: message(growth, survivors.first()),
        location: growth.location.clone(),
        evidence,
        remedies: release(view, growth).into_iter().collect(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Fault })
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
fn release(view: &View, growth: &Growth) -> Option<Remedy> {
    let peak = view.found.peaks().allocated?;
    let kept = kept_at(view, peak.at.event()?, growth.location.as_ref()?)?;
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
    let step = view.timeline.step(event)?;
    let blocks = view.live_after(event).filter_map(|(life, contents)| {
        let made = view.step_of(life)?;
        let here = view.own_line(life.stack).as_ref() == Some(line);
        (made < step && here && !stays(contents)).then_some(life.block())
    });
    Some(blocks.sum())
}
