//! Lines of at most 80 columns: wrapping, bars, short paths.
//!
//! Every function that breaks or cuts a text neutralises the text first (Note [Foreign text] in `sanitize.rs`): widths are
//! shown widths.

use crate::check::{Growth, Place};
use crate::finding::Location;
use crate::life::{describe_time, is_early, is_training, name_stage};
use crate::sanitize::{clean, columns, columns_of};
pub(super) use crate::words::grouped;
use crate::words::{quote, relative};

/// The largest line width, in columns.
pub(super) const COLUMNS: usize = 80;

/// The largest width of a place in a sentence, in columns.
const PLACE: usize = 40;

/// The end of a line of a command that goes on in the next line.
pub(super) const CONTINUED: &str = " \\";

/// Breaks `text` at spaces into lines of at most `width` columns; a longer word is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = vec![String::new()];
    for word in clean(text).split_whitespace().flat_map(|word| pieces(word, width)) {
        let line = lines.last_mut().filter(|line| room(line, &word, width));
        match line {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) => {
                line.push(' ');
                line.push_str(&word);
            }
            None => lines.push(word),
        }
    }
    lines
}

/// Writes a command for a shell, in lines that end between two words.
pub(super) fn break_command(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.iter().map(|word| clean(&quote(word)).into_owned()) {
        match lines.last_mut().filter(|line| columns(line) + 1 + columns(&word) <= width) {
            Some(line) => line.extend([" ", &word]),
            None => lines.push(word),
        }
    }
    lines
}

fn room(line: &str, word: &str, width: usize) -> bool {
    line.is_empty() || columns(line) + 1 + columns(word) <= width
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        match pieces.last_mut().filter(|piece| columns(piece) + columns_of(letter) <= width) {
            Some(piece) => piece.push(letter),
            None => pieces.push(letter.to_string()),
        }
    }
    pieces
}

/// The end of `text` in at most `width` columns, with dots where it was cut: the end of a path says most.
pub(super) fn keep_end(text: &str, width: usize) -> String {
    let text = clean(text);
    if columns(&text) <= width {
        return text.into_owned();
    }
    let mut kept: Vec<char> = Vec::new();
    let mut left = width.saturating_sub(3);
    for letter in text.chars().rev() {
        let Some(rest) = left.checked_sub(columns_of(letter)) else { break };
        left = rest;
        kept.push(letter);
    }
    "...".chars().chain(kept.into_iter().rev()).collect()
}

/// The beginning of `text` in at most `width` columns, with dots where it was cut.
pub(super) fn keep_start(text: &str, width: usize) -> String {
    let text = clean(text);
    if columns(&text) <= width {
        return text.into_owned();
    }
    let mut left = width.saturating_sub(3);
    let fits = |letter: &char| left.checked_sub(columns_of(*letter)).map(|rest| left = rest).is_some();
    text.chars().take_while(fits).chain("...".chars()).collect()
}

/// The shortest clear form of `file`: from the package on, or relative to `folder`. The package comes first, because
/// environments are often inside the folder.
pub(super) fn short_path<'a>(file: &'a str, folder: &str) -> &'a str {
    if let Some((_, inside)) = file.rsplit_once("/site-packages/") {
        return inside;
    }
    relative(file, folder)
}

/// `train.py:41`.
pub(super) fn line_of(location: &Location, folder: &str) -> String {
    format!("{}:{}", short_path(&location.file, folder), location.line)
}

/// `train.py:41`, of a long path its end: a sentence has no room, and the lists below it have the whole path.
pub(super) fn short_line(location: &Location, folder: &str) -> String {
    let line = line_of(location, folder);
    if columns(&clean(&line)) <= PLACE {
        return line;
    }
    let mut names = line.rsplit('/');
    match (names.next(), names.next()) {
        (Some(file), Some(inside)) => keep_end(&format!(".../{inside}/{file}"), PLACE),
        _ => keep_end(&line, PLACE),
    }
}

/// `torch/nn/modules/linear.py:134 forward`; the function alone without a known line, as in much of C++.
pub(super) fn words_of_frame(file: &str, line: u32, function: &str, folder: &str) -> String {
    match line {
        0 => function.to_owned(),
        line => format!("{}:{line} {function}", short_path(file, folder)),
    }
}

/// `step 2, backward, transformer.h.3`, or `evaluation after step 500, transformer.h.3`, as much of it as is known.
pub(super) fn words_of(place: &Place) -> String {
    let late = place.stage.filter(|stage| !is_training(*stage) && !is_early(*stage));
    let step = match late {
        Some(stage) => Some(name_stage(stage).to_owned() + &describe_time(stage, place.step).unwrap_or_default()),
        None => place.step.map(|step| format!("step {step}")),
    };
    // Outside of the steps a phase says nothing.
    let phase = place.phase.filter(|_| late.is_none()).map(|phase| phase.name().to_owned());
    let module = words_of_module(place);
    let parts = [step, phase, module];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `layer4.2.relu`, or `layer 8 of Sequential` and `8.conv of Sequential` where the name begins with a number.
pub(super) fn words_of_module(place: &Place) -> Option<String> {
    let module = clean(place.module.as_deref()?).into_owned();
    let Some(root) = &place.root else { return Some(module) };
    let part = match module.as_str() {
        "*" => "layers".to_owned(),
        number if number.bytes().all(|letter| letter.is_ascii_digit()) => format!("layer {number}"),
        _ => module,
    };
    Some(format!("{part} of {}", clean(root)))
}

/// `512 B per step; the device is full at step 900`.
pub(super) fn words_of_growth(growth: &Growth) -> String {
    let of = growth.of_iterations.map_or_else(String::new, |total| format!(" of {}", grouped(total)));
    let unit = growth.unit();
    let full = growth.full_at.map_or_else(String::new, |step| format!("; the device is full at {unit} {step}{of}"));
    format!("{} per {unit}{full}", growth.bytes_per_iteration)
}

/// ` of the loop at eval.py:7 (eval.py:9), in the list `maps``, as much of it as is known.
pub(super) fn words_of_kept(growth: &Growth, folder: &str) -> String {
    let at = growth.loop_at.as_ref().map(|at| format!(" of the loop at {}", line_of(at, folder)));
    let line = growth.location.as_ref().map(|at| format!(" ({})", line_of(at, folder)));
    let keeper = growth.keeper.as_ref().map(|keeper| format!(", in {}", keeper.container));
    [at, line, keeper].into_iter().flatten().collect()
}

/// Distributes `cells` over parts that add up to `total`; the result adds up to `cells`.
///
/// Each border between two parts is rounded separately, so that no part is off by more than one cell.
pub(super) fn cells(parts: impl Iterator<Item = u64>, total: u64, cells: u64) -> Vec<u64> {
    let border = |sum: u128| (sum * u128::from(cells) + u128::from(total) / 2) / u128::from(total.max(1));
    let borders = parts.scan(0u128, |sum, part| {
        *sum += u128::from(part);
        Some(u64::try_from(border(*sum)).unwrap_or(cells))
    });
    let mut last = 0;
    borders.map(|border| border - std::mem::replace(&mut last, border)).collect()
}

/// A part of a whole in tenths of a percent, without overflow; 0 of an empty whole.
pub(super) fn permille(part: u64, whole: u64) -> u64 {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(permille).unwrap_or(u64::MAX).min(1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_is_broken_between_its_words() {
        let cases: [(&[&str], &[&str]); 4] = [
            (&["oomph", "fit", "train.py"], &["oomph fit train.py"]),
            (&["oomph", "fit", "--gpu", "rtx-4090", "train.py"], &["oomph fit --gpu", "rtx-4090 train.py"]),
            (&["oomph", "fit", "my scripts/it.py", "-b"], &["oomph fit", "'my scripts/it.py'", "-b"]),
            (&["a", "b'c d", "e"], &[r"a 'b'\''c d' e"]),
        ];
        for (words, lines) in cases {
            let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(break_command(&command, 18), lines, "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn cells_add_up_and_none_is_off_by_more_than_one(
            parts in prop::collection::vec(any::<u64>().prop_map(|part| part >> 8), 1..20),
            width in 1u64..2000,
        ) {
            let total: u64 = parts.iter().sum();
            prop_assume!(total > 0);
            let cells = cells(parts.iter().copied(), total, width);
            prop_assert_eq!(cells.iter().sum::<u64>(), width);
            for (part, cell) in parts.iter().zip(cells) {
                let exact = *part as f64 / total as f64 * width as f64;
                prop_assert!((exact - cell as f64).abs() <= 1.001, "{exact} {cell}");
            }
        }
    }

    #[test]
    fn text_is_broken_at_spaces_and_long_words_are_cut() {
        let cases: [(&str, usize, &[&str]); 5] = [
            ("", 5, &[""]),
            ("one two three", 7, &["one two", "three"]),
            ("one  two", 80, &["one two"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("é é é", 3, &["é é", "é"]),
        ];
        for (text, width, lines) in cases {
            assert_eq!(wrap(text, width), lines, "{text}");
        }
    }

    #[test]
    fn paths_are_shown_from_where_the_reader_stands() {
        let cases = [
            ("/home/ann/x/train.py", "/home/ann/x", "train.py"),
            ("/home/ann/xy/train.py", "/home/ann/x", "/home/ann/xy/train.py"),
            ("/v/site-packages/torch/nn/f.py", "/home", "torch/nn/f.py"),
            ("train.py", "", "train.py"),
            ("/a.py", "", "/a.py"),
        ];
        for (file, folder, shown) in cases {
            assert_eq!(short_path(file, folder), shown);
        }
    }

    #[test]
    fn a_frame_without_a_line_is_its_function() {
        assert_eq!(words_of_frame("/x/train.py", 7, "main", "/x"), "train.py:7 main");
        assert_eq!(words_of_frame("??", 0, "at::empty_cuda", "/x"), "at::empty_cuda");
    }

    #[test]
    fn the_end_of_a_long_path_is_kept() {
        assert_eq!(keep_end("abcdef", 6), "abcdef");
        assert_eq!(keep_end("abcdefgh", 6), "...fgh");
    }

    #[test]
    fn shares_are_taken_without_overflow() {
        assert_eq!(permille(u64::MAX / 2, u64::MAX), 499);
        assert_eq!(permille(1, 0), 1000);
        assert_eq!(permille(0, 0), 0);
    }
}
