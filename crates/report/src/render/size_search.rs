//! The words for the way in which a program lives with its out-of-memory errors.

use super::layout::{grouped, short_line};
use crate::size_search::{Recovery, SizeSearch};

/// At most this many values that did not fit are named.
const TRIED: usize = 4;

/// The way in which a program lives with its out-of-memory errors.
pub(super) fn recovered(search: &SizeSearch, folder: &str) -> String {
    let at = search.refused_at.as_ref().map_or_else(String::new, |at| format!(" at {}", short_line(at, folder)));
    match (search.recovery, &search.lowers) {
        (Recovery::Smaller, Some(lowers)) => words_of_size(search, lowers)
            .unwrap_or_else(|| format!("with the `{lowers}` that it looks for by running out")),
        (Recovery::Smaller, None) => format!("with the size that it looks for by running out{at}"),
        (Recovery::OtherWay, _) => format!("by another way that it takes after it ran out{at}"),
        (Recovery::Measured, _) => format!("once it has filled the device to measure it{at}"),
    }
}

/// `with `batch` 8 in place of 32 (32 and 16 do not fit)`; `None` if the values are not known.
fn words_of_size(search: &SizeSearch, name: &str) -> Option<String> {
    let (settled, first) = (search.settled?, search.tried.first()?);
    let mut tried: Vec<String> = search.tried.iter().map(|value| grouped(*value)).collect();
    tried.dedup();
    let failed = match tried.as_slice() {
        [one] => format!("{one} does not fit"),
        [others @ .., last] if others.len() < TRIED => format!("{} and {last} do not fit", others.join(", ")),
        _ => format!("{} values do not fit", tried.len()),
    };
    Some(format!("with `{name}` {} in place of {} ({failed})", grouped(settled), grouped(*first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Location;

    #[test]
    fn the_size_that_fits_stands_before_those_that_do_not() {
        let cases = [
            (vec![16], 8, "with `batch` 8 in place of 16 (16 does not fit)"),
            (vec![64, 32, 32], 16, "with `batch` 16 in place of 64 (64 and 32 do not fit)"),
            (vec![9, 8, 7, 6, 5], 4, "with `batch` 4 in place of 9 (5 values do not fit)"),
        ];
        for (tried, settled, expected) in cases {
            let search = SizeSearch {
                lowers: Some("batch".to_owned()),
                tried,
                settled: Some(settled),
                caught_at: Location { file: "train.py".to_owned(), line: 50, column: None },
                errors: 1,
                recovery: Recovery::Smaller,
                refused_at: None,
            };
            assert_eq!(recovered(&search, ""), expected);
        }
    }
}
