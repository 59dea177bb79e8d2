//! The allocator's figures in a text without an error: a paste that asks why more is reserved than allocated.
//!
//! Read are `torch.cuda.memory_allocated()` and its neighbours at Python's prompt, with the number on the next line, and figures behind their
//! names, as programs print them (`allocated: 2.3 GB, reserved: 15.9 GB`). DeepSpeed's names are MA and CA.

use super::line::CleanLines;
use super::size;
use super::stated::StatedBytes;

/// The last figure of each kind in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintedMemory {
    /// The line of the first figure, counted from 1.
    pub line: u32,
    /// `memory_allocated()`.
    pub allocated_bytes: Option<StatedBytes>,
    /// `memory_reserved()`, once `memory_cached()`.
    pub reserved_bytes: Option<StatedBytes>,
    /// `max_memory_allocated()` or `max_memory_reserved()`.
    pub peak_bytes: Option<StatedBytes>,
    /// Set if the text calls `empty_cache()` before the last figures.
    pub is_emptied: bool,
}

/// The longest text that is a paste.
const LONGEST: usize = 64 << 10;
/// The letters of a name, before its figure.
const NAME: usize = 48;

#[derive(Clone, Copy)]
enum Figure {
    Allocated,
    Reserved,
    Peak,
}

/// Reads the figures of a text; `None` for a text without allocated bytes.
pub(super) fn read(text: &[u8]) -> Option<PrintedMemory> {
    let mut printed = PrintedMemory::default();
    let mut asked: Option<Figure> = None;
    if text.len() > LONGEST {
        return None;
    }
    for (number, (content, _)) in CleanLines::new(text, 0).enumerate() {
        let lower = content.to_lowercase();
        printed.is_emptied |= lower.contains("empty_cache()");
        let answer = asked.take().filter(|_| !lower.trim().is_empty()).and_then(|figure| Some((figure, bare(&lower)?)));
        let figures: Vec<(Figure, StatedBytes)> = answer.into_iter().chain(named(&lower)).collect();
        if !figures.is_empty() && printed.line == 0 {
            printed.line = u32::try_from(number + 1).unwrap_or(u32::MAX);
        }
        figures.into_iter().for_each(|(figure, size)| printed.set(figure, size));
        asked = call(&lower);
    }
    printed.allocated_bytes.is_some().then_some(printed)
}

impl PrintedMemory {
    fn set(&mut self, figure: Figure, size: StatedBytes) {
        match figure {
            Figure::Allocated => self.allocated_bytes = Some(size),
            Figure::Reserved => self.reserved_bytes = Some(size),
            Figure::Peak => self.peak_bytes = Some(size),
        }
    }
}

/// The function that a line calls last, if its result is on the next line.
fn call(line: &str) -> Option<Figure> {
    let (name, rest) = line.rsplit_once('(')?;
    let is_call = rest.contains(')') && !rest.contains(|character: char| "=:".contains(character));
    let is_asked = name.ends_with("_allocated") || name.ends_with("_reserved") || name.ends_with("_cached");
    (is_call && is_asked).then(|| figure_of(name)).flatten()
}

/// A line that is a number of bytes, or a size.
fn bare(line: &str) -> Option<StatedBytes> {
    let packed: Vec<u8> = line.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let packed = packed.rsplit(|byte| *byte == b':').next()?;
    let (size, length) = size::parse_any(packed)?;
    (length == packed.len()).then_some(size)
}

/// The figures of a line that stand behind their names.
fn named(line: &str) -> Vec<(Figure, StatedBytes)> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, 0);
    let bytes = line.as_bytes();
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let is_start = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || b"._".contains(&bytes[at - 1]));
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        if is_start && let Some((size, length)) = size_at(&bytes[at..]) {
            let name = String::from_utf8_lossy(&bytes[before.max(at.saturating_sub(NAME))..at]).into_owned();
            found.extend(figure_of(&name).map(|figure| (figure, size)));
            at += length;
            before = at;
            continue;
        }
        at = end.max(at + 1);
    }
    found
}

/// The size at the start of `text`: a number with a unit, which a blank may precede.
fn size_at(text: &[u8]) -> Option<(StatedBytes, usize)> {
    const WIDEST: usize = 24;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let blanks = usize::from(text.get(digits) == Some(&b' '));
    let behind = &text[digits + blanks..text.len().min(digits + blanks + WIDEST)];
    let unit = behind.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if !matches!(&behind[..unit], b"gb" | b"mb" | b"kb" | b"gib" | b"mib" | b"kib" | b"bytes" | b"g" | b"m") {
        return None;
    }
    let packed = [&text[..digits], &behind[..unit]].concat();
    let (size, length) = size::parse_any(&packed)?;
    (length == packed.len()).then_some((size, digits + blanks + unit))
}

/// The figure by its name; the name next to the figure decides.
fn figure_of(name: &str) -> Option<Figure> {
    let name = name.trim_end_matches(|character: char| !character.is_alphanumeric());
    let words = name.rsplit([',', ';', '|']).next().unwrap_or(name);
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let last = words.rsplit([' ', '[', '(']).next().unwrap_or(words);
    if has(&["max", "peak"]) {
        return Some(Figure::Peak);
    }
    if has(&["reserv", "cached"]) || last == "ca" {
        return Some(Figure::Reserved);
    }
    let is_allocated = has(&["alloc", "occupied"]) || last == "ma";
    (is_allocated && !has(&["tried", "to allocate", "fail"])).then_some(Figure::Allocated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocated, reserved and peak of a text, in MiB.
    fn check(text: &str, expected: Option<[Option<u64>; 3]>) {
        let found = read(text.as_bytes());
        let mib = |size: Option<StatedBytes>| size.map(|size| size.nearest.0 >> 20);
        let found = found.map(|found| [found.allocated_bytes, found.reserved_bytes, found.peak_bytes].map(mib));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn figures_at_the_prompt_are_on_the_next_line() {
        check(">>> torch.cuda.memory_allocated()\n0\n", Some([Some(0), None, None]));
        check("In [3]: torch.cuda.memory_reserved(0)\nOut[3]: 2097152\n>>> torch.cuda.memory_allocated()\n1048576", Some([Some(1), Some(2), None]));
        check(">>> torch.cuda.memory_allocated()\nTraceback\n", None);
    }

    #[test]
    fn figures_are_behind_their_names() {
        check("occupied memory: 2.00 GB\nreserved: 15.00 GB\nmax: 16.00 GB\n", Some([Some(2048), Some(15360), Some(16384)]));
        check("Allocated: 1.5 GB\nCached:    3.0 GB", Some([Some(1536), Some(3072), None]));
        check("MA 1.5 GB         Max_MA 2.5 GB         CA 3.0 GB         Max_CA 3 GB", Some([Some(1536), Some(3072), Some(3072)]));
        check("memory_allocated=100MB, memory_reserved=200MB (step 3)", Some([Some(100), Some(200), None]));
        check("max memory allocated 12.31 GiB, max memory reserved 13.74 GiB", None);
        check("epoch 3 loss 2.5 lr 0.1", None);
    }
}
