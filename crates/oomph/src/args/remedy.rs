//! Remedies on the command line.

use report::{Change, ChangeError};

/// Parses a remedy with its settings, such as `autocast:dtype=bf16`, or with its first setting alone, such as `autocast=bf16`.
pub(super) fn parse_change(text: &str) -> Result<Change, String> {
    let change = match text.split_once('=') {
        Some((remedy, value)) if !remedy.contains(':') => with_value(remedy, value)?,
        _ => text.parse().map_err(|error: ChangeError| error.to_string())?,
    };
    let settings = remedies::find(&parse_remedy(&change.remedy)?).map_or(&[][..], |spec| spec.settings);
    if change.remedy == remedies::OWN_OPTIONS {
        // Its settings are the program's own.
        return Ok(change);
    }
    let Some(unknown) = change.settings.keys().find(|key| !settings.contains(&key.as_str())) else { return Ok(change) };
    let expected =
        if settings.is_empty() { "it has none".to_owned() } else { format!("expected {}", settings.join(" or ")) };
    Err(format!("`{}` has no setting `{unknown}`; {expected}", change.remedy))
}

/// Returns a remedy with its first setting. The value may hold colons, as settings of the allocator do.
fn with_value(remedy: &str, value: &str) -> Result<Change, String> {
    let settings = remedies::find(&parse_remedy(remedy)?).map_or(&[][..], |spec| spec.settings);
    let Some(key) = settings.first() else { return Err(format!("`{remedy}` has no setting to be `{value}`")) };
    let value = serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::from(value));
    Ok(Change::new(remedy).with(key, value))
}

/// Parses a remedy for a real run.
pub(super) fn parse_real_change(text: &str) -> Result<Change, String> {
    let change = parse_change(text)?;
    if change == Change::new(remedies::ALLOCATOR_SETTINGS) {
        return Err(format!("`{text}` has no value; expected one such as `{text}=expandable_segments:True`"));
    }
    if remedies::works_in_real_run(&change.remedy) {
        return Ok(change);
    }
    let names = remedies::TABLE.iter().map(|spec| spec.name).filter(|name| remedies::works_in_real_run(name));
    let all: Vec<&str> = names.collect();
    Err(format!("`{}` works in a dry run alone; expected one of {}", change.remedy, all.join(", ")))
}

/// Parses the name of a remedy.
pub(super) fn parse_remedy(text: &str) -> Result<String, String> {
    let known = || remedies::TABLE.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    remedies::find(text)
        .map(|spec| spec.name.to_owned())
        .ok_or_else(|| format!("there is no remedy `{text}`; expected one of {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_a_remedy_lacks_are_refused() {
        let cases = [
            ("autocast:dtype=bf16", None),
            ("batch-size:arg=--bs:size=8", None),
            ("autocast:dtyp=bf16", Some("`autocast` has no setting `dtyp`; expected dtype")),
            ("batch-size=8", None),
            ("allocator-settings=expandable_segments:True,max_split_size_mb:64", None),
            ("sdpa=3", Some("`sdpa` has no setting to be `3`")),
            ("sdpa:rank=8", Some("`sdpa` has no setting `rank`; it has none")),
            ("batch-size:sise=8", Some("`batch-size` has no setting `sise`; expected size or arg or probe")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_change(text).err().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_that_of_the_first_setting() {
        let cases = [
            ("autocast=bf16", "autocast:dtype=bf16"),
            ("gradient-accumulation=4", "gradient-accumulation:steps=4"),
            ("allocator-settings=a:1,b:2", "allocator-settings:conf=a:1,b:2"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_change(text).map(|change| change.to_string()), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_real_run_refuses_what_needs_a_phantom() {
        let is_refused = |text| parse_real_change(text).is_err_and(|error| error.contains("dry run alone"));
        let cases =
            [("fully-shard:gpus=2", true), ("bigger-gpu", true), ("sdpa", false), ("allocator-settings=a:1", false)];
        for (text, expected) in cases {
            assert_eq!(is_refused(text), expected, "{text}");
        }
    }
}
