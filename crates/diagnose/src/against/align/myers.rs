//! Myers' search for the fewest insertions and deletions (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).

/// The furthest index of `a` on each diagonal after some edits; diagonal `k` is at `k + edits`.
type Furthest = Vec<usize>;

/// Pairs equal elements with the fewest insertions and deletions; `None` if more than `most` are needed.
pub(super) fn find_pairs(a: &[u32], b: &[u32], most: usize) -> Option<Vec<(usize, usize)>> {
    let mut rounds: Vec<Furthest> = Vec::new();
    for edits in 0..=most.min(a.len() + b.len()) {
        let last = rounds.last();
        let round: Furthest = (0..=2 * edits).map(|place| extend(a, b, last, place, edits)).collect();
        let is_done = goal(a, b, edits).is_some_and(|place| round.get(place) == Some(&a.len()));
        rounds.push(round);
        if is_done {
            return Some(trace_back(a.len(), b.len(), &rounds));
        }
    }
    None
}

/// The place of the diagonal that ends both sequences, if it can be reached with so many edits.
fn goal(a: &[u32], b: &[u32], edits: usize) -> Option<usize> {
    (a.len() + edits).checked_sub(b.len()).filter(|place| place.is_multiple_of(2))
}

/// The furthest index of `a` at a place of the next round. Every second place is unused, as an edit changes the diagonal by one.
fn extend(a: &[u32], b: &[u32], last: Option<&Furthest>, place: usize, edits: usize) -> usize {
    if !place.is_multiple_of(2) {
        return 0;
    }
    let mut x = last.map_or(0, |last| step(last, place).1);
    // Both sequences may be left behind by an edit at their end, where nothing is equal.
    while let Some(y) = (x + edits).checked_sub(place)
        && x < a.len()
        && y < b.len()
        && a[x] == b[y]
    {
        x += 1;
    }
    x
}

/// The previous place, and the index of `a` after the edit: an insertion keeps it, a deletion adds one. In the round before, the same diagonal
/// is one place lower.
fn step(last: &Furthest, place: usize) -> (usize, usize) {
    let inserted = last.get(place).map(|x| (place, *x));
    let deleted = place.checked_sub(2).and_then(|below| Some((below, last.get(below)? + 1)));
    match (inserted, deleted) {
        (Some(inserted), Some(deleted)) if inserted.1 >= deleted.1 => inserted,
        (Some(inserted), None) => inserted,
        (_, deleted) => deleted.unwrap_or_default(),
    }
}

/// The pairs along the way back from the end.
fn trace_back(a_len: usize, b_len: usize, rounds: &[Furthest]) -> Vec<(usize, usize)> {
    let (mut x, mut pairs) = (a_len, Vec::new());
    let mut place = (a_len + rounds.len() - 1).saturating_sub(b_len);
    for edits in (0..rounds.len()).rev() {
        let (below, start) = edits.checked_sub(1).map_or((0, 0), |last| step(&rounds[last], place));
        pairs.extend((start..x).rev().map(|index| (index, (index + edits).saturating_sub(place))));
        let is_insertion = below == place;
        x = if is_insertion { start } else { start.saturating_sub(1) };
        place = below;
    }
    pairs.reverse();
    pairs
}
