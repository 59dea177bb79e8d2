//! Columns that fit a width: the least important go first.

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) width: usize,
    /// The columns of the highest number vanish first; those of 0 stay.
    pub(super) rank: u8,
    pub(super) is_right: bool,
}

/// The blanks between two columns.
const GAP: usize = 2;

/// Chooses the columns that fit beside `least` cells for the last, flexible column. Returns their indices, and the width of the flexible one.
pub(super) fn choose(columns: &[Column], least: usize, width: usize) -> (Vec<usize>, usize) {
    let mut chosen: Vec<usize> = (0..columns.len()).collect();
    loop {
        let fixed: usize = chosen.iter().map(|&at| columns[at].width + GAP).sum();
        let first_out = chosen.iter().copied().max_by_key(|&at| (columns[at].rank, at));
        match first_out.filter(|&at| columns[at].rank > 0) {
            Some(at) if fixed + least > width => chosen.retain(|&kept| kept != at),
            _ => return (chosen, width.saturating_sub(fixed)),
        }
    }
}

/// Aligns a text in its column, with the gap behind it.
pub(super) fn align(column: &Column, text: &str) -> String {
    let text = super::words::cut(text, column.width);
    let blanks = " ".repeat(column.width.saturating_sub(super::words::width_of(&text)));
    let gap = " ".repeat(GAP);
    if column.is_right { format!("{blanks}{text}{gap}") } else { format!("{text}{blanks}{gap}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_important_columns_vanish_first() {
        let column = |width, rank| Column { title: "", width, rank, is_right: false };
        let columns = [column(5, 0), column(8, 2), column(3, 1)];
        let cases = [
            (60, (vec![0, 1, 2], 38)),
            (34, (vec![0, 1, 2], 12)),
            (33, (vec![0, 2], 21)),
            (20, (vec![0], 13)),
            (4, (vec![0], 0)),
        ];
        for (width, expected) in cases {
            assert_eq!(choose(&columns, 12, width), expected, "{width}");
        }
    }
}
