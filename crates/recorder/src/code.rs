//! The texts of a code object: file, function, and the line of an instruction.
//!
//! Names and the table of lines are immutable, and a running function keeps its code object: they are read as in Note `[Frames]`.

/// The offsets of code objects and texts, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeLayout {
    /// From a code object to its file name.
    pub file: u32,
    /// From a code object to the function's name.
    pub name: u32,
    /// From a code object to its table of lines.
    pub lines: u32,
    /// From a code object to the number of its first line.
    pub first_line: u32,
    /// The format of that table: 10 as in CPython 3.10, 11 as in later versions.
    pub lines_format: u32,
    /// From a code object to its first instruction; 0 where instructions are counted from the code object.
    pub instructions: u32,
    /// From a text to its length in characters.
    pub text_length: u32,
    /// From a text to the word that tells the width of its characters.
    pub text_state: u32,
    /// The bit of that word at which the width begins; the mark of ASCII follows four bits later.
    pub width_bit: u32,
    /// From a text in ASCII to its characters.
    pub ascii_characters: u32,
    /// From a text outside ASCII to the characters.
    pub other_characters: u32,
    /// From a `bytes` object to its length.
    pub bytes_length: u32,
    /// From a `bytes` object to its content.
    pub bytes_content: u32,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodePlace {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) line: u32,
}

/// The longest text that is kept, in characters.
const LONGEST: usize = 4096;

/// Reads the place of an instruction of a code object.
///
/// # Safety
/// `code` is a code object that a running function keeps alive, and `layout` is that of this Python.
pub(crate) unsafe fn read_place(layout: &CodeLayout, code: usize, instruction: usize) -> CodePlace {
    // SAFETY: by the contract of this function all of these are fields of live objects.
    unsafe {
        let lines = word(code + layout.lines as usize);
        let length = word(lines + layout.bytes_length as usize);
        let table = std::slice::from_raw_parts((lines + layout.bytes_content as usize) as *const u8, length);
        let first = std::ptr::read_unaligned((code + layout.first_line as usize) as *const i32);
        let offset = instruction.saturating_sub(code + layout.instructions as usize);
        CodePlace {
            file: read_text(layout, word(code + layout.file as usize)),
            function: read_text(layout, word(code + layout.name as usize)),
            line: match layout.lines_format {
                10 => find_line_in_pairs(table, first, offset),
                _ => find_line(table, first, offset),
            }
            .unwrap_or_default(),
        }
    }
}

/// # Safety
/// A word lies at `address`.
unsafe fn word(address: usize) -> usize {
    // SAFETY: by the contract of this function.
    unsafe { std::ptr::read_unaligned(address as *const usize) }
}

/// # Safety
/// `text` is a live `str` in the compact form, as all names in code objects are.
unsafe fn read_text(layout: &CodeLayout, text: usize) -> String {
    // SAFETY: by the contract of this function; the state tells the width of the characters that follow (`PyASCIIObject`,
    // Include/cpython/unicodeobject.h).
    unsafe {
        let length = word(text + layout.text_length as usize).min(LONGEST);
        let state = std::ptr::read_unaligned((text + layout.text_state as usize) as *const u32);
        let (kind, is_ascii) = (state >> layout.width_bit & 7, state >> (layout.width_bit + 4) & 1 == 1);
        let start = text + if is_ascii { layout.ascii_characters } else { layout.other_characters } as usize;
        let character = |index: usize| match kind {
            1 => u32::from(std::ptr::read((start + index) as *const u8)),
            2 => u32::from(std::ptr::read_unaligned((start + 2 * index) as *const u16)),
            _ => std::ptr::read_unaligned((start + 4 * index) as *const u32),
        };
        (0..length).map(|index| char::from_u32(character(index)).unwrap_or('\u{fffd}')).collect()
    }
}

/// Finds the line of the instruction at `offset` in a table of PEP 657 (Objects/locations.md in CPython 3.11 and later).
fn find_line(table: &[u8], first: i32, offset: usize) -> Option<u32> {
    let (mut line, mut start, mut at) = (i64::from(first), 0, 0);
    while let Some(&head) = table.get(at) {
        at += 1;
        let (code, units) = (head >> 3 & 15, usize::from(head & 7) + 1);
        let mut number = || {
            let (mut value, mut shift) = (0u64, 0);
            while let Some(&byte) = table.get(at) {
                at += 1;
                value |= u64::from(byte & 63) << shift;
                shift = (shift + 6).min(58);
                if byte & 64 == 0 {
                    break;
                }
            }
            value
        };
        let mut has_line = true;
        match code {
            15 => has_line = false,
            14 => {
                line += signed(number());
                for _ in 0..3 {
                    number();
                }
            }
            13 => line += signed(number()),
            10..=12 => {
                line += i64::from(code - 10);
                at += 2;
            }
            _ => at += 1,
        }
        let end = start + 2 * units;
        if offset < end {
            return has_line.then(|| u32::try_from(line).unwrap_or_default());
        }
        start = end;
    }
    None
}

/// Finds the line in a table of CPython 3.10: pairs of a length in bytes and a change of the line, -128 for no line
/// (Objects/lnotab_notes.txt).
fn find_line_in_pairs(table: &[u8], first: i32, offset: usize) -> Option<u32> {
    let (mut line, mut end) = (first, 0);
    for pair in table.chunks_exact(2) {
        let change = pair[1] as i8;
        end += usize::from(pair[0]);
        line += if change == i8::MIN { 0 } else { i32::from(change) };
        if offset < end {
            return (change != i8::MIN).then(|| u32::try_from(line).unwrap_or_default());
        }
    }
    None
}

/// The sign is the last bit.
fn signed(value: u64) -> i64 {
    let size = (value >> 1) as i64;
    if value & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_the_table() {
        // `co_linetable` and `co_lines()` of CPython 3.11.7 for a function of five lines, the last two a list over two lines.
        let table = [
            128, 0, 216, 8, 9, 128, 65, 240, 4, 1, 12, 13, 240, 0, 1, 12, 13, 216, 10, 11, 240, 3, 1, 12, 13, 241, 0,
            1, 12, 13, 244, 0, 1, 12, 13, 240, 0, 1, 5, 13,
        ];
        let lines: Vec<Option<u32>> = (0..15).map(|index| find_line(&table, 1, 2 * index)).collect();
        let expected = [1, 2, 2, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4];
        assert_eq!(lines, expected.map(Some));
        assert_eq!(find_line(&table, 1, 10_000), None);
        assert_eq!(find_line(&[], 1, 0), None);
    }

    #[test]
    fn lines_follow_the_table_of_pairs() {
        // `co_linetable` and `co_lines()` of CPython 3.10.13 for a function with a sum over two lines, a loop and a `finally`.
        let table = [2, 1, 2, 1, 4, 255, 12, 2, 4, 1, 2, 1, 2, 255, 2, 2, 4, 1, 12, 2];
        let lines: Vec<Option<u32>> = (0..23).map(|index| find_line_in_pairs(&table, 1, 2 * index)).collect();
        let expected = [2, 3, 2, 2, 4, 4, 4, 4, 4, 4, 5, 5, 6, 5, 7, 8, 8, 10, 10, 10, 10, 10, 10];
        assert_eq!(lines, expected.map(Some));
        assert_eq!(find_line_in_pairs(&[4, 128, 4, 3], 1, 2), None);
        assert_eq!(find_line_in_pairs(&[4, 128, 4, 3], 1, 4), Some(4));
        assert_eq!(find_line_in_pairs(&table, 1, 46), None);
    }
}
