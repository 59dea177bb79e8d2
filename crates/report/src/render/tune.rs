//! The sentences of `tune` that the formats share.

use super::verdict::made_up;
use crate::tune::{Setting, TuneReport, TunedTrace};

/// The answer in one sentence. No full stop.
pub(super) fn headline(report: &TuneReport) -> String {
    format!("{}{}", answer(report), made_up(&report.made_up_data))
}

fn answer(report: &TuneReport) -> String {
    let current = &report.current;
    let Some(recommended) = &report.recommended else { return nothing(report) };
    let setting = &recommended.setting;
    if current.oom {
        return format!(
            "with {} it gets through, with {} reserved; now it runs out",
            named(&setting.conf),
            setting.reserved_bytes
        );
    }
    let saved = recommended.saved_bytes;
    if setting.reserved_bytes == current.reserved_bytes {
        let (name, reserved) = (named(&setting.conf), setting.reserved_bytes);
        return format!(
            "with {name} {reserved} are reserved as now, with {} retries in place of {}",
            setting.retries, current.retries
        );
    }
    format!("with {} {} are reserved, {saved} less than now", named(&setting.conf), setting.reserved_bytes)
}

/// The reason for no recommendation.
fn nothing(report: &TuneReport) -> String {
    let over = report.device.as_ref().filter(|device| report.limit_bytes > device.usable_bytes);
    match (over, report.current.oom) {
        (Some(device), _) => format!(
            "no setting helps: {} are alive at once, more than the {} that PyTorch can have",
            report.limit_bytes, device.usable_bytes
        ),
        (None, true) => "it runs out under every setting that was replayed".to_owned(),
        (None, false) => {
            format!(
                "no setting is worth it: {} reserved, and no allocator could save more than {} of it",
                report.current.reserved_bytes, report.savable_bytes
            )
        }
    }
}

/// The setting as text; words for the defaults.
pub(super) fn named(conf: &str) -> &str {
    if conf.is_empty() { "default settings" } else { conf }
}

/// `12 cudaMalloc, 3 cudaFree, 1.5 ms`.
pub(super) fn price(setting: &Setting) -> String {
    let calls = &setting.calls;
    let kinds = [
        (calls.cuda_malloc, "cudaMalloc"),
        (calls.cuda_free, "cudaFree"),
        (calls.pages_mapped, "pages mapped"),
        (calls.pages_unmapped, "unmapped"),
    ];
    let parts = kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let parts: Vec<String> = parts.chain([time(setting.cost_us)]).collect();
    parts.join(", ")
}

/// `900 us`, `1.5 ms`, `2.3 s`.
fn time(us: u64) -> String {
    match us {
        0..1000 => format!("{us} us"),
        1000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

/// The agreement of the replay with the recording, as a sentence.
pub(super) fn standing_of(trace: &TunedTrace) -> String {
    let agreement = &trace.agreement;
    let done =
        format!("{} segment events and {} placements as recorded", agreement.segment_events, agreement.placements);
    let start = if trace.whole { "from its beginning" } else { "from a reconstructed state" };
    let (recorded, replayed) = (trace.recorded_reserved_bytes, trace.replayed_reserved_bytes);
    let peak = if recorded == replayed {
        String::new()
    } else {
        format!("; recorded are {recorded} reserved at most, replayed {replayed}")
    };
    match &agreement.difference {
        None => format!("{start}, all {done}{peak}"),
        Some(difference) => format!("{start}, {done}, then {difference}{peak}"),
    }
}
