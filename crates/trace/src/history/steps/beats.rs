//! Finds symbols of a sequence that recur at even distances, and the period of the step.

use rustc_hash::FxHashMap;

/// A sequence, with the positions of each symbol.
#[derive(Debug)]
pub(super) struct Symbols {
    sequence: Vec<u32>,
    /// The value of each symbol.
    values: Vec<u64>,
    /// The positions of each symbol, in order.
    places: Vec<Vec<u32>>,
}

/// A symbol that recurs at even distances.
#[derive(Clone, Debug)]
pub(super) struct Beat {
    /// The distance.
    pub(super) period: u32,
    /// The positions from which on the distances are even.
    pub(super) places: Vec<u32>,
}

/// A loop: the beats of one period.
#[derive(Clone, Debug)]
pub(super) struct RepeatedLoop {
    pub(super) beats: Vec<Beat>,
}

/// Distances that differ by less than this fraction are equal: steps are not all equally long.
const SAME: u32 = 8;
/// One distance in `FEW` may differ: an evaluation between two steps.
const FEW: usize = 4;
/// The share of recurring symbols that a step contains, in percent.
const ALMOST_ALL: usize = 95;
/// The share that suffices if no loop contains almost all, in percent.
const MOST: usize = 60;

impl Symbols {
    pub(super) fn new(symbols: impl Iterator<Item = u64>) -> Symbols {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let (mut sequence, mut values, mut places) = (Vec::new(), Vec::new(), Vec::<Vec<u32>>::new());
        for (place, symbol) in (0..u32::MAX).zip(symbols) {
            let number = *numbers.entry(symbol).or_insert_with(|| {
                places.push(Vec::new());
                values.push(symbol);
                u32::try_from(places.len() - 1).unwrap_or(u32::MAX)
            });
            sequence.push(number);
            places[number as usize].push(place);
        }
        Symbols { sequence, values, places }
    }

    /// The shortest loop with almost all recurring symbols; else the loop with most recurring symbols. If any symbol
    /// `counts`, only such symbols are considered.
    ///
    /// `is_inner` tests the symbols of a turn for a known inner loop.
    pub(super) fn step(&self, counts: impl Fn(u64) -> bool, is_inner: impl Fn(&[u64]) -> bool) -> Option<RepeatedLoop> {
        let returning = self.mark_returning(counts);
        let total = returning.iter().filter(|&&returns| returns).count();
        let mut best: Option<(usize, RepeatedLoop)> = None;
        for found in self.loops(total) {
            let turn = self.last_turn(&found);
            let has = turn.iter().filter(|&&symbol| returning.get(symbol as usize) == Some(&true)).count();
            let share = has * 100 / total.max(1);
            if is_inner(&turn.iter().map(|&symbol| self.values[symbol as usize]).collect::<Vec<_>>()) {
                continue;
            }
            if best.as_ref().is_none_or(|(most, _)| share > *most) {
                best = Some((share, found));
            }
            if share >= ALMOST_ALL {
                break;
            }
        }
        best.filter(|(share, _)| *share >= MOST).map(|(_, found)| found)
    }

    /// Marks symbols that recur late in the sequence, which excludes the set-up's symbols. If any symbol counts, only
    /// such symbols are marked.
    fn mark_returning(&self, counts: impl Fn(u64) -> bool) -> Vec<bool> {
        let length = u32::try_from(self.sequence.len()).unwrap_or(u32::MAX);
        let returns = |places: &Vec<u32>| match (places.first(), places.last()) {
            (Some(first), Some(last)) => last - first >= length / 4 && *last >= length / 2,
            _ => false,
        };
        let returning: Vec<bool> = self.places.iter().map(returns).collect();
        let counting = returning.iter().zip(&self.values).map(|(&returns, &value)| returns && counts(value));
        let counting: Vec<bool> = counting.collect();
        if counting.contains(&true) { counting } else { returning }
    }

    /// The loops, shortest first. A beat heard only twice counts if many agree.
    fn loops(&self, returning: usize) -> Vec<RepeatedLoop> {
        let mut beats: Vec<Beat> = self.places.iter().filter_map(|places| self.beat(places)).collect();
        beats.sort_by_key(|beat| beat.period);
        let mut loops: Vec<RepeatedLoop> = Vec::new();
        for beat in beats {
            match loops.last_mut().filter(|last| is_same(last.beats[0].period, beat.period)) {
                Some(last) => last.beats.push(beat),
                None => loops.push(RepeatedLoop { beats: vec![beat] }),
            }
        }
        for found in &mut loops {
            let most = found.beats.iter().map(|beat| beat.places.len()).max().unwrap_or_default();
            // A beat may begin just before the rest, or end just after.
            found.beats.retain(|beat| beat.places.len() + 1 >= most);
        }
        let heard_often = |found: &RepeatedLoop| found.beats[0].places.len() > 2 || found.beats.len() * 5 >= returning;
        loops.retain(heard_often);
        loops
    }

    /// The beat of a symbol: of all positions, else of the first position after each of the longest pauses.
    fn beat(&self, places: &[u32]) -> Option<Beat> {
        let end = u32::try_from(self.sequence.len()).unwrap_or(u32::MAX);
        even(places, end).or_else(|| even(&after_pauses(places), end))
    }

    /// The symbols of the last whole turn of a loop.
    fn last_turn(&self, found: &RepeatedLoop) -> Vec<u32> {
        let Some(&[.., from, to]) = found.beats.first().map(|beat| beat.places.as_slice()) else {
            return Vec::new();
        };
        let mut turn = self.sequence[from as usize..to as usize].to_vec();
        turn.sort_unstable();
        turn.dedup();
        turn
    }
}

/// The beat of these positions, if their later distances are even with few exceptions, and reach the end.
fn even(places: &[u32], end: u32) -> Option<Beat> {
    let gaps: Vec<u32> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let late = &gaps[gaps.len() / 2..];
    let mut sorted = late.to_vec();
    sorted.sort_unstable();
    let period = *sorted.get(sorted.len() / 2)?;
    let uneven = late.iter().filter(|&&gap| !is_same(period, gap)).count();
    let heard = places.last().is_some_and(|&last| end - last <= period + period / 2);
    // The first steps are longer, since they allocate the survivors.
    let from = gaps.iter().position(|&gap| gap >= period / 2 && gap <= period * 2)?;
    (uneven * FEW <= late.len() && heard && period > 1).then(|| Beat { period, places: places[from..].to_vec() })
}

/// The positions after the longest of the later pauses and those almost as long, and the first position.
fn after_pauses(places: &[u32]) -> Vec<u32> {
    let gaps = || places.windows(2).map(|pair| pair[1] - pair[0]);
    let longest = gaps().skip(places.len() / 2).max().unwrap_or_default();
    let after = places.iter().skip(1).zip(gaps()).filter(|(_, gap)| *gap > longest / 4 * 3).map(|(&place, _)| place);
    places.first().copied().into_iter().chain(after).collect()
}

fn is_same(period: u32, gap: u32) -> bool {
    period.abs_diff(gap) <= period / SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period, and the positions of its first beat.
    type Steps = Option<(u32, Vec<u32>)>;

    /// The starts of the steps of a sequence, one letter per symbol; the first beat decides.
    fn steps(sequence: &str) -> Steps {
        let found =
            Symbols::new(sequence.bytes().map(u64::from)).step(|symbol| symbol == u64::from(b'o'), |_| false)?;
        let first = found.beats.first()?;
        Some((first.period, first.places.clone()))
    }

    #[test]
    fn a_step_is_the_shortest_loop_with_everything_in_it() {
        let cases: [(&str, Steps); 8] = [
            ("", None),
            ("abcdefghij", None),
            ("abcabcabcabc", Some((3, vec![0, 3, 6, 9]))),
            // Set-up, then layers within steps.
            ("zyxwsLmLmLmLmosLmLmLmLmosLmLmLmLmo", Some((10, vec![4, 14, 24]))),
            // Steps that differ a little in length: the shortest beat is i's.
            ("abcdefghijklmnopabcdefghhijklmnopabcdefghijklmnop", Some((16, vec![8, 25, 41]))),
            // Optimizer (p) after every third batch, over several parameters.
            ("abcdabcdabcdpppppabcdabcdabcdpppppabcdabcdabcdppppp", Some((17, vec![0, 17, 34]))),
            // An evaluation (x) after every fourth step; the optimizer (o) tells.
            (
                "abcdoabcdoabcdoabcdoxyzxyzabcdoabcdoabcdoabcdoxyzxyzabcdo",
                Some((5, vec![0, 5, 10, 15, 26, 31, 36, 41, 52])),
            ),
            // No steps.
            ("abacabadacbbdacbadcbadbcabdacb", None),
        ];
        for (sequence, expected) in cases {
            assert_eq!(steps(sequence), expected, "{sequence}");
        }
    }
}
