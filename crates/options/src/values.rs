//! Values as the words of a command line, and the values that name a precision.

use serde_json::Value;

/// The spellings of half precision, the preferred first: bfloat16 needs no scaling of the loss.
const HALF: [&str; 9] = ["bf16", "bfloat16", "bf16-mixed", "amp_bf16", "fp16", "float16", "16-mixed", "half", "amp"];
/// The spellings of whole precision, each with those of half precision that may stand in its place, the likeliest first.
const WHOLE: [(&str, &[&str]); 8] = [
    ("fp32", &["bf16", "fp16"]),
    ("float32", &["bfloat16", "float16"]),
    ("torch.float32", &["torch.bfloat16", "torch.float16"]),
    ("no", &["bf16", "fp16"]),
    ("none", &["bf16", "fp16"]),
    ("32", &["bf16-mixed", "bf16", "16-mixed"]),
    ("32-true", &["bf16-mixed", "16-mixed"]),
    ("float", &["bfloat16", "half"]),
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

/// Returns the values that ask for half precision, in place of `present`, the likeliest first; none where the setting names no precision,
/// or half precision already.
pub fn half_precisions(present: &Value, choices: &[String]) -> Vec<Value> {
    if let Value::Bool(is_on) = present {
        return if *is_on { Vec::new() } else { vec![Value::Bool(true)] };
    }
    let now = to_text(present).to_lowercase();
    if HALF.contains(&now.trim_start_matches("torch.")) {
        return Vec::new();
    }
    if !choices.is_empty() {
        let taken = |half: &&&str| choices.iter().any(|choice| choice == **half);
        return HALF.iter().filter(taken).map(|half| Value::from(*half)).collect();
    }
    let found = WHOLE.iter().find(|(whole, _)| *whole == now);
    found.map(|(_, halves)| halves.iter().map(|half| Value::from(*half)).collect()).unwrap_or_default()
}

/// Returns the likeliest of [`half_precisions`].
pub fn half_precision(present: &Value, choices: &[String]) -> Option<Value> {
    half_precisions(present, choices).into_iter().next()
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
