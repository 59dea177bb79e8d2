//! Figures and texts in few cells.

use trace::Bytes;

use crate::sanitize::{clean, columns as width};

/// In place of an unknown figure.
pub(super) const UNKNOWN: &str = "–";

/// The cells of a text.
pub(super) fn width_of(text: &str) -> usize {
    width(text)
}

/// A text in at most so many cells, with `…` for the rest.
pub(super) fn cut(text: &str, cells: usize) -> String {
    let text = clean(text);
    if width(&text) <= cells {
        return text.into_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if width(&kept) + width(letter.encode_utf8(&mut [0; 4])) + 1 > cells {
            break;
        }
        kept.push(letter);
    }
    if cells == 0 { kept } else { kept + "…" }
}

/// Breaks a sentence between its words. `sign` stands before the first line, and blanks before the others.
pub(super) fn wrap(sentence: &str, sign: &str, cells: usize) -> Vec<String> {
    let room = cells.saturating_sub(sign.len()).max(1);
    let mut lines = vec![String::new()];
    for word in clean(sentence).split(' ') {
        let line = lines.last_mut().filter(|line| line.is_empty() || width(line) + 1 + width(word) <= room);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    let blanks = " ".repeat(sign.len());
    let start = |number: usize| if number == 0 { sign } else { &blanks };
    lines.iter().enumerate().map(|(number, line)| cut(&format!("{}{line}", start(number)), cells)).collect()
}

/// `3.21 GiB`, `512 MiB`: three digits and a unit.
pub(super) fn size(bytes: Bytes) -> String {
    let (shift, unit) = match bytes.0 {
        0..0x10_0000 => (10, "KiB"),
        0x10_0000..0x4000_0000 => (20, "MiB"),
        _ => (30, "GiB"),
    };
    let number = bytes.0 as f64 / (1u64 << shift) as f64;
    let digits = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.digits$} {unit}")
}

/// `3.21 of 12.0 GiB`.
pub(super) fn share(used: Option<Bytes>, total: Option<Bytes>) -> String {
    match (used, total) {
        (Some(used), Some(total)) => {
            let (used, total) = (size(used), size(total));
            let unit = total.rsplit(' ').next().unwrap_or_default();
            let used = if used == size(Bytes::ZERO) { "0".to_owned() } else { used };
            let used = used.strip_suffix(unit).map_or(used.as_str(), str::trim_end);
            format!("{used} of {total}")
        }
        (Some(used), None) => size(used),
        (None, Some(total)) => format!("{UNKNOWN} of {}", size(total)),
        (None, None) => UNKNOWN.to_owned(),
    }
}

/// `0.31 s`, `12 s`, `28 min`, `3.5 h`, `4 days`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        ..0.000_1 => "0 s".to_owned(),
        ..0.1 => format!("{:.1} ms", seconds * 1000.0),
        ..10.0 => format!("{seconds:.2} s"),
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

/// `85 %`.
pub(super) fn percent(number: Option<u32>) -> String {
    number.map_or_else(|| UNKNOWN.to_owned(), |number| format!("{number} %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let cases = [
            (0, "0.00 KiB"),
            (300 << 10, "300 KiB"),
            (20 << 20, "20.0 MiB"),
            (1023 << 20, "1023 MiB"),
            (1 << 30, "1.00 GiB"),
            (12 << 30, "12.0 GiB"),
            (141 << 30, "141 GiB"),
            (4 << 40, "4096 GiB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(Bytes(bytes)), expected);
        }
        assert_eq!(share(Some(Bytes(3 << 30)), Some(Bytes(12 << 30))), "3.00 of 12.0 GiB");
        assert_eq!(share(Some(Bytes(30 << 20)), Some(Bytes(12 << 30))), "30.0 MiB of 12.0 GiB");
        assert_eq!(share(Some(Bytes(0)), Some(Bytes(12 << 30))), "0 of 12.0 GiB");
        assert_eq!(share(None, None), "–");
    }

    #[test]
    fn times_have_the_unit_of_their_size() {
        let cases = [
            (0.0, "0 s"),
            (0.0123, "12.3 ms"),
            (0.31, "0.31 s"),
            (12.4, "12 s"),
            (1680.0, "28 min"),
            (12_600.0, "3.5 h"),
            (400_000.0, "5 days"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_and_sentences_wrapped() {
        assert_eq!(
            [cut("train.py", 8), cut("train.py", 5), cut("train.py", 1), cut("ab", 0)],
            ["train.py", "trai…", "…", ""]
        );
        let lines = |cells| wrap("one two three", "! ", cells);
        assert_eq!(lines(40), ["! one two three"]);
        assert_eq!(lines(9), ["! one two", "  three"]);
        assert_eq!(lines(4), ["! o…", "  t…", "  t…"]);
    }
}
