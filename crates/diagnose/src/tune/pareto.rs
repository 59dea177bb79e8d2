//! The order of settings: the best setting, and the Pareto front.

use report::tune::Setting;
use trace::Bytes;

use super::conf::Conf;

/// A replayed setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trial {
    pub(super) conf: Conf,
    pub(super) setting: Setting,
}

/// Marks costly trials: more retries than now, or more time in calls than `allowance_us`. If the program runs out now,
/// retries are acceptable.
pub(super) fn judge(trials: &mut [Trial], current: &Setting, allowance_us: u64) {
    for Trial { setting, .. } in trials {
        let flushes = !current.oom && setting.retries > current.retries;
        setting.too_costly = flushes || setting.cost_us > allowance_us;
    }
}

/// Sorts the best trial first: by success, acceptable cost, least memory, least time in calls, fewest keys. If the
/// program runs out now, success without a retry precedes memory: the device has no spare memory.
pub(super) fn sort(trials: &mut [Trial], current: &Setting) {
    let key = |Trial { conf, setting }: &Trial| {
        let retries = if current.oom { setting.retries } else { 0 };
        let amount = (setting.reserved_bytes, setting.cost_us);
        (setting.oom, setting.too_costly, retries, amount, conf.keys(), conf.text().len())
    };
    trials.sort_by_key(key);
}

/// Returns the setting to recommend among `sorted` trials. A further key must save more than 1/100 of the total
/// saving.
///
/// A memory fraction is never recommended: it turns the first byte beyond the recording into an error.
pub(super) fn choose<'a>(sorted: &'a [Trial], current: &Setting, takes: impl Fn(&Conf) -> bool) -> Option<&'a Trial> {
    let is_possible = |trial: &&Trial| {
        !trial.setting.oom && !trial.setting.too_costly && trial.conf.collection.is_none() && takes(&trial.conf)
    };
    let best = sorted.iter().find(is_possible)?;
    let saving = current.reserved_bytes.saturating_sub(best.setting.reserved_bytes);
    // A program that runs out now reserved little before the error.
    let gain = if current.oom { best.setting.reserved_bytes } else { saving };
    let enough = best.setting.reserved_bytes + Bytes(gain.0 / 100);
    let is_near = |setting: &Setting| setting.reserved_bytes <= enough && setting.retries <= best.setting.retries;
    let near = sorted.iter().filter(is_possible).filter(|trial| is_near(&trial.setting));
    near.min_by_key(|trial| trial.conf.keys())
}

/// Returns the settings that no other setting beats in both memory and time and that reserve no more than now, least
/// time first.
pub(super) fn front(trials: &[Trial], current: &Setting) -> Vec<Setting> {
    let is_gain = |setting: &Setting| current.oom || setting.reserved_bytes <= current.reserved_bytes;
    let mut settings: Vec<&Trial> =
        trials.iter().filter(|trial| !trial.setting.oom && is_gain(&trial.setting)).collect();
    settings.sort_by_key(|trial| (trial.setting.cost_us, trial.setting.reserved_bytes, trial.conf.keys()));
    let mut front: Vec<Setting> = Vec::new();
    for Trial { setting, .. } in settings {
        if front.last().is_none_or(|last| setting.reserved_bytes < last.reserved_bytes) {
            front.push(setting.clone());
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::super::conf::Collection;
    use super::*;

    /// Returns a trial with this `max_split_size_mb`, memory and time.
    fn trial(name: u64, reserved: u64, cost_us: u64) -> Trial {
        let conf = Conf { max_split_mb: Some(name), ..Conf::default() };
        let setting =
            Setting { conf: name.to_string(), reserved_bytes: Bytes(reserved), cost_us, ..Setting::default() };
        Trial { conf, setting }
    }

    fn names<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Vec<String> {
        settings.into_iter().map(|setting| setting.conf.clone()).collect()
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        type Case<'a> = (&'a [(u64, u64, u64)], &'a [&'a str]);
        let cases: [Case<'_>; 5] = [
            (&[], &[]),
            (&[(1, 10, 10)], &["1"]),
            (&[(1, 10, 10), (2, 20, 20)], &["1"]),
            (&[(1, 10, 30), (2, 20, 20), (3, 30, 10), (4, 25, 25)], &["3", "2", "1"]),
            (&[(1, 10, 10), (2, 10, 10), (3, 10, 5)], &["3"]),
        ];
        for (trials, expected) in cases {
            let trials: Vec<Trial> = trials.iter().map(|&(name, reserved, cost)| trial(name, reserved, cost)).collect();
            let now = Setting { reserved_bytes: Bytes(99), ..Setting::default() };
            assert_eq!(names(&front(&trials, &now)), expected, "{trials:?}");
        }
    }

    #[test]
    fn what_runs_out_is_not_on_the_front() {
        let mut trials = [trial(1, 5, 5), trial(2, 10, 10)];
        trials[0].setting.oom = true;
        let now = Setting { reserved_bytes: Bytes(10), ..Setting::default() };
        assert_eq!(names(&front(&trials, &now)), ["2"]);
        assert_eq!(names(&front(&[trial(1, 11, 1), trial(2, 10, 10)], &now)), ["2"]);
    }

    #[test]
    fn what_runs_out_comes_last_and_before_it_what_costs_too_much() {
        let mut trials = vec![trial(1, 1, 0), trial(2, 2, 999), trial(3, 3, 1), trial(4, 3, 0), trial(5, 4, 0)];
        trials[0].setting.oom = true;
        judge(&mut trials, &Setting::default(), 100);
        sort(&mut trials, &Setting::default());
        assert_eq!(names(trials.iter().map(|trial| &trial.setting)), ["4", "3", "5", "2", "1"]);
    }

    #[test]
    fn where_it_runs_out_now_retries_come_before_memory() {
        for (oom, expected) in [(false, ["1", "2"]), (true, ["2", "1"])] {
            let mut trials = [trial(1, 1, 1000), trial(2, 2, 0)];
            trials[0].setting.retries = 1;
            sort(&mut trials, &Setting { oom, ..Setting::default() });
            assert_eq!(names(trials.iter().map(|trial| &trial.setting)), expected, "{oom}");
        }
    }

    #[test]
    fn more_retries_are_too_many_unless_it_runs_out_now() {
        for (oom, too_costly) in [(false, true), (true, false)] {
            let mut trials = [trial(1, 1, 0)];
            trials[0].setting.retries = 1;
            judge(&mut trials, &Setting { oom, ..Setting::default() }, 100);
            assert_eq!(trials[0].setting.too_costly, too_costly, "{oom}");
        }
    }

    #[test]
    fn the_simplest_of_those_that_are_near_is_chosen() {
        let current = Setting { reserved_bytes: Bytes(1100), ..Setting::default() };
        let two = Trial { conf: Conf { expandable: true, ..trial(2, 0, 0).conf }, ..trial(2, 100, 0) };
        let cases = [
            // A saving of 1000 bytes: 10 bytes justify no further key, 11 bytes do.
            (vec![two.clone(), trial(1, 110, 0)], Some("1")),
            (vec![two.clone(), trial(1, 111, 0)], Some("2")),
            (vec![], None),
        ];
        for (trials, expected) in cases {
            let chosen = choose(&trials, &current, |_| true).map(|trial| trial.setting.conf.as_str());
            assert_eq!(chosen, expected, "{trials:?}");
        }
        let plain = choose(&[two, trial(1, 1000, 0)], &current, |conf| !conf.expandable).map(|trial| trial.conf.keys());
        assert_eq!(plain, Some(1));
    }

    #[test]
    fn a_key_less_is_not_worth_a_retry() {
        let current = Setting { reserved_bytes: Bytes(100), retries: 2, ..Setting::default() };
        let retrying = Trial { setting: current.clone(), conf: Conf::default() };
        let trials = [trial(1, 100, 0), retrying];
        assert_eq!(choose(&trials, &current, |_| true), Some(&trials[0]));
    }

    #[test]
    fn a_fraction_is_never_chosen() {
        let collection = Some(Collection { threshold: 80, fraction: 50 });
        let limited = Trial { conf: Conf { collection, ..Conf::default() }, ..trial(1, 1, 0) };
        assert_eq!(choose(&[limited], &Setting::default(), |_| true), None);
    }
}
