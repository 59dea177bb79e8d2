//! Distinguishes errors from mentions: source code, documents, questions and programs' own messages quote errors too.
//!
//! # Note [Words about an error]
//! A message with its numbers is an error wherever it is quoted, except in a `raise` statement. Without numbers the
//! head of a message is an error only where errors are printed: after an exception's class, after a logger's `error`,
//! or at the start of a line, if its sentence ends there. "CUDA out of memory" in a sentence is a mention.

use memchr::memmem;

use super::line;

/// Tests that the line with the byte at `at` is source code that names the error.
pub(super) fn is_code(text: &[u8], at: usize) -> bool {
    const STARTS: [&str; 13] = [
        "raise ", "except ", "except(", "if ", "elif ", "assert ", "return ", "import ", "from ", "with ", "#", "//",
        "def ",
    ];
    const PARTS: [&str; 6] = [" in str(", " in repr(", "pytest.raises", "match=", "grep ", ".lower()"];
    let whole = line::clean(&text[line::start(text, at)..line::end(text, at)]);
    let before = line::clean(&text[line::start(text, at)..at]);
    let content = before.trim_start_matches(|character: char| !character.is_alphabetic() && !"#/".contains(character));
    let content = if content.is_empty() { whole.trim_start() } else { content };
    STARTS.iter().any(|start| content.starts_with(start)) || PARTS.iter().any(|part| whole.contains(part))
}

/// Tests that the head of a message from `start` to `end` is printed as an error.
pub(super) fn is_printed_error(text: &[u8], start: usize, end: usize) -> bool {
    is_announced(&text[line::start(text, start)..start]) && ends_its_sentence(&text[end..line::end(text, end)])
}

/// Tests that the text before a message on its line announces an error, or consists of prefixes.
fn is_announced(before: &[u8]) -> bool {
    const WORDS: [&str; 9] =
        ["error", "exception", "fatal", "critical", "fail", "what():", "terminate", "warn", "caught"];
    let before = line::clean(before);
    if before.ends_with(['"', '\'']) && before.contains('(') && !before.contains("Error(") {
        return false;
    }
    let content = before.rsplit([']', '|', '>', ')']).next().unwrap_or_default();
    let is_only_prefix = content.trim().trim_end_matches(':').chars().all(|character| !character.is_alphabetic());
    let lower = before.to_lowercase();
    is_only_prefix || WORDS.iter().any(|word| lower.contains(word))
}

/// Tests that a message ends with its head: only punctuation, quotes, advice, or a cut message follow.
fn ends_its_sentence(behind: &[u8]) -> bool {
    const ADVICE: [&str; 5] = ["CUDA kernel", "Search for", "Compile with", "Exception raised", "For debugging"];
    let behind = line::clean(&behind[..behind.len().min(64)]);
    let rest = behind.trim_start_matches(|character: char| " .:,;!'\")}]`│┃|".contains(character));
    let is_escaped_end =
        rest.starts_with('\\') || behind.starts_with("\",") || behind.trim_start_matches('.').starts_with('<');
    rest.is_empty()
        || is_escaped_end
        || is_cut_request(rest)
        || is_source_line(rest)
        || ADVICE.iter().any(|advice| rest.starts_with(advice))
}

/// Recognises `at /workspace/csrc/cumem_allocator.cpp:62`.
fn is_source_line(rest: &str) -> bool {
    let place = rest.strip_prefix("at ").and_then(|place| place.split_whitespace().next()?.rsplit_once(':'));
    place.is_some_and(|(file, number)| file.contains('.') && number.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// Recognises `Tried to al` and `Tried to allocate 20.0`, but not `Tried to allocate X GiB`.
fn is_cut_request(rest: &str) -> bool {
    const REQUEST: &str = "Tried to allocate";
    let number = rest.strip_prefix(REQUEST).map(|rest| rest.trim_end_matches(['.', '…']));
    let is_number =
        |text: &str| text.len() < 12 && text.chars().all(|character| "0123456789. KMGTiB".contains(character));
    REQUEST.starts_with(rest.trim_end_matches(['.', '…'])) || number.is_some_and(is_number)
}

/// Tests that `MemoryError` from `start` to `end` is the class of an exception that ended a program.
pub(super) fn is_memory_error(text: &[u8], start: usize, end: usize) -> bool {
    let behind = text[end..line::end(text, end)].trim_ascii();
    let is_last = behind.is_empty() || (behind.starts_with(b":") && memmem::find(behind, b"bad_alloc").is_none());
    &text[start..end] == b"MemoryError" && is_last && !is_code(text, start)
}

/// Recognises llama.cpp and other programs on ggml: their message begins like PyTorch's, but continues on the next
/// line.
pub(super) fn is_ggml(text: &[u8], start: usize, end: usize) -> bool {
    const WITHIN: usize = 300;
    let around = &text[line::start(text, start)..text.len().min(end + WITHIN)];
    memmem::find(around, b"ggml").is_some() || memmem::find(around, b"llama_").is_some()
}
