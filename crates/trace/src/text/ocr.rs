//! Figures of a screenshot, in which a program read `1` as `l` and `0` as `O`.

/// The units of a figure, as such programs spell them.
const UNITS: [&[u8]; 8] = [b"GiB", b"GlB", b"G1B", b"MiB", b"MlB", b"M1B", b"KiB", b"KlB"];

/// Returns the message (without blanks) with digits in its figures and letters in its words; `None` if nothing was misread.
pub(super) fn repaired(message: &[u8]) -> Option<Vec<u8>> {
    let mut text = message.to_vec();
    repair_words(&mut text);
    for at in 0..text.len() {
        if UNITS.iter().any(|unit| text[at..].starts_with(unit)) {
            text[at + 1] = b'i';
            repair_figure(&mut text[..at]);
        }
    }
    if let Some(at) = memchr::memmem::find(&text, b"(GPUO;") {
        text[at + 4] = b'0';
    }
    (text != message).then_some(text)
}

/// Repairs the figure at the end of `text`: digits, and letters that look alike.
fn repair_figure(text: &mut [u8]) {
    for byte in text.iter_mut().rev() {
        match byte {
            b'0'..=b'9' | b'.' => {}
            b'l' | b'I' | b'|' => *byte = b'1',
            b'O' | b'o' => *byte = b'0',
            _ => return,
        }
    }
}

/// Repairs letters between letters: `aIlocate`, `t0tal`.
fn repair_words(text: &mut [u8]) {
    for at in 1..text.len().saturating_sub(1) {
        if text[at - 1].is_ascii_lowercase() && text[at + 1].is_ascii_lowercase() {
            match text[at] {
                b'I' | b'1' | b'|' => text[at] = b'l',
                b'0' => text[at] = b'o',
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let found = repaired(text.as_bytes());
        assert_eq!(found.as_deref().map(String::from_utf8_lossy).as_deref(), expected, "{text}");
    }

    #[test]
    fn letters_in_figures_become_digits() {
        check("TriedtoaIlocatel.l2GiB", Some("Triedtoallocate1.12GiB"));
        check("(GPUO;ll.1OGlBt0talcapacity", Some("(GPU0;11.10GiBtotalcapacity"));
        check("Triedtoallocate1.12GiB", None);
    }
}
