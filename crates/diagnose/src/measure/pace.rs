//! The pace of a growth, from few steps of a running program.

/// The fewest steps that show a growth.
const FEWEST: usize = 4;

/// The bytes by which a step grows: the median of the slopes between any two steps. `None` unless three in four slopes rise: a jump, or sizes that
/// go up and down, are no growth.
pub(crate) fn estimate_growth(after_steps: &[(u32, u64)]) -> Option<u64> {
    if after_steps.len() < FEWEST {
        return None;
    }
    let mut slopes: Vec<i64> = Vec::new();
    for (at, later) in after_steps.iter().enumerate() {
        slopes.extend(after_steps[..at].iter().filter_map(|earlier| slope(*earlier, *later)));
    }
    slopes.sort_unstable();
    let (lower, median) = (*slopes.get(slopes.len() / 4)?, *slopes.get(slopes.len() / 2)?);
    u64::try_from(median).ok().filter(|_| lower > 0)
}

fn slope((step, bytes): (u32, u64), (later, more): (u32, u64)) -> Option<i64> {
    more.cast_signed().checked_sub(bytes.cast_signed())?.checked_div(later.checked_sub(step)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_steady_rise_is_growth() {
        let zigzag = |step: u64| 500 + 200 * (step % 2);
        let cases: [(&str, Vec<u64>, Option<u64>); 8] = [
            ("nothing", vec![], None),
            ("three steps", vec![10, 20, 30], None),
            ("each step", vec![10, 20, 30, 40], Some(10)),
            ("a release in between", vec![10, 20, 30, 25, 50, 60, 70, 80], Some(10)),
            ("a jump", vec![10, 10, 10, 90, 90, 90], None),
            ("a fall", vec![90, 80, 70, 60], None),
            ("sizes that differ", (0..20).map(zigzag).collect(), None),
            ("growth below sizes that differ", (0..20).map(|step| zigzag(step) + 100 * step).collect(), Some(100)),
        ];
        for (name, bytes, expected) in cases {
            let after: Vec<(u32, u64)> = (2..).zip(bytes).collect();
            assert_eq!(estimate_growth(&after), expected, "{name}");
        }
    }

    #[test]
    fn steps_without_a_record_count() {
        assert_eq!(estimate_growth(&[(2, 100), (3, 110), (10, 180), (40, 480)]), Some(10));
    }
}
