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
enum PrintedFigure {
    Allocated,
    Reserved,
    Peak,
}

/// Reads the figures of a text; `None` for a text without allocated bytes.
pub(super) fn read(text: &[u8]) -> Option<PrintedMemory> {
    let mut printed = PrintedMemory::default();
    let mut asked: Vec<PrintedFigure> = Vec::new();
    if text.len() > LONGEST {
        return None;
    }
    for (number, (content, _)) in CleanLines::new(text, 0).enumerate() {
        let lower = content.to_lowercase();
        printed.is_emptied |= lower.contains("empty_cache()");
        let answers = if lower.trim().is_empty() { Vec::new() } else { answers(&std::mem::take(&mut asked), &lower) };
        let figures: Vec<(PrintedFigure, StatedBytes)> = answers.into_iter().chain(named(&lower)).collect();
        if !figures.is_empty() && printed.line == 0 {
            printed.line = u32::try_from(number + 1).unwrap_or(u32::MAX);
        }
        for (figure, size) in figures {
            printed.set(figure, size);
        }
        asked.extend(calls(&lower));
    }
    printed.allocated_bytes.is_some().then_some(printed)
}

impl PrintedMemory {
    fn set(&mut self, figure: PrintedFigure, size: StatedBytes) {
        match figure {
            PrintedFigure::Allocated => self.allocated_bytes = Some(size),
            PrintedFigure::Reserved => self.reserved_bytes = Some(size),
            PrintedFigure::Peak => self.peak_bytes = Some(size),
        }
    }
}

/// The functions that a line calls, if their results are on the next line.
fn calls(line: &str) -> Vec<PrintedFigure> {
    if line.contains(['=', '#', '"', '\'']) {
        return Vec::new();
    }
    let names = line.split("()").flat_map(|part| part.split("(0)"));
    let is_asked = |name: &str| ["_allocated", "_reserved", "_cached"].iter().any(|end| name.ends_with(end));
    names.filter(|name| is_asked(name)).filter_map(figure_of).collect()
}

/// The results of `asked` on a line of bare numbers: `0`, `Out[3]: 2097152`, `(0, 2147483648)`.
fn answers(asked: &[PrintedFigure], line: &str) -> Vec<(PrintedFigure, StatedBytes)> {
    let line = line.rsplit(": ").next().unwrap_or_default().trim();
    let numbers: Vec<&str> = line.trim_matches(['(', ')']).split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let sizes: Option<Vec<StatedBytes>> =
        numbers.iter().map(|number| number.parse().ok().map(StatedBytes::exact)).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == asked.len()).unwrap_or_default();
    asked.iter().copied().zip(sizes).collect()
}

/// The figures of a line that stand beside their names.
fn named(line: &str) -> Vec<(PrintedFigure, StatedBytes)> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, 0);
    let bytes = line.as_bytes();
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let is_start = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || b"._[".contains(&bytes[at - 1]));
        let name = String::from_utf8_lossy(&bytes[before.max(at.saturating_sub(NAME))..at]).into_owned();
        if is_start && let Some((size, length)) = size_at(&bytes[at..], &name) {
            let behind = String::from_utf8_lossy(&bytes[at + length..bytes.len().min(at + length + NAME)]).into_owned();
            found.extend(figure_of(&name).or_else(|| figure_behind(&behind)).map(|figure| (figure, size)));
            at += length;
            before = at;
            continue;
        }
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    }
    found
}

/// The size at the start of `text`: a number with a unit, which a blank may precede; bytes without a unit behind the name of a function.
fn size_at(text: &[u8], name: &str) -> Option<(StatedBytes, usize)> {
    const WIDEST: usize = 24;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let blanks = usize::from(text.get(digits) == Some(&b' '));
    let behind = &text[digits + blanks..text.len().min(digits + blanks + WIDEST)];
    let unit = behind.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if !matches!(&behind[..unit], b"gb" | b"mb" | b"kb" | b"gib" | b"mib" | b"kib" | b"bytes" | b"g" | b"m") {
        let is_bytes = ["memory_allocated", "memory_reserved", "memory_cached"].iter().any(|end| name.contains(end));
        let (bytes, length) = size::whole(text).filter(|(_, length)| is_bytes && *length == digits.max(1))?;
        return Some((StatedBytes::exact(bytes), length));
    }
    let packed = [&text[..digits], &behind[..unit]].concat();
    let (size, length) = size::parse_any(&packed)?;
    (length == packed.len()).then_some((size, digits + blanks + unit))
}

/// The figure by the name next to it.
fn figure_of(name: &str) -> Option<PrintedFigure> {
    let words = name.rsplit([',', ';', '|']).next().unwrap_or(name);
    let words = words.trim_end_matches(|character: char| !character.is_alphanumeric());
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let last = words.rsplit([' ', '[', '(']).next().unwrap_or(words);
    if has(&["max", "peak"]) {
        return Some(PrintedFigure::Peak);
    }
    if has(&["reserv", "cached"]) || last == "ca" {
        return Some(PrintedFigure::Reserved);
    }
    let is_allocated = has(&["alloc", "occupied"]) || last == "ma";
    (is_allocated && !has(&["tried", "to allocate", "fail"])).then_some(PrintedFigure::Allocated)
}

/// The figure by the name behind it: `7.90 GiB allocated, 20.40 GiB reserved`.
fn figure_behind(words: &str) -> Option<PrintedFigure> {
    let first = words.trim_start().split([' ', ',', ';', '.', ')']).next()?;
    match first {
        "allocated" => Some(PrintedFigure::Allocated),
        "reserved" | "cached" => Some(PrintedFigure::Reserved),
        _ => None,
    }
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
        check(
            "In [3]: torch.cuda.memory_reserved(0)\nOut[3]: 2097152\n>>> torch.cuda.memory_allocated()\n1048576",
            Some([Some(1), Some(2), None]),
        );
        check(">>> torch.cuda.memory_allocated()\nTraceback\n", None);
        check(
            "In [8]: torch.cuda.memory_allocated(), torch.cuda.memory_reserved()\nOut[8]: (0, 2147483648)",
            Some([Some(0), Some(2048), None]),
        );
        check(
            "print(torch.cuda.memory_allocated())   # 512\nprint(torch.cuda.memory_reserved())    # 2097152",
            Some([Some(0), Some(2), None]),
        );
    }

    #[test]
    fn figures_are_behind_their_names() {
        check(
            "occupied memory: 2.00 GB\nreserved: 15.00 GB\nmax: 16.00 GB\n",
            Some([Some(2048), Some(15360), Some(16384)]),
        );
        check("Allocated: 1.5 GB\nCached:    3.0 GB", Some([Some(1536), Some(3072), None]));
        check(
            "MA 1.5 GB         Max_MA 2.5 GB         CA 3.0 GB         Max_CA 3 GB",
            Some([Some(1536), Some(3072), Some(3072)]),
        );
        check("memory_allocated=100MB, memory_reserved=200MB (step 3)", Some([Some(100), Some(200), None]));
        check("7.90 GiB allocated, 20.40 GiB reserved", Some([Some(8089), Some(20889), None]));
        check(
            "max_memory_reserved = 2.00 GiB, memory_reserved = 1.00 GiB, memory_allocated = 0.50 GiB",
            Some([Some(512), Some(1024), Some(2048)]),
        );
        check("max memory allocated 12.31 GiB, max memory reserved 13.74 GiB", None);
        check("epoch 3 loss 2.5 lr 0.1", None);
    }
}
