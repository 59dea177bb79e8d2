//! Hints for models that the Hugging Face Hub refuses, by the sentences of `python/oomph/agent/scenery/weights/reasons.py`.

/// Endings of files of weights: for a dry run, the configuration is enough.
const WEIGHTS: [&str; 6] = [".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf"];
/// The configuration of a model.
const CONFIGURATION: &str = "config.json";

/// The hint for a sentence about a model on the Hub; `None` for any other message.
pub(super) fn find_hint(message: &str) -> Option<String> {
    let (before, rest) = message.split_once('`')?;
    let (name, _) = rest.split_once('`')?;
    let has = |words: &str| message.contains(words);
    if has("is not on this machine, and the hub at") {
        let file = find_file(before);
        return Some(format!(
            "`hf download {name} {file}` fetches it where there is a network, and a folder with {CONFIGURATION} can take \
             the place of the name: of the weights a dry run needs no values"
        ));
    }
    if has("is gated: the hub at") {
        return Some(format!(
            "accept the terms on the page of {name} with your account, then set HF_TOKEN or run `hf auth login`"
        ));
    }
    if has("for this account (status") {
        return Some("check the name; a private model needs HF_TOKEN or `hf auth login`".to_owned());
    }
    if has("is a weight file without a header to fetch") {
        return Some(format!("`hf download {name}` fetches it whole; a check then reads its header"));
    }
    let is_of_the_hub = ["the hub at", "the server", "safetensors", "the connection ended", "places tensors up to"];
    let is_bad = has(", expected ") || has(", and the file has");
    (is_bad && is_of_the_hub.iter().any(|words| has(words))).then(|| {
        "does a proxy or a login page answer in place of the hub? HF_ENDPOINT names the hub; \
         `hf download NAME` fetches the files where it can be reached"
            .to_owned()
    })
}

/// The file to fetch, by the words before the name of the model.
fn find_file(before: &str) -> &str {
    let file = before.strip_suffix(" of ").unwrap_or(CONFIGURATION);
    if file.contains(' ') || WEIGHTS.iter().any(|ending| file.ends_with(ending)) { CONFIGURATION } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_has_its_hint() {
        let rows = [
            (
                "config.json of `a/b` is not on this machine, and the hub at X cannot be reached: no network",
                "hf download a/b config.json",
            ),
            (
                "x/model.safetensors of `a/b` is not on this machine, and the hub at X cannot be reached: no network",
                "hf download a/b config.json",
            ),
            (
                "`a/b` is gated: the hub at X answered 403, expected an account that has accepted the terms",
                "page of a/b",
            ),
            ("the hub at X has no `a/b` for this account (status 401), expected the name of a model", "check the name"),
            ("`a/b`: m.bin is a weight file without a header to fetch, expected one of .h5", "hf download a/b"),
            ("`a/b`: the header of m places tensors up to byte 9, and the file has 8", "HF_ENDPOINT"),
        ];
        for (message, words) in rows {
            let hint = find_hint(message).unwrap_or_default();
            assert!(hint.contains(words), "{message}: {hint}");
        }
        assert_eq!(find_hint("expected `x`, found `y`"), None);
    }
}
