//! Words and paths that several reports and messages share.

use std::fmt::Display;

use trace::run::StopCause;

use crate::stopped::Stopped;

/// Counts things: `1 file`, `2 files`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let noun = if number == N::from(1) { one } else { many };
    format!("{number} {noun}")
}

/// `1,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Names the cause of a stop.
pub fn name_cause(by: StopCause) -> &'static str {
    match by {
        StopCause::Interrupt => "you (Ctrl-C)",
        StopCause::Terminate => "SIGTERM",
        StopCause::Hangup => "the end of the terminal (SIGHUP)",
        StopCause::Timeout => "--timeout",
    }
}

/// `you (Ctrl-C) after 1 of 3 steps and 40 s, at step 2, backward`; `steps` are those that were done.
pub fn words_of_stop(stopped: &Stopped, steps: Option<&str>) -> String {
    let Stopped { by, after_seconds, step, phase, .. } = stopped;
    let steps = steps.map_or_else(String::new, |steps| format!("{steps} and "));
    let words = [step.map(|step| format!("step {step}")), phase.map(|phase| phase.name().to_owned())];
    let words = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let at = if words.is_empty() { String::new() } else { format!(", at {words}") };
    format!("{} after {steps}{after_seconds:.0} s{at}", name_cause(*by))
}

/// Returns `file` relative to `folder` if `folder` contains the file. In a folder of Windows, `C:/train`, either slash parts names.
pub fn relative<'a>(file: &'a str, folder: &str) -> &'a str {
    let is_windows = folder.as_bytes().get(1) == Some(&b':');
    let is_separator = |byte: u8| byte == b'/' || is_windows && byte == b'\\';
    let is_same = |(one, other): (u8, u8)| one == other || is_separator(one) && is_separator(other);
    let (inside, rest) = (file.get(..folder.len()), file.get(folder.len() + 1..));
    let begins = inside.is_some_and(|start| start.bytes().zip(folder.bytes()).all(is_same));
    let parts = file.as_bytes().get(folder.len()).is_some_and(|byte| is_separator(*byte));
    rest.filter(|_| !folder.is_empty() && begins && parts).unwrap_or(file)
}

/// Quotes a word for a POSIX shell, where that is needed.
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Writes a command as a shell reads it.
pub fn quote_all(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        let words = ["train.py", "--lr=1e-4", "an argument", "", "it's", "$HOME"].map(str::to_owned);
        assert_eq!(quote_all(&words), r"train.py --lr=1e-4 'an argument' '' 'it'\''s' '$HOME'");
    }

    #[test]
    fn one_thing_is_singular() {
        let counts =
            [count(0_u64, "retry", "retries"), count(1_usize, "retry", "retries"), count(2_u32, "retry", "retries")];
        assert_eq!(counts, ["0 retries", "1 retry", "2 retries"]);
    }

    #[test]
    fn only_files_below_the_folder_are_shortened() {
        let cases = [
            ("/home/me/a.py", "/home/me", "a.py"),
            ("/home/mexico/a.py", "/home/me", "/home/mexico/a.py"),
            ("/home/me/a.py", "", "/home/me/a.py"),
            ("a.py", "/home/me", "a.py"),
            ("/ä/a.py", "/é", "/ä/a.py"),
            (r"/home/me\a.py", "/home/me", r"/home/me\a.py"),
            (r"C:\me\b\a.py", "C:/me", r"b\a.py"),
            ("C:/mexico/a.py", "C:/me", "C:/mexico/a.py"),
        ];
        for (file, folder, expected) in cases {
            assert_eq!(relative(file, folder), expected, "{file} in {folder}");
        }
    }
}
