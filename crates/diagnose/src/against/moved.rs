//! Lines that an edit of the program between the runs has moved.
//!
//! # Note [Moved lines]
//! A new line moves all lines below, so the numbers of lines differ between A and B. The first requests are therefore also paired by function
//! and size alone: a line of B is a moved line of A if most of its requests are paired with requests of the line of A. Moves must keep the
//! order of the lines, and pair more requests than the numbers of the lines do, by one in [`LEAST_SHARE`].

use std::collections::{BTreeMap, BTreeSet};

use super::align;
use super::places::{PlaceId, Places};
use super::requests::Requests;

/// The moves are read from so many requests of each run.
const SAMPLE: usize = 50_000;
/// The moves must pair one more request in so many.
const LEAST_SHARE: usize = 10;

/// The lines of B, each with its line in A.
type Moves = BTreeMap<PlaceId, PlaceId>;

/// Renumbers the moved lines of B as in A; returns the number of moved lines.
pub(super) fn undo_moves(runs: &mut [Requests; 2], places: &mut Places) -> usize {
    let moves = find_moves(runs, places);
    let is_taken = |place: &PlaceId| moves.values().any(|line| line == place) && !moves.contains_key(place);
    let lines: BTreeSet<PlaceId> = runs[1].list.iter().map(|request| request.place).filter(is_taken).collect();
    // B may have another line at the number of a moved line of A.
    let others: Moves = lines.into_iter().map(|place| (place, places.copy(place))).collect();
    for request in &mut runs[1].list {
        let new = moves.get(&request.place).or(others.get(&request.place));
        request.place = new.copied().unwrap_or(request.place);
    }
    places.move_lines(moves.iter().chain(&others).map(|(from, to)| (*from, *to)));
    moves.len()
}

fn find_moves(runs: &[Requests; 2], places: &Places) -> Moves {
    let sample = [0, 1].map(|run| &runs[run].list[..runs[run].list.len().min(SAMPLE)]);
    let keys = |of: &dyn Fn(PlaceId) -> u32| {
        sample.map(|list| list.iter().map(|request| (of(request.place), request.bytes)).collect::<Vec<_>>())
    };
    let by_function = align_keys(&keys(&|place| places.function(place)));
    let moves = vote(&by_function, &sample.map(|list| list.iter().map(|request| request.place).collect::<Vec<_>>()));
    let by_line = count(&align_keys(&keys(&|place| place.0)));
    let gained = count(&by_function).saturating_sub(by_line);
    let shorter = sample[0].len().min(sample[1].len());
    if gained * LEAST_SHARE >= shorter.max(LEAST_SHARE) && keeps_order(&moves, places) { moves } else { Moves::new() }
}

fn align_keys(keys: &[Vec<(u32, u64)>; 2]) -> Vec<align::Stretch> {
    let (a, b) = align::number(&keys[0], &keys[1]);
    align::align(&a, &b)
}

fn count(stretches: &[align::Stretch]) -> usize {
    stretches.iter().map(|stretch| stretch.len).sum()
}

/// Returns the moved lines of B: most of the pairs of each are with the line of A.
fn vote(stretches: &[align::Stretch], lines: &[Vec<PlaceId>; 2]) -> Moves {
    let mut votes: BTreeMap<PlaceId, BTreeMap<PlaceId, usize>> = BTreeMap::new();
    for stretch in stretches {
        for index in 0..stretch.len {
            let (a, b) = (lines[0][stretch.a + index], lines[1][stretch.b + index]);
            *votes.entry(b).or_default().entry(a).or_default() += 1;
        }
    }
    let most = |votes: BTreeMap<PlaceId, usize>| votes.into_iter().max_by_key(|(_, count)| *count).map(|(a, _)| a);
    votes.into_iter().filter_map(|(b, votes)| Some((b, most(votes)?))).filter(|(b, a)| a != b).collect()
}

/// True if the lines of each file have the same order in A and in B, without repetition.
fn keeps_order(moves: &Moves, places: &Places) -> bool {
    let mut lines: Vec<(String, u32, u32)> = moves
        .iter()
        .filter_map(|(b, a)| {
            let [a, b] = [a, b].map(|place| places.line(*place).location);
            Some((b.as_ref()?.file.clone(), b?.line, a?.line))
        })
        .collect();
    lines.sort();
    lines.len() == moves.len() && lines.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 < pair[1].2)
}

#[cfg(test)]
mod tests {
    use super::super::requests::Request;
    use super::*;

    /// The requests of `(function, line, bytes)`.
    fn run(places: &mut Places, rows: &[(&str, u32, u64)]) -> Requests {
        let request = |(function, line, bytes): &(&str, u32, u64)| Request {
            place: places.intern_line("t.py", function, *line),
            bytes: *bytes,
            ..Request::default()
        };
        Requests { list: rows.iter().map(request).collect(), ..Requests::default() }
    }

    fn check(a: &[(&str, u32, u64)], b: &[(&str, u32, u64)], moved: usize, unpaired: usize) {
        let mut places = Places::default();
        let mut runs = [run(&mut places, a), run(&mut places, b)];
        assert_eq!(undo_moves(&mut runs, &mut places), moved, "{a:?} {b:?}");
        let keys = [0, 1].map(|run| runs[run].list.iter().map(|it| (it.place.0, it.bytes)).collect::<Vec<_>>());
        assert_eq!(a.len() + b.len() - 2 * count(&align_keys(&keys)), unpaired, "{a:?} {b:?}");
    }

    #[test]
    fn lines_below_an_edit_are_moved() {
        let before = [("f", 4, 512), ("f", 5, 1024), ("g", 9, 512)];
        check(&before, &before, 0, 0);
        check(&before, &[("f", 5, 512), ("f", 6, 1024), ("g", 10, 512)], 3, 0);
        // The new line 5 stands where a moved line stood.
        check(&before, &[("f", 4, 512), ("f", 5, 2048), ("f", 6, 1024), ("g", 10, 512)], 2, 1);
        // A doubled size in a moved line.
        check(&before, &[("f", 5, 512), ("f", 6, 2048), ("g", 10, 512)], 2, 2);
        // Another size is no move.
        check(&before, &[("f", 4, 512), ("f", 5, 4096), ("g", 9, 512)], 0, 2);
    }
}
