//! The memory that a program logs at each step, before an error.

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::size;
use super::stated::StatedBytes;

/// The text before an error that is searched.
const BEFORE: usize = 256 << 10;
/// Fewer figures are no series.
const FEWEST: usize = 4;
/// The most letters between the name of a figure and the figure.
const GAP: usize = 32;
/// The names of figures.
const NAMES: [&[u8]; 3] = [b"mem", b"alloc", b"vram"];
/// A figure without a unit is in MiB from here on: loggers that print GiB print a point.
const LEAST_MIB: u64 = 256;

/// Memory in use that only grows from line to line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The first figure.
    pub first: StatedBytes,
    /// The last figure.
    pub last: StatedBytes,
    /// The number of figures.
    pub count: u32,
}

/// Returns the series that ends before the byte at `at`, if its figures grow up to the end.
pub(super) fn above(text: &[u8], at: usize) -> Option<Series> {
    let before = &text[at.saturating_sub(BEFORE)..at];
    let lines = before.split(|byte| b"\r\n".contains(byte));
    let figures: Vec<StatedBytes> = lines.filter_map(figure).collect();
    let (first, last) = (*figures.first()?, *figures.last()?);
    let grows = figures.windows(2).all(|pair| pair[0].nearest <= pair[1].nearest);
    // A peak grows too, and then no more.
    let late = figures.get(figures.len() * 2 / 3)?;
    let count = u32::try_from(figures.len()).unwrap_or(u32::MAX);
    let is_series = figures.len() >= FEWEST && grows && late.nearest < last.nearest;
    is_series.then_some(Series { first, last, count })
}

/// Returns the first size on a line behind the name of a figure.
fn figure(line: &[u8]) -> Option<StatedBytes> {
    const LONGEST: usize = 512;
    let line: Vec<u8> = line.iter().take(LONGEST).map(u8::to_ascii_lowercase).collect();
    if memmem::find(&line, b"out of memory").is_some() {
        return None;
    }
    let names = NAMES.iter().flat_map(|name| memmem::find_iter(&line, name));
    let mut starts: Vec<usize> = names.collect();
    starts.sort_unstable();
    starts.into_iter().find_map(|start| size_behind(&line[start..]))
}

fn size_behind(text: &[u8]) -> Option<StatedBytes> {
    let gap = text.iter().take(GAP).position(u8::is_ascii_digit)?;
    let is_label = |byte: &u8| byte.is_ascii_alphabetic() || b" _/:=|()[].-\"'".contains(byte);
    if !text[..gap].iter().all(is_label) {
        return None;
    }
    let packed: Vec<u8> = text[gap..].iter().take(GAP).copied().filter(|byte| *byte != b' ').collect();
    let (size, length) = size::parse_any(&packed)?;
    let has_unit = packed[..length].iter().any(u8::is_ascii_alphabetic);
    match has_unit {
        true => Some(size),
        false if size.nearest.0 >= LEAST_MIB && size.nearest.0 < 1 << 20 => {
            Some(size::truncated_range(size.nearest.0, 20))
        }
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u64, u64, u32)>) {
        let found = above(text.as_bytes(), text.len());
        let found = found.map(|series| (series.first.nearest.0 >> 20, series.last.nearest.0 >> 20, series.count));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn figures_that_grow_to_the_end_are_a_series() {
        check("mem 1.00 GiB\nmem 2.00 GiB\nmem 3.00 GiB\nmem 4.00 GiB\n", Some((1024, 4096, 4)));
        check("alloc=1.0G, x\ralloc=1.5G, x\ralloc=2.0G\ralloc=2.5G", Some((1024, 2560, 4)));
        check("memory: 2000  loss: 1\nmemory: 2500\nmemory: 3000\nmemory: 3500\n", Some((2000, 3500, 4)));
    }

    #[test]
    fn figures_that_stay_or_fall_are_none() {
        check("mem 1.00 GiB\nmem 2.00 GiB\nmem 3.00 GiB\n", None);
        check("mem 1.00 GiB\nmem 2.00 GiB\nmem 3.00 GiB\nmem 3.00 GiB\nmem 3.00 GiB\nmem 3.00 GiB\n", None);
        check("mem 1.00 GiB\nmem 2.00 GiB\nmem 1.00 GiB\nmem 2.00 GiB\n", None);
        check("step 100\nstep 200\nstep 300\nstep 400\n", None);
    }
}
