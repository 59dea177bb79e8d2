//! The ranges of a grown file written by others.

use std::ops::Range;

use super::account::FileAccount;

/// The growth of a file from `start` on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Growth {
    /// The ranges that stay, in order.
    pub(super) foreign: Vec<Range<u64>>,
    /// True if bytes of the program may be in these ranges.
    pub(super) is_doubtful: bool,
}

/// Finds the ranges of others between `start` and `size`. `None`: others made the file shorter, and no range is certain.
pub(super) fn find_growth(start: u64, size: u64, account: Option<&FileAccount>) -> Option<Growth> {
    let Some(account) = account.filter(|account| !account.is_unseen) else {
        return Some(Growth { foreign: Vec::new(), is_doubtful: false });
    };
    let is_below = account.own.iter().any(|range| range.start < start || range.end > size);
    if is_below {
        return None;
    }
    let growth = start..size;
    let rest = subtract(std::slice::from_ref(&growth), &account.own);
    let certain = subtract(&rest, &account.unseen);
    // A killed process may have written the bytes of its last call.
    if length(&certain) <= account.pending {
        return Some(Growth { foreign: Vec::new(), is_doubtful: false });
    }
    let is_doubtful = length(&certain) < length(&rest) || account.pending > 0;
    Some(Growth { foreign: rest, is_doubtful })
}

/// The number of bytes in ranges.
pub(super) fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// The parts of `ranges` outside `others`, in order.
fn subtract(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut rest = ranges.to_vec();
    for other in others {
        let parts = |range: &Range<u64>| {
            let (low, high) = (other.start.min(other.end), other.end);
            [range.start..range.end.min(low), range.start.max(high)..range.end]
        };
        rest = rest.iter().flat_map(parts).filter(|range| range.start < range.end).collect();
    }
    rest
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges")]
mod tests {
    use super::*;

    fn account(own: &[Range<u64>], unseen: &[Range<u64>]) -> FileAccount {
        FileAccount { own: own.to_vec(), unseen: unseen.to_vec(), ..FileAccount::default() }
    }

    fn find(account: &FileAccount) -> (Vec<Range<u64>>, bool) {
        let growth = find_growth(10, 50, Some(account)).unwrap_or(Growth { foreign: Vec::new(), is_doubtful: true });
        (growth.foreign, growth.is_doubtful)
    }

    #[test]
    fn ranges_that_the_program_did_not_write_stay() {
        for (own, unseen, expected) in [
            (vec![10..50], vec![], (vec![], false)),
            (vec![30..50, 10..30], vec![], (vec![], false)),
            (vec![20..30], vec![], (vec![10..20, 30..50], false)),
            (vec![20..30, 25..40], vec![], (vec![10..20, 40..50], false)),
            // The bytes of a shell, without another writer and with one.
            (vec![10..20], vec![20..u64::MAX], (vec![], false)),
            (vec![], vec![12..20, 20..50], (vec![10..50], true)),
            (vec![], vec![], (vec![10..50], false)),
        ] {
            assert_eq!(find(&account(&own, &unseen)), expected, "{own:?} {unseen:?}");
        }
    }

    #[test]
    fn a_call_in_flight_may_have_written_its_bytes() {
        let killed = |pending| FileAccount { pending, ..account(&[10..20], &[]) };
        assert_eq!(find(&killed(30)), (vec![], false));
        assert_eq!(find(&killed(29)), (vec![20..50], true));
    }

    #[test]
    fn a_file_that_others_cut_off_is_not_cut_again() {
        assert_eq!(find_growth(10, 50, Some(&account(&[0..5], &[]))), None);
        assert_eq!(find_growth(10, 50, Some(&account(&[40..60], &[]))), None);
    }

    #[test]
    fn without_an_account_the_growth_is_the_programs() {
        let unseen = FileAccount { is_unseen: true, ..account(&[], &[]) };
        for account in [None, Some(&unseen)] {
            assert_eq!(find_growth(10, 50, account), Some(Growth { foreign: Vec::new(), is_doubtful: false }));
        }
    }
}
