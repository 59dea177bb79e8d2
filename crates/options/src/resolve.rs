//! The setting of a program that a user means by a name: `batch` for `--batch-size`, `width` for `model.width`.

use serde_json::Value;

use crate::names::{Purpose, find_purpose};
use crate::values::to_text;
use crate::{Form, OwnOption, form_of, name_of};

/// The everyday names of purposes.
const EVERYDAY: [(&str, Purpose); 14] = [
    ("batch", Purpose::Batch),
    ("batch_size", Purpose::Batch),
    ("bs", Purpose::Batch),
    ("seq", Purpose::Length),
    ("seq_len", Purpose::Length),
    ("length", Purpose::Length),
    ("context", Purpose::Length),
    ("resolution", Purpose::Resolution),
    ("image_size", Purpose::Resolution),
    ("dtype", Purpose::Precision),
    ("precision", Purpose::Precision),
    ("accumulation", Purpose::Accumulation),
    ("accum", Purpose::Accumulation),
    ("checkpointing", Purpose::Checkpointing),
];

/// Returns the purpose that a name of everyday speech stands for.
pub fn purpose_of(name: &str) -> Option<Purpose> {
    let plain = plain(name);
    EVERYDAY.iter().find(|(everyday, _)| *everyday == plain).map(|(_, purpose)| *purpose)
}

/// Returns the key of the setting that `name` means; `None` if the program has no such setting. Keys of files, variables, and options of a
/// program with an unknown parser are taken as written.
pub fn resolve(name: &str, own: &[OwnOption]) -> Option<String> {
    let has_parser = own.iter().any(|option| form_of(&option.key) == Form::Option);
    let equal = own.iter().find(|option| plain(name_of(&option.key)) == plain(name_of(name)));
    match form_of(name) {
        Form::File | Form::Variable => return Some(name.to_owned()),
        Form::Option => {
            return equal.map(|option| option.key.clone()).or_else(|| (!has_parser).then(|| name.to_owned()));
        }
        Form::Override if name.starts_with('-') => return Some(name.to_owned()),
        Form::Override => {}
    }
    let is_tail =
        |option: &&OwnOption| name_of(&option.key).rsplit('.').next().is_some_and(|tail| plain(tail) == plain(name));
    let found = equal.or_else(|| own.iter().find(is_tail)).or_else(|| by_purpose(name, own));
    let is_override = || name.contains('.') || own.iter().any(|option| is_plain_override(&option.key));
    found.map(|option| option.key.clone()).or_else(|| is_override().then(|| name.to_owned()))
}

/// Returns the option with the purpose of an everyday name, the likeliest.
fn by_purpose<'a>(name: &str, own: &'a [OwnOption]) -> Option<&'a OwnOption> {
    let wanted = purpose_of(name)?;
    let ranked = own.iter().filter_map(|option| find_purpose(option).map(|(purpose, rank)| (purpose, rank, option)));
    ranked.filter(|(purpose, ..)| *purpose == wanted).min_by_key(|(_, rank, _)| *rank).map(|(.., option)| option)
}

/// True for a word `KEY=VALUE`, as Hydra has them.
fn is_plain_override(key: &str) -> bool {
    form_of(key) == Form::Override && !key.starts_with('-')
}

/// True if the setting takes `value`, as far as the choices are known.
pub fn takes(option: &OwnOption, value: &Value) -> bool {
    option.choices.is_empty() || option.choices.contains(&to_text(value))
}

/// True for a flag that is off without a word.
pub fn is_off(option: &OwnOption, value: &Value) -> bool {
    form_of(&option.key) == Form::Option && option.value == Value::Bool(false) && *value == Value::Bool(false)
}

fn plain(name: &str) -> String {
    name.trim_start_matches('-').replace('-', "_").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(keys: &[(&str, Value)]) -> Vec<OwnOption> {
        let option = |(key, value): &(&str, Value)| OwnOption {
            key: (*key).to_owned(),
            value: value.clone(),
            ..OwnOption::default()
        };
        keys.iter().map(option).collect()
    }

    #[test]
    fn a_name_means_a_setting_of_the_program() {
        let parser =
            own(&[("--batch-size", 8.into()), ("--seq-len", 512.into()), ("--amp", false.into()), ("--seq", 1.into())]);
        let hydra = own(&[("train.batch", 8.into())]);
        let file = own(&[("c.yaml#train.micro_batch_size", 8.into())]);
        let check = |name: &str, own: &[OwnOption], expected: Option<&str>| {
            assert_eq!(resolve(name, own).as_deref(), expected, "{name}");
        };
        check("batch", &parser, Some("--batch-size"));
        check("batch_size", &parser, Some("--batch-size"));
        check("--batch_size", &parser, Some("--batch-size"));
        check("seq", &parser, Some("--seq"));
        check("length", &parser, Some("--seq-len"));
        check("amp", &parser, Some("--amp"));
        check("--depth", &parser, None);
        check("depth", &parser, None);
        check("$DEPTH", &parser, Some("$DEPTH"));
        check("c.yaml#depth", &parser, Some("c.yaml#depth"));
        check("batch", &hydra, Some("train.batch"));
        check("width", &hydra, Some("width"));
        check("batch", &file, Some("c.yaml#train.micro_batch_size"));
        check("model.width", &[], Some("model.width"));
        check("--depth", &[], Some("--depth"));
        check("depth", &[], None);
    }

    #[test]
    fn a_flag_that_is_off_needs_no_word() {
        let option = |value: Value| OwnOption { key: "--amp".to_owned(), value, ..OwnOption::default() };
        assert!(is_off(&option(false.into()), &false.into()));
        assert!(!is_off(&option(false.into()), &true.into()));
        assert!(!is_off(&option(true.into()), &false.into()));
        let chosen = OwnOption { choices: vec!["fp32".to_owned()], ..option("fp32".into()) };
        assert!(takes(&chosen, &"fp32".into()) && !takes(&chosen, &"fp64".into()));
    }
}
