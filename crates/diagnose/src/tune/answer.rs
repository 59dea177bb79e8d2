//! The recommendation among the replayed settings, and the reasons for it.

use allocator::{Rules, Tie};
use causes::CauseId;
use report::tune::{Agreement, Needs, Recommendation, Setting};
use report::{Evidence, Finding, Remedy, Severity, Standing, Value};
use trace::Bytes;

use super::Figures;
use super::case::TuneCase;
use super::conf::Conf;
use super::lines::{VARIABLE, write_lines};
use super::pareto::{Trial, choose};
use super::search::SettingSearch;
use super::traces::{Trace, has_history};
use super::trial::outcome;
use crate::explain::{ExplainInput, InputContents};
use crate::judge::made_up::list_made_up;

const SOURCE: &str = "replay of the recorded requests";

/// Returns the recommended setting; `None` if no setting is worth a change.
pub(super) fn recommendation(
    search: &SettingSearch<'_>,
    sorted: &[Trial],
    current: &Setting,
) -> Option<Recommendation> {
    let chosen = choose(sorted, current, |_| true).filter(|trial| is_worth_it(&trial.setting, current))?;
    let plain = choose(sorted, current, |conf| !conf.expandable).filter(|_| chosen.conf.expandable);
    let plain = plain.filter(|trial| is_worth_it(&trial.setting, current));
    let (standing, how) = standing(search, chosen);
    Some(Recommendation {
        saved_bytes: current.reserved_bytes.saturating_sub(chosen.setting.reserved_bytes),
        above_limit_bytes: chosen.setting.reserved_bytes.saturating_sub(search.limit),
        setting: chosen.setting.clone(),
        standing,
        how,
        variable: VARIABLE.into(),
        lines: write_lines(&chosen.setting.conf),
        without_expandable: plain.map(|trial| trial.setting.clone()),
        measured: None,
    })
}

/// Checks for a benefit: 1/100 of the reserved bytes, fewer retries in equal memory, or a run without an error.
fn is_worth_it(setting: &Setting, current: &Setting) -> bool {
    let saving = current.reserved_bytes.saturating_sub(setting.reserved_bytes);
    let is_calmer = setting.retries < current.retries && setting.reserved_bytes <= current.reserved_bytes;
    let is_smaller = saving > Bytes::ZERO && saving.0 >= current.reserved_bytes.0 / 100;
    current.oom && !setting.oom || is_smaller || is_calmer
}

/// Returns the standing of the recommendation. A replay counts as verified if the model reproduces the recording from
/// the program's start, and the unknown addresses of new segments make no difference.
fn standing(search: &SettingSearch<'_>, chosen: &Trial) -> (Standing, String) {
    let doubt =
        search.traces.iter().find_map(|trace| doubt(trace).or_else(|| depends_on_addresses(search, trace, chosen)));
    match doubt {
        None => (
            Standing::Verified,
            "replayed; under the recorded settings the replay did all that was recorded".to_owned(),
        ),
        Some(doubt) => (Standing::Estimated, format!("replayed, but {doubt}")),
    }
}

/// Returns the reason that a trace's replay proves nothing.
fn doubt(trace: &Trace<'_>) -> Option<String> {
    let (recorded, alive) = (trace.recorded_reserved(), trace.limit.0);
    if alive > recorded {
        return Some(format!(
            "{alive} are alive at once where only {recorded} were reserved: frees are missing from the history"
        ));
    }
    match (&trace.agreement, trace.program.is_whole()) {
        (Agreement { difference: Some(difference), .. }, _) => {
            Some(format!("under the recorded settings it differs from what was recorded ({difference})"))
        }
        (_, false) => {
            Some("the history starts after the program did: earlier allocations are assumed to come first".to_owned())
        }
        _ => None,
    }
}

/// Checks for a dependence on addresses: up to 2.11 the allocator takes the lowest address among equal blocks, and the
/// driver chooses the addresses of new segments. The check replays other orders.
fn depends_on_addresses(search: &SettingSearch<'_>, trace: &Trace<'_>, chosen: &Trial) -> Option<String> {
    let rules = trace.rules();
    let settings = search.settings(&chosen.setting.conf).filter(|_| rules.tie == Tie::Address)?;
    let reserved = |rules: Rules| {
        allocator::replay::replay(&trace.program, &settings, rules, search.stage.simulated()).peak_reserved_bytes()
    };
    let here = outcome(trace, &trace.program, &settings, search.stage).reserved_bytes;
    let others = [Tie::SegmentNumber, Tie::BlockNumber].map(|tie| reserved(Rules { tie, ..rules }));
    let most = others.into_iter().max().filter(|_| others.iter().any(|&other| other != here))?;
    Some(format!("equal blocks are chosen by address, which the driver decides: with other addresses it may be {most}"))
}

/// Returns the finding of a search, with its remedy.
pub(super) fn findings(
    figures: &Figures,
    recommended: Option<&Recommendation>,
    default: Option<&Setting>,
) -> Vec<Finding> {
    match recommended {
        Some(recommended) => vec![improvable(figures, recommended, default)],
        None if figures.current.oom => vec![unavoidable(figures)],
        None => Vec::new(),
    }
}

fn improvable(figures: &Figures, recommended: &Recommendation, default: Option<&Setting>) -> Finding {
    let Setting { reserved_bytes: now, .. } = figures.current;
    let then = recommended.setting.reserved_bytes;
    let harms = !figures.current.conf.is_empty() && default.is_some_and(|default| default.reserved_bytes < now);
    let rule = if harms { CauseId::AllocatorSettingHarmful } else { CauseId::Fragmentation };
    let end = if figures.current.oom { "it runs out" } else { "" };
    let message = match end {
        "" if then == now => format!("the allocator releases its cache {} times to make room", figures.current.retries),
        "" => {
            format!("the allocator reserves {now} for at most {} alive at once; {then} would do", figures.limit_bytes)
        }
        end => format!(
            "{end} under {}, and gets through under {}",
            name(&figures.current.conf),
            name(&recommended.setting.conf)
        ),
    };
    Finding {
        without: None,
        rule,
        severity: if figures.current.oom { Severity::Error } else { Severity::Warning },
        message,
        location: None,
        evidence: evidence(figures),
        remedies: vec![remedy(figures, recommended)],
    }
}

fn remedy(figures: &Figures, recommended: &Recommendation) -> Remedy {
    Remedy {
        remedy: match recommended.setting.conf.as_str() {
            "" => format!("remove {VARIABLE}"),
            conf => format!("set {VARIABLE}={conf}"),
        },
        standing: recommended.standing,
        before_bytes: Some(figures.current.reserved_bytes),
        after_bytes: Some(recommended.setting.reserved_bytes),
        how: recommended.how.clone(),
    }
}

fn evidence(figures: &Figures) -> Vec<Evidence> {
    let bytes = |what: &str, bytes: Bytes| Evidence {
        what: what.to_owned(),
        value: Value::Bytes(bytes),
        source: SOURCE.into(),
    };
    vec![
        bytes("reserved at most now", figures.current.reserved_bytes),
        bytes("most bytes alive at once", figures.limit_bytes),
    ]
}

/// Returns the finding that the program runs out under every setting.
fn unavoidable(figures: &Figures) -> Finding {
    let usable = figures.device.as_ref().map_or(Bytes::ZERO, |device| device.usable_bytes);
    let is_proven = figures.limit_bytes > usable;
    let message = if is_proven {
        format!(
            "no setting of any allocator helps: {} are alive at once, and PyTorch can have {usable} of the device",
            figures.limit_bytes
        )
    } else {
        format!("none of the {} replayed settings fits in {usable}", figures.search.replayed)
    };
    Finding {
        without: None,
        rule: CauseId::NeedExceedsDevice,
        severity: Severity::Error,
        message,
        location: None,
        evidence: evidence(figures),
        remedies: Vec::new(),
    }
}

/// Formats a setting for a sentence.
pub(super) fn name(conf: &str) -> &str {
    if conf.is_empty() { "the default settings" } else { conf }
}

/// Returns notes on the answer's limits, one sentence each.
pub(super) fn notes(
    case: &TuneCase,
    search: &SettingSearch<'_>,
    figures: &Figures,
    recommended: Option<&Recommendation>,
    needs: &Needs,
) -> Vec<String> {
    let traces = search.traces;
    let mut notes = Vec::new();
    for trace in traces {
        notes.extend(doubt(trace).map(|doubt| format!("{}: {doubt}; figures are approximate", place(trace, traces))));
    }
    for input in without_history(case) {
        notes.push(format!("`{input}` has no memory history, and was left out"));
    }
    if figures.search.interrupted {
        notes.push("the search was interrupted: this is the best of what was replayed until then".to_owned());
    }
    if let Some(at) = needs.contradicted_at {
        notes.push(format!("the least memory is uncertain: the outcome at {at} differs from that of its neighbours"));
    }
    if traces.iter().any(|trace| trace.oldest != trace.release) {
        let (oldest, newest) = (search.release(), &figures.torch);
        notes.push(format!(
            "the snapshot may be of PyTorch {oldest}: settings that only later versions know were not tried; it was replayed as \
             {newest}, and --torch names the version"
        ));
    }
    if search.stage.device.is_none() {
        notes.push(
            "garbage_collection_threshold acts only together with a fraction of a device: name one with --gpu or --vram to have it tried"
                .to_owned(),
        );
    }
    if traces.windows(2).any(|pair| pair[0].conf != pair[1].conf) {
        notes.push("the traces were recorded under different settings: \"now\" is each one's own".to_owned());
    }
    if recommended.is_some_and(|recommended| recommended.setting.conf.contains("expandable_segments:True")) {
        notes.push("PyTorch ignores expandable segments on Windows".to_owned());
    }
    notes
}

/// Returns the names of the data sets that the recorded runs made up, sorted.
pub(super) fn list_made_up_data(case: &TuneCase) -> Vec<String> {
    let runs = case.inputs.iter().filter_map(|input| match &input.contents {
        InputContents::Run(run, _) => Some(run),
        InputContents::Text(_) | InputContents::Snapshot(_) => None,
    });
    let mut names: Vec<String> = runs.flat_map(list_made_up).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the inputs without a replayable history; a run's log is exempt.
fn without_history(case: &TuneCase) -> impl Iterator<Item = &str> {
    let is_empty = |input: &&ExplainInput| match &input.contents {
        InputContents::Text(_) => false,
        InputContents::Snapshot(snapshot) => !has_history(snapshot),
        InputContents::Run(run, _) => {
            !run.processes.iter().filter_map(|process| process.snapshot.as_ref()).any(has_history)
        }
    };
    case.inputs.iter().filter(is_empty).map(|input| input.path.as_str())
}

fn place(trace: &Trace<'_>, traces: &[Trace<'_>]) -> String {
    if traces.len() == 1 {
        return "the replay".to_owned();
    }
    let rank = trace.rank.map_or_else(|| trace.path.to_owned(), |rank| format!("rank {rank}"));
    format!("{rank}, cuda:{}", trace.device.0)
}

/// Returns the default setting among the trials.
pub(super) fn of_default(trials: &[Trial]) -> Option<&Setting> {
    trials.iter().find(|trial| trial.conf == Conf::default()).map(|trial| &trial.setting)
}
