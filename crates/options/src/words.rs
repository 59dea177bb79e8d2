//! Options as words of a command line.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde_json::Value;

use crate::values::{of_text, to_text};
use crate::{Form, OwnOption, form_of, name_of};

/// Returns the command line with the options and overrides of `settings`; keys of other forms are left out.
pub fn change_command(command: &[OsString], settings: &BTreeMap<String, Value>) -> Vec<OsString> {
    let mut words = command.to_vec();
    for (key, value) in settings {
        match form_of(key) {
            Form::Option => set_option(&mut words, key, value),
            Form::Override => set_override(&mut words, name_of(key), value),
            Form::File | Form::Variable => {}
        }
    }
    words
}

/// Returns the first of `spellings` that the command line has; `None` if it has none of them.
pub fn spelling_in<'a>(command: &[OsString], spellings: &'a [String]) -> Option<&'a String> {
    spellings.iter().find(|spelling| find_option(command, spelling).is_some())
}

/// Lists the options and overrides that the command line itself sets.
pub fn list_in_words(command: &[OsString]) -> Vec<OwnOption> {
    let words: Vec<&str> = command.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
    let named = words.iter().enumerate().filter_map(|(at, word)| {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, of_text(value)),
            None => (*word, of_text(words.get(at + 1).filter(|next| word.starts_with('-') && !is_option(next))?)),
        };
        let is_key = is_option(key) || (word.contains('=') && is_dotted(key));
        is_key.then(|| OwnOption { key: key.trim_start_matches('+').to_owned(), value, ..OwnOption::default() })
    });
    named.collect()
}

/// True for `--name` and `-n`, not for a negative number.
fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// True for `train.batch`, `+train.batch`: a key of an override, no path and no address.
fn is_dotted(key: &str) -> bool {
    let name = key.trim_start_matches('+');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

fn set_option(words: &mut Vec<OsString>, key: &str, value: &Value) {
    let is_flag = *value == Value::Bool(true);
    if let Some(at) = find_opposite(words, key).filter(|_| is_flag) {
        words[at] = OsString::from(key);
        return;
    }
    let text = to_text(value);
    match find_option(words, key) {
        Some(_) if is_flag => {}
        Some(WordPlace::Joined(at)) => {
            let spelled = spelled(&words[at]).unwrap_or(key).to_owned();
            words[at] = OsString::from(format!("{spelled}={text}"));
        }
        Some(WordPlace::Apart(at)) => words[at + 1] = OsString::from(text),
        None => {
            let new = if is_flag { vec![key.to_owned()] } else { vec![key.to_owned(), text] };
            let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
            words.splice(end..end, new.into_iter().map(OsString::from));
        }
    }
}

/// Finds the flag that says the opposite: `--no-amp` of `--amp`.
fn find_opposite(words: &[OsString], key: &str) -> Option<usize> {
    let name = key.trim_start_matches('-');
    words.iter().position(|word| word.to_str().is_some_and(|word| is_same(word, &format!("--no-{name}"))))
}

/// The place of an option among the words.
enum WordPlace {
    /// `--name=value`, or a flag alone at the end.
    Joined(usize),
    /// `--name value`.
    Apart(usize),
}

/// Finds the last place of an option, in any spelling with hyphens and underscores.
fn find_option(words: &[OsString], key: &str) -> Option<WordPlace> {
    let at = words.iter().rposition(|word| spelled(word).is_some_and(|spelled| is_same(spelled, key)))?;
    let is_joined = words[at].to_str().is_some_and(|word| word.contains('=')) || at + 1 == words.len();
    Some(if is_joined { WordPlace::Joined(at) } else { WordPlace::Apart(at) })
}

fn spelled(word: &OsStr) -> Option<&str> {
    let word = word.to_str()?;
    let key = word.split_once('=').map_or(word, |(key, _)| key);
    is_option(key).then_some(key)
}

fn is_same(one: &str, other: &str) -> bool {
    one.replace('_', "-") == other.replace('_', "-")
}

fn set_override(words: &mut Vec<OsString>, key: &str, value: &Value) {
    let text = to_text(value);
    let is_key = |word: &OsString| {
        let key_of = word.to_str().and_then(|word| word.split_once('='));
        key_of.is_some_and(|(name, _)| name.trim_start_matches('+') == key)
    };
    match words.iter().rposition(is_key) {
        Some(at) => {
            let name = words[at].to_str().and_then(|word| word.split_once('=')).map_or(key, |(name, _)| name);
            words[at] = OsString::from(format!("{name}={text}"));
        }
        None => words.push(OsString::from(format!("{key}={text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn an_option_is_set_in_its_place_or_at_the_end() {
        let check = |before: &str, key: &str, value: Value, after: &str| {
            let settings = BTreeMap::from([(key.to_owned(), value)]);
            assert_eq!(change_command(&words(before), &settings), words(after), "{before}: {key}");
        };
        check("p t.py --batch 64", "--batch", 32.into(), "p t.py --batch 32");
        check("p t.py --batch=64 --amp", "--batch", 32.into(), "p t.py --batch=32 --amp");
        check("p t.py --batch_size=64", "--batch-size", 32.into(), "p t.py --batch_size=32");
        check("p t.py", "--accumulate", 2.into(), "p t.py --accumulate 2");
        check("p t.py x", "--amp", true.into(), "p t.py x --amp");
        check("p t.py --amp", "--amp", true.into(), "p t.py --amp");
        check("p t.py --no-amp x", "--amp", true.into(), "p t.py --amp x");
        check("p t.py --b 1 --b 2", "--b", 3.into(), "p t.py --b 1 --b 3");
        check("p t.py -- x", "--amp", true.into(), "p t.py --amp -- x");
        check("p t.py --precision fp32", "--precision", "bf16".into(), "p t.py --precision bf16");
        check("p t.py", "train.batch", 4.into(), "p t.py train.batch=4");
        check("p t.py +train.batch=8 a=1", "train.batch", 4.into(), "p t.py +train.batch=4 a=1");
        check("p t.py", "--batch=", 4.into(), "p t.py --batch=4");
        check("p t.py --batch=8 c.py", "--batch=", 4.into(), "p t.py --batch=4 c.py");
        check("p t.py", "$BATCH", 4.into(), "p t.py");
        check("p t.py", "c.yaml#batch", 4.into(), "p t.py");
    }

    #[test]
    fn options_of_the_command_line_are_listed() {
        let found = list_in_words(&words("p t.py --batch 64 --amp --lr=0.1 imgsz=640 -b 8 --shift -1 a/b=c --last"));
        let shown: Vec<(&str, Value)> = found.iter().map(|one| (one.key.as_str(), one.value.clone())).collect();
        let expected: Vec<(&str, Value)> = vec![
            ("--batch", 64.into()),
            ("--lr", serde_json::json!(0.1)),
            ("imgsz", 640.into()),
            ("-b", 8.into()),
            ("--shift", (-1).into()),
        ];
        assert_eq!(shown, expected);
    }
}
