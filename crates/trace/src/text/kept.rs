//! The tables of a text, in bounded memory.
//!
//! # Note [Many tables]
//! A job may print a table at each step. The first tables and the last are kept, up to [`MOST_ROWS`] rows of each; the
//! tables in the middle of a text with more rows are dropped.

use std::collections::VecDeque;

use super::artifact::Artifact;

/// The most rows of the first tables, and of the last.
const MOST_ROWS: usize = 32 << 10;
/// The rows that a table counts besides its own: its share of the memory without any row.
const ROWS_OF_A_TABLE: usize = 4;

/// The tables so far.
#[derive(Default)]
pub(super) struct Kept {
    first: Vec<Artifact>,
    first_rows: usize,
    last: VecDeque<Artifact>,
    last_rows: usize,
}

impl Kept {
    /// Adds the next table.
    pub(super) fn add(&mut self, table: Artifact) {
        let rows = rows(&table);
        if self.last.is_empty() && self.first_rows + rows <= MOST_ROWS {
            self.first_rows += rows;
            self.first.push(table);
            return;
        }
        self.last_rows += rows;
        self.last.push_back(table);
        self.drop_middle();
    }

    /// The tables, in the order of the text.
    pub(super) fn finish(self) -> impl Iterator<Item = Artifact> {
        self.first.into_iter().chain(self.last)
    }

    fn drop_middle(&mut self) {
        while self.last_rows > MOST_ROWS && self.last.len() > 1 {
            self.last_rows -= self.last.pop_front().as_ref().map_or(0, rows);
        }
    }
}

fn rows(table: &Artifact) -> usize {
    let own = match table {
        Artifact::MemorySummary(summary) => summary.rows.len(),
        Artifact::MemoryStats(stats) => stats.values.len(),
        Artifact::NvidiaSmi(smi) => smi.gpus.len() + smi.processes.as_ref().map_or(0, Vec::len),
        Artifact::Oom(_)
        | Artifact::Refusal(_)
        | Artifact::DeviceTable(_)
        | Artifact::Printed(_)
        | Artifact::LookAlike(_)
        | Artifact::Application(_)
        | Artifact::RootRank(_) => 0,
    };
    own + ROWS_OF_A_TABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Refusal;

    /// The lines that are kept of a text with `count` tables of four rows, one on each line.
    fn check(count: u32, expected: impl Iterator<Item = u32>) {
        let mut kept = Kept::default();
        (1..=count).for_each(|line| kept.add(Artifact::Refusal(Refusal { line, ..Refusal::default() })));
        let lines: Vec<u32> = kept.finish().map(|table| table.first_line()).collect();
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{count} tables");
    }

    #[test]
    fn the_first_and_the_last_tables_are_kept() {
        check(3, 1..=3);
        check(16_384, 1..=16_384);
        check(100_000, (1..=8_192).chain(91_809..=100_000));
    }
}
