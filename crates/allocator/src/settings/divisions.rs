//! The sixteen intervals of a `roundup_power2_divisions` list.

/// `number`, if it is a power of two.
pub(super) fn power_of_two(number: u64) -> Option<u64> {
    number.is_power_of_two().then_some(number)
}

/// A list being read.
///
/// The first pair also fills all intervals below it. Later pairs set their own interval only, so intervals between two
/// pairs keep their values; `>` fills the intervals after the last pair.
#[derive(Debug)]
pub(super) struct List {
    first: bool,
    last: usize,
    /// 1 if `>` begins after the last interval, 0 if `>` overwrites it.
    behind: usize,
}

impl List {
    pub(super) fn new(behind: usize) -> List {
        List { first: true, last: 0, behind }
    }

    /// Applies a pair: divisions from a power of two of MiB on.
    pub(super) fn from(&mut self, boundary: u64, value: u64, divisions: &mut [u64; 16]) {
        let index = (boundary.ilog2() as usize).min(15);
        if std::mem::take(&mut self.first) {
            divisions.iter_mut().take(index).for_each(|below| *below = value);
        }
        divisions.iter_mut().skip(index).take(1).for_each(|own| *own = value);
        self.last = index;
    }

    /// Applies `>`: divisions for the remaining intervals.
    pub(super) fn rest(&self, value: u64, divisions: &mut [u64; 16]) {
        divisions.iter_mut().skip(self.last + self.behind).for_each(|above| *above = value);
    }
}
