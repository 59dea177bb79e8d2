//! The remedies that `fit` may combine, with what each does to results and time. How one is applied is the agent's business
//! (Note `[Remedies]` in `python/oomph/agent/remedies`); what it does in words, its page's (`docs/remedies`).

use report::Change;
use report::fit::Exactness;

/// One remedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its stable name.
    pub name: &'static str,
    /// What it does to the results.
    pub exactness: Exactness,
    /// Of the remedies of one group a plan has at most one.
    group: &'static str,
    /// Its options with the typical time of a step, as a multiple of the unchanged program's; the cheapest first. An empty text
    /// is the remedy without settings.
    options: &'static [(&'static str, f64)],
    /// When it is tried.
    pub choice: Choice,
    /// The names of its settings.
    pub settings: &'static [&'static str],
    /// The remedy without which it does nothing where the program trains.
    pub(super) partner: Option<&'static str>,
    /// Whether it is nothing by half: one rejection takes back what was applied before.
    pub(super) is_whole: bool,
    /// Whether PyTorch takes it from the environment: the agent notes nothing of it.
    pub(super) is_of_environment: bool,
}

/// When a remedy is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Unless it is denied.
    Default,
    /// Only where it is allowed by name: it changes what is trained, or needs more than this machine.
    Asked,
    /// To show that it does nothing; it is part of no plan.
    Folklore,
}

/// An option of a remedy: what may become part of a plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choosable {
    pub(super) change: Change,
    pub(super) entry: &'static Entry,
    /// The typical time of a step, as a multiple.
    pub(super) time_ratio: f64,
}

impl Choosable {
    /// Of one group a plan has at most one.
    pub(super) fn group(&self) -> &'static str {
        self.entry.group
    }
}

use Choice::{Asked, Default as Usual, Folklore};
use Exactness::{Identical, OtherModel, OtherNumerics, UpToRounding};

const fn entry_of(
    name: &'static str,
    exactness: Exactness,
    group: &'static str,
    choice: Choice,
    options: &'static [(&'static str, f64)],
) -> Entry {
    let settings = &[];
    Entry {
        name,
        exactness,
        group,
        options,
        choice,
        settings,
        partner: None,
        is_whole: false,
        is_of_environment: false,
    }
}

/// The remedy whose best option a replay finds.
const SETTINGS: &str = "allocator-settings";

const ENTRIES: &[Entry] = &[
    entry_of(SETTINGS, Identical, "allocator", Usual, &[("conf=expandable_segments%True", 1.0)])
        .with(&["conf"])
        .of_environment(),
    entry_of("set-to-none", Identical, "set-to-none", Usual, &[("", 1.0)]).with(&["place"]),
    entry_of("no-grad-in-eval", Identical, "no-grad-in-eval", Usual, &[("", 0.98)]).whole(),
    entry_of("inplace-activations", Identical, "inplace-activations", Usual, &[("", 0.99)]),
    entry_of("optimizer-fused", UpToRounding, "optimizer", Usual, &[("", 0.98)]),
    entry_of("optimizer-foreach-off", Identical, "optimizer", Usual, &[("", 1.03)]),
    entry_of("sdpa", UpToRounding, "attention", Usual, &[("", 0.9)]),
    entry_of("chunked-cross-entropy", UpToRounding, "loss", Usual, &[("chunks=8", 1.03), ("chunks=32", 1.05)])
        .with(&["chunks"]),
    entry_of(
        "gradient-accumulation",
        UpToRounding,
        "accumulation",
        Usual,
        &[
            ("steps=2", 1.02),
            ("steps=4", 1.04),
            ("steps=8", 1.07),
            ("steps=16", 1.12),
            ("steps=32", 1.2),
            ("steps=64", 1.3),
        ],
    )
    .with(&["steps"])
    .whole(),
    entry_of("activation-checkpointing", Identical, "checkpointing", Usual, &[("", 1.33)]).with(&["blocks"]),
    entry_of("optimizer-offload", UpToRounding, "optimizer", Usual, &[("", 1.6)]).whole(),
    entry_of("activation-offload", Identical, "checkpointing", Usual, &[("", 1.8)]),
    entry_of("autocast", OtherNumerics, "precision", Usual, &[("dtype=bf16", 0.6)]).with(&["dtype"]),
    entry_of("optimizer-8bit", OtherNumerics, "optimizer", Usual, &[("", 1.0)]),
    entry_of("optimizer-paged", OtherNumerics, "optimizer", Usual, &[("", 1.1)]).with(&["bits"]),
    entry_of("optimizer-adafactor", OtherNumerics, "optimizer", Usual, &[("", 1.05)]),
    entry_of("lora", OtherModel, "lora", Usual, &[("rank=16", 0.8)]).with(&["rank"]),
    entry_of("weights-8bit", OtherModel, "weights", Usual, &[("", 1.2)]).beside("lora"),
    entry_of("weights-4bit", OtherModel, "weights", Usual, &[("", 1.2)]).beside("lora"),
    entry_of("weights-offload", Identical, "weights", Usual, &[("", 3.0)]),
    entry_of("fully-shard", UpToRounding, "fully-shard", Asked, &[("gpus=2", 1.1), ("gpus=4", 1.1), ("gpus=8", 1.1)])
        .with(&["gpus"]),
    entry_of("sequence-length", OtherModel, "sequence-length", Asked, &[]).with(&["length", "arg", "probe"]),
    entry_of("resolution", OtherModel, "resolution", Asked, &[]).with(&["size", "arg", "probe"]),
    entry_of("batch-size", OtherModel, "batch-size", Asked, &[]).with(&["size", "arg", "probe"]),
    entry_of("empty-cache", Identical, "empty-cache", Folklore, &[("", 1.0)]),
    entry_of("gc-collect", Identical, "gc-collect", Folklore, &[("", 1.0)]),
    entry_of("num-workers", Identical, "num-workers", Folklore, &[("", 1.0)]).with(&["n"]),
    entry_of("pin-memory", Identical, "pin-memory", Folklore, &[("", 1.0)]).with(&["on"]),
    entry_of("bigger-gpu", Identical, "bigger-gpu", Asked, &[]),
];

/// Every remedy, the cheapest kinds first.
pub fn catalogue() -> &'static [Entry] {
    ENTRIES
}

/// The remedy of that name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    const fn with(self, settings: &'static [&'static str]) -> Entry {
        Entry { settings, ..self }
    }

    const fn beside(self, partner: &'static str) -> Entry {
        Entry { partner: Some(partner), ..self }
    }

    const fn whole(self) -> Entry {
        Entry { is_whole: true, ..self }
    }

    const fn of_environment(self) -> Entry {
        Entry { is_of_environment: true, ..self }
    }

    /// Its options for a program with batches of `batch` samples for which the allocator settings `found` were recommended, as far
    /// as that is known.
    pub(super) fn choosable(&'static self, batch: Option<u64>, found: Option<&str>) -> Vec<Choosable> {
        let all = self.options.iter().map(|(settings, time_ratio)| (change(self.name, settings), *time_ratio));
        let found = found.filter(|_| self.name == SETTINGS).map(|conf| (Change::new(SETTINGS).with("conf", conf), 1.0));
        let mut options: Vec<Choosable> = Vec::new();
        for (change, time_ratio) in all.chain(found).filter(|(change, _)| divides(change, batch)) {
            if options.iter().all(|option| option.change != change) {
                options.push(Choosable { change, entry: self, time_ratio });
            }
        }
        options
    }
}

/// A change from a text such as `steps=2`; a `%` stands for a colon within a value.
fn change(name: &str, settings: &str) -> Change {
    let pairs = settings.split(':').filter_map(|pair| pair.split_once('='));
    pairs.fold(Change::new(name), |change, (key, value)| match value.parse::<u64>() {
        Ok(number) => change.with(key, number),
        Err(_) => change.with(key, value.replace('%', ":")),
    })
}

/// Whether micro-batches of equal size make up the batch.
fn divides(change: &Change, batch: Option<u64>) -> bool {
    let steps = change.settings.get("steps").and_then(serde_json::Value::as_u64);
    steps.zip(batch).is_none_or(|(steps, batch)| batch.is_multiple_of(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_changes() {
        let check = |name: &str, batch, expected: &[&str]| {
            let found = Some("max_split_size_mb:64");
            let options = entry(name).map(|entry| entry.choosable(batch, found)).unwrap_or_default();
            let shown: Vec<String> = options.iter().map(|option| option.change.to_string()).collect();
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

    #[test]
    fn entries_agree_with_each_other() {
        for one in ENTRIES {
            let partner = one.partner.and_then(entry);
            assert_eq!(partner.is_some(), one.partner.is_some(), "{}: there is no such partner", one.name);
            for option in one.choosable(None, None) {
                let unknown = option.change.settings.keys().find(|key| !one.settings.contains(&key.as_str()));
                assert_eq!(unknown, None, "{} has no such setting", one.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENTRIES.len());
    }
}
