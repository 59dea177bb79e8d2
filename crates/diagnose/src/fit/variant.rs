//! A program with changes on a device: the input of a dry run.

use report::Change;
use trace::Bytes;

/// A program with changes, on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The changes.
    pub changes: Vec<Change>,
    /// The device's memory; `None` = without a limit.
    pub limit: Option<Bytes>,
    /// True to record the allocator's history.
    pub recorded: bool,
    /// True to count operators.
    pub counted: bool,
}

impl Variant {
    /// The changes without a limit: the run measures their need.
    pub fn need(changes: Vec<Change>) -> Variant {
        Variant { changes, limit: None, recorded: false, counted: false }
    }

    /// These changes on a device of `limit` bytes.
    pub fn within(changes: Vec<Change>, limit: Bytes) -> Variant {
        Variant { changes, limit: Some(limit), recorded: false, counted: false }
    }

    /// The changes without a limit, with counted operators and whole loops. Counting may change the memory a little: only the work and
    /// the backward passes are read.
    pub fn counted(changes: Vec<Change>) -> Variant {
        Variant { counted: true, ..Variant::need(changes) }
    }

    /// True for the unchanged program, which is at most asked for the setting of its batch size.
    pub fn is_unchanged(&self) -> bool {
        self.changes.iter().all(|change| change.settings.contains_key(remedies::setting::PROBE))
    }
}

/// The identity of a trial: its changes in order, the limit, and whether operators were counted. A recorded history does not change a result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrialKey {
    /// Each change with its settings, as text.
    changes: Vec<String>,
    limit: Option<Bytes>,
    is_counted: bool,
}

impl TrialKey {
    /// The key of a variant.
    pub(super) fn new(variant: &Variant) -> TrialKey {
        TrialKey { changes: texts(&variant.changes).collect(), limit: variant.limit, is_counted: variant.counted }
    }

    /// True if operators were counted.
    pub(super) fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// The device's memory.
    pub(super) fn limit(&self) -> Option<Bytes> {
        self.limit
    }

    /// True if several changes were made together.
    pub(super) fn is_set(&self) -> bool {
        self.changes.len() > 1
    }

    /// True if all of `changes` were made, and perhaps more.
    pub(super) fn has_all<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> bool {
        texts(changes).all(|change| self.changes.contains(&change))
    }
}

fn texts<'a>(changes: impl IntoIterator<Item = &'a Change>) -> impl Iterator<Item = String> {
    changes.into_iter().map(Change::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings of the allocator hold commas, and a limit belongs to no change.
    #[test]
    fn changes_are_told_apart_from_their_settings_and_the_limit() {
        let settings = Change::new("allocator-settings").with("conf", "expandable_segments:True,max_split_size_mb:64");
        let fused = Change::new("optimizer-fused");
        let check = |changes: &[&Change], limit, is_set, has_both| {
            let changes = changes.iter().map(|change| (*change).clone()).collect();
            let key = TrialKey::new(&Variant { limit, ..Variant::need(changes) });
            assert_eq!((key.is_set(), key.has_all([&settings, &fused])), (is_set, has_both), "{key:?}");
        };
        check(&[], None, false, false);
        check(&[&settings], None, false, false);
        check(&[&settings, &fused], None, true, true);
        check(&[&settings, &fused], Some(Bytes(1 << 30)), true, true);
        check(&[&fused, &settings], Some(Bytes(1 << 30)), true, true);
    }
}
