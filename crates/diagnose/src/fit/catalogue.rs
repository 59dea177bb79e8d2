//! The options that `fit` may combine: those of the table of remedies, as changes to a program.

use options::Purpose;
use remedies::{ALLOCATOR_SETTINGS, Exactness, OWN_OPTIONS, RemedySpec, SettingValue, StandardOption};
use report::Change;

/// An option of a remedy: what may become part of a plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choosable {
    pub(super) change: Change,
    /// The remedy; for an option of the program's own, the remedy for the same purpose.
    pub(super) spec: &'static RemedySpec,
    /// A plan has at most one option of a group.
    pub(super) group: &'static str,
    /// The typical time of a step, as a multiple.
    pub(super) time_ratio: f64,
    /// The part of the batch, length or side that is left: one in so many.
    pub(super) factor: f64,
    /// True if results change here by more than rounding, although the remedy in general changes none.
    pub(super) alters: bool,
    /// The purpose of a size or of an option of the program's own.
    pub(super) purpose: Option<Purpose>,
}

impl Choosable {
    /// True for an option of the program's own: no source is edited.
    pub(super) fn is_own(&self) -> bool {
        self.change.remedy == OWN_OPTIONS
    }

    /// The effect on the results.
    pub(super) fn exactness(&self) -> Exactness {
        self.spec.exactness.max(if self.alters { Exactness::OtherNumerics } else { Exactness::Identical })
    }
}

/// A remedy's options for a program with batches of `batch` samples, and the allocator settings that a replay recommends for it, as far
/// as both are known.
pub(super) fn options(spec: &'static RemedySpec, batch: Option<u64>, recommended: Option<&str>) -> Vec<Choosable> {
    let all = spec.options.iter().map(|option| (change(spec.name, option), option.time_ratio));
    let found = recommended.filter(|_| spec.name == ALLOCATOR_SETTINGS);
    let found = found.map(|conf| (Change::new(ALLOCATOR_SETTINGS).with(remedies::setting::CONF, conf), 1.0));
    let mut options: Vec<Choosable> = Vec::new();
    for (change, time_ratio) in all.chain(found).filter(|(change, _)| divides(change, batch)) {
        if options.iter().all(|option| option.change != change) {
            let factor = parts_of(&change);
            options.push(Choosable {
                change,
                spec,
                group: spec.group,
                time_ratio,
                factor,
                alters: false,
                purpose: None,
            });
        }
    }
    options
}

/// The number of parts of a batch.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn parts_of(change: &Change) -> f64 {
    change.settings.get(remedies::setting::STEPS).and_then(serde_json::Value::as_u64).unwrap_or(1) as f64
}

fn change(name: &str, option: &StandardOption) -> Change {
    match option.setting {
        None => Change::new(name),
        Some((key, SettingValue::Number(number))) => Change::new(name).with(key, number),
        Some((key, SettingValue::Text(text))) => Change::new(name).with(key, text),
    }
}

/// True if micro-batches of equal size make up the batch.
fn divides(change: &Change, batch: Option<u64>) -> bool {
    let steps = change.settings.get(remedies::setting::STEPS).and_then(serde_json::Value::as_u64);
    steps.zip(batch).is_none_or(|(steps, batch)| batch.is_multiple_of(steps))
}

#[cfg(test)]
mod tests {
    use remedies::find;

    use super::*;

    #[test]
    fn options_become_changes() {
        let check = |name: &str, batch, expected: &[&str]| {
            let recommended = Some("max_split_size_mb:64");
            let found = find(name).map(|spec| options(spec, batch, recommended)).unwrap_or_default();
            let shown: Vec<String> = found.iter().map(|option| option.change.to_string()).collect();
            assert_eq!(shown, expected, "{name} at {batch:?}");
        };
        check("optimizer-fused", None, &["optimizer-fused"]);
        check("autocast", None, &["autocast:dtype=bf16"]);
        check(
            "allocator-settings",
            None,
            &["allocator-settings:conf=expandable_segments:True", "allocator-settings:conf=max_split_size_mb:64"],
        );
        check("gradient-accumulation", Some(12), &["gradient-accumulation:steps=2", "gradient-accumulation:steps=4"]);
        check("gradient-accumulation", Some(7), &[]);
    }
}
