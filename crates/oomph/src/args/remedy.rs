//! Remedies on the command line.

use report::{Change, ChangeError};

/// Parses a remedy with its settings, such as `autocast:dtype=bf16`.
pub(super) fn parse_change(text: &str) -> Result<Change, String> {
    let change: Change = text.parse().map_err(|error: ChangeError| error.to_string())?;
    let settings = remedies::find(&parse_remedy(&change.remedy)?).map_or(&[][..], |spec| spec.settings);
    let Some(unknown) = change.settings.keys().find(|key| !settings.contains(&key.as_str())) else { return Ok(change) };
    let expected =
        if settings.is_empty() { "it has none".to_owned() } else { format!("expected {}", settings.join(" or ")) };
    Err(format!("`{}` has no setting `{unknown}`; {expected}", change.remedy))
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
            ("sdpa:rank=8", Some("`sdpa` has no setting `rank`; it has none")),
            ("batch-size:sise=8", Some("`batch-size` has no setting `sise`; expected size or arg or probe")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_change(text).err().as_deref(), expected, "{text}");
        }
    }
}
