//! Predicts a program of another batch size from two recordings: every request is a linear function of the batch size.
//!
//! Each further sample enlarges a request by a constant number of bytes, or not at all, since sizes are products of
//! dimensions of which one is the batch. Exceptions (a library's choice of workspace, the last batch of a data set)
//! make a prediction wrong; a run then shows the difference.

use super::op::{Op, Program};

impl Program {
    /// The program at batch size `size`, where `self` was recorded at `own` and `other` at `others`; `None` if the two
    /// programs differ in more than sizes.
    pub fn scaled(&self, own: u64, other: &Program, others: u64, size: u64) -> Option<Program> {
        let line = Line { own, others, size };
        if own == others || self.ops.len() != other.ops.len() || self.slots != other.slots || !self.older.is_empty() {
            return None;
        }
        let ops = self.ops.iter().zip(&other.ops).map(|(one, two)| line.op(*one, *two)).collect::<Option<Vec<Op>>>()?;
        Some(Program { ops, ..self.clone() })
    }
}

/// A position on the line through two batch sizes.
struct Line {
    own: u64,
    others: u64,
    size: u64,
}

impl Line {
    fn op(&self, one: Op, two: Op) -> Option<Op> {
        let is_same = std::mem::discriminant(&one) == std::mem::discriminant(&two);
        match (one, two) {
            (Op::Malloc { requested, slot, stream }, Op::Malloc { requested: other, .. }) => {
                Some(Op::Malloc { requested: self.at(requested, other)?, slot, stream })
            }
            (Op::MallocPrivate { requested, slot, pool }, Op::MallocPrivate { requested: other, .. }) => {
                Some(Op::MallocPrivate { requested: self.at(requested, other)?, slot, pool })
            }
            (Op::Optional { requested, stream }, Op::Optional { requested: other, .. }) => {
                Some(Op::Optional { requested: self.at(requested, other)?, stream })
            }
            (Op::Failed { .. }, _) => None,
            _ => (is_same && one == two).then_some(one),
        }
    }

    /// The requested size at this position; rounded up if a sample has no whole number of bytes.
    fn at(&self, one: u64, two: u64) -> Option<u64> {
        let [own, others, size] = [self.own, self.others, self.size].map(i128::from);
        let rise = (i128::from(two) - i128::from(one)) * (size - own);
        let (whole, rest) = (rise.div_euclid(others - own), rise.rem_euclid(others - own));
        u64::try_from(i128::from(one) + whole + i128::from(rest != 0)).ok()
    }
}

#[cfg(test)]
mod tests {
    use trace::{EventIndex, Stream};

    use super::super::op::{BlockSlot, StreamIndex};
    use super::*;

    fn program(sizes: &[u64]) -> Program {
        let mut program = Program { streams: vec![Stream(0)], slots: sizes.len(), ..Program::default() };
        for (index, &requested) in (0..).zip(sizes) {
            program.push(Op::Malloc { requested, slot: BlockSlot(index), stream: StreamIndex(0) }, EventIndex(index));
        }
        program
    }

    #[test]
    fn a_request_is_a_line_through_two() {
        let check = |one: &[u64], two: &[u64], size, expected: Option<&[u64]>| {
            let scaled = program(one).scaled(4, &program(two), 8, size);
            let expected = expected.map(|sizes| program(sizes).ops);
            assert_eq!(scaled.map(|program| program.ops), expected, "{one:?} {two:?} at {size}");
        };
        check(&[100, 40], &[100, 80], 6, Some(&[100, 60]));
        check(&[100, 40], &[100, 80], 1, Some(&[100, 10]));
        check(&[100, 40], &[100, 80], 100, Some(&[100, 1000]));
        // Nine more bytes for four samples: two samples have 4.5, rounded up.
        check(&[31], &[40], 6, Some(&[36]));
        check(&[100], &[40], 12, None);
        check(&[100], &[100, 40], 6, None);
    }
}
