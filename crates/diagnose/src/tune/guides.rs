//! The effect of popular recommendations on this program.

use allocator::settings::Settings;
use report::tune::{Effect, Guide, Setting};
use trace::Bytes;

use super::search::SettingSearch;

/// Settings that guides, forums and PyTorch's own message recommend.
const GUIDED: [&str; 15] = [
    "expandable_segments:True",
    "max_split_size_mb:21",
    "max_split_size_mb:32",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "max_split_size_mb:1024",
    "max_split_size_mb:2048",
    "garbage_collection_threshold:0.8",
    "garbage_collection_threshold:0.6,max_split_size_mb:128",
    "expandable_segments:True,max_split_size_mb:128",
    "roundup_power2_divisions:16",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "expandable_segments:True,roundup_power2_divisions:16",
];

/// Returns each guide's setting beside the current settings; after an interrupted search, only the replayed ones.
pub(super) fn guides(search: &SettingSearch<'_>, current: &Setting) -> Vec<Guide> {
    let is_wanted = |text: &&&str| !search.done().interrupted || known(search, text).is_some();
    GUIDED.iter().filter(is_wanted).map(|text| guide(search, current, text)).collect()
}

fn known(search: &SettingSearch<'_>, text: &str) -> Option<Setting> {
    search.trials.iter().find(|trial| trial.setting.conf == text).map(|trial| trial.setting.clone())
}

fn guide(search: &SettingSearch<'_>, current: &Setting, text: &str) -> Guide {
    match Settings::parse(text, search.release()) {
        Err(error) => refused(text, error.to_string()),
        Ok(settings) if settings.expandable_segments && search.on_windows() => {
            refused(text, "PyTorch ignores expandable_segments on Windows, where this was recorded".to_owned())
        }
        Ok(settings) => {
            let setting = known(search, text).unwrap_or_else(|| search.replay(text, &settings));
            let (effect, change_bytes) = (effect(&setting, current), change(&setting, current));
            Guide { setting, change_bytes, effect, refused: None }
        }
    }
}

fn refused(text: &str, reason: String) -> Guide {
    let setting = Setting { conf: text.to_owned(), ..Setting::default() };
    Guide { setting, change_bytes: 0, effect: Effect::Refused, refused: Some(reason) }
}

/// Compares by memory; equal memory is compared by retries.
fn effect(setting: &Setting, current: &Setting) -> Effect {
    let amount = |setting: &Setting| (setting.reserved_bytes, setting.retries);
    match amount(setting).cmp(&amount(current)) {
        _ if setting.oom && !current.oom => Effect::RunsOut,
        _ if current.oom && !setting.oom => Effect::Better,
        std::cmp::Ordering::Less => Effect::Better,
        std::cmp::Ordering::Equal => Effect::Same,
        std::cmp::Ordering::Greater => Effect::Worse,
    }
}

fn change(setting: &Setting, current: &Setting) -> i64 {
    let signed = |Bytes(bytes)| i64::try_from(bytes).unwrap_or(i64::MAX);
    signed(setting.reserved_bytes) - signed(current.reserved_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_a_word_and_a_difference() {
        let setting = |reserved, oom| Setting { reserved_bytes: Bytes(reserved), oom, ..Setting::default() };
        let cases = [
            (setting(9, false), setting(10, false), Effect::Better, -1),
            (setting(10, false), setting(10, false), Effect::Same, 0),
            (setting(12, false), setting(10, false), Effect::Worse, 2),
            (setting(5, true), setting(10, false), Effect::RunsOut, -5),
            (setting(12, false), setting(10, true), Effect::Better, 2),
            (setting(10, true), setting(10, true), Effect::Same, 0),
            (Setting { retries: 1, ..setting(10, false) }, setting(10, false), Effect::Worse, 0),
            (setting(10, false), Setting { retries: 1, ..setting(10, false) }, Effect::Better, 0),
        ];
        for (one, current, word, bytes) in cases {
            assert_eq!((effect(&one, &current), change(&one, &current)), (word, bytes), "{one:?} {current:?}");
        }
    }
}
