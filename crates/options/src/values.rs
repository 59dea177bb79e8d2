//! Values as the words of a command line, and the values that name a precision.

use serde_json::Value;

/// The spellings of half precision, the preferred first: bfloat16 needs no scaling of the loss.
const HALF: [&str; 9] = ["bf16", "bfloat16", "bf16-mixed", "amp_bf16", "fp16", "float16", "16-mixed", "half", "amp"];
/// The spellings of whole precision, each with the spelling of half precision in the same style.
const WHOLE: [(&str, &str); 8] = [
    ("fp32", "bf16"),
    ("float32", "bfloat16"),
    ("torch.float32", "torch.bfloat16"),
    ("no", "bf16"),
    ("none", "bf16"),
    ("32", "bf16-mixed"),
    ("32-true", "bf16-mixed"),
    ("float", "bfloat16"),
];

/// Returns a value as a word: a text without quotes.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Reads a word: a number, `true` or `false` in any case, or a text.
pub(crate) fn of_text(text: &str) -> Value {
    match text {
        "True" | "TRUE" => Value::Bool(true),
        "False" | "FALSE" => Value::Bool(false),
        _ => serde_json::from_str::<Value>(text)
            .ok()
            .filter(|value| value.is_number() || value.is_boolean())
            .unwrap_or_else(|| Value::from(text)),
    }
}

/// Returns the value that asks for half precision, in place of `present`; `None` where the setting names no precision, or half
/// precision already.
pub fn half_precision(present: &Value, choices: &[String]) -> Option<Value> {
    if let Value::Bool(is_on) = present {
        return (!is_on).then_some(Value::Bool(true));
    }
    let now = to_text(present);
    let is_half = HALF.contains(&now.to_lowercase().trim_start_matches("torch."));
    if is_half {
        return None;
    }
    if !choices.is_empty() {
        let taken = |half: &&str| choices.iter().any(|choice| choice == half);
        return HALF.iter().find(|half| taken(half)).map(|half| Value::from(*half));
    }
    WHOLE.iter().find(|(whole, _)| *whole == now.to_lowercase()).map(|(_, half)| Value::from(*half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_named_in_the_programs_own_style() {
        let check = |present: Value, choices: &[&str], expected: Option<Value>| {
            let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
            assert_eq!(half_precision(&present, &choices), expected, "{present} of {choices:?}");
        };
        check(false.into(), &[], Some(true.into()));
        check(true.into(), &[], None);
        check("fp32".into(), &["fp32", "fp16", "bf16"], Some("bf16".into()));
        check("no".into(), &["no", "fp16"], Some("fp16".into()));
        check("float32".into(), &[], Some("bfloat16".into()));
        check(32.into(), &[], Some("bf16-mixed".into()));
        check("bf16".into(), &["fp32", "bf16"], None);
        check("adam".into(), &["adam", "sgd"], None);
        check("adam".into(), &[], None);
        check(Value::Null, &[], None);
    }
}
