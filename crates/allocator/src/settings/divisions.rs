//! How a list of `roundup_power2_divisions` fills the sixteen intervals.

/// The number, if it is a power of two.
pub(super) fn power_of_two(number: u64) -> Option<u64> {
    number.is_power_of_two().then_some(number)
}

/// A list as it is read.
///
/// The first pair fills every interval below its own too; later pairs set their own only, so intervals between two keep
/// what they had; `>` fills those that follow the last.
#[derive(Debug)]
pub(super) struct List {
    first: bool,
    last: usize,
    /// 1 where `>` begins behind the last interval, 0 where it overwrites it.
    behind: usize,
}

impl List {
    pub(super) fn new(behind: usize) -> List {
        List { first: true, last: 0, behind }
    }

    /// A pair: so many divisions from a power of two of MiB on.
    pub(super) fn from(&mut self, boundary: u64, value: u64, divisions: &mut [u64; 16]) {
        let index = (boundary.ilog2() as usize).min(15);
        if std::mem::take(&mut self.first) {
            divisions.iter_mut().take(index).for_each(|below| *below = value);
        }
        divisions.iter_mut().skip(index).take(1).for_each(|own| *own = value);
        self.last = index;
    }

    /// `>`: so many divisions for the rest.
    pub(super) fn rest(&self, value: u64, divisions: &mut [u64; 16]) {
        divisions.iter_mut().skip(self.last + self.behind).for_each(|above| *above = value);
    }
}
