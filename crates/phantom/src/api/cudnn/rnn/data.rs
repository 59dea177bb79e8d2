//! RNN data descriptors: how many vectors a batch of sequences has.

use super::super::{Answer, CudnnStatus, Opaque, count, create, destroy, known};
use crate::boundary::{In, Out, export};
use crate::handle::{Handle, Table};

/// `CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED`: sequences take no more than their own lengths.
const PACKED: i32 = 1;

/// The stored part of a batch of sequences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequences {
    /// Vectors in memory: padded ones count unless the layout is packed.
    pub(crate) vectors: u64,
}

static SEQUENCES: Table<Sequences> = Table::new();

/// The sequences behind `handle`.
pub(crate) fn get(handle: Handle) -> Answer<Sequences> {
    known(&SEQUENCES, handle, |sequences| *sequences)
}

fn vectors(layout: i32, longest: i32, batch: usize, lengths: In<i32>) -> Answer<u64> {
    if layout != PACKED {
        return Ok(count(longest)? as u64 * batch as u64);
    }
    Ok(lengths.array(batch).to_vec()?.into_iter().map(|length| u64::try_from(length).unwrap_or(0)).sum())
}

export! { CudnnStatus;
    fn cudnnCreateRNNDataDescriptor(out: Out<Handle>) {
        create(&SEQUENCES, Sequences::default(), out)
    }

    fn cudnnDestroyRNNDataDescriptor(handle: Handle) {
        destroy(&SEQUENCES, handle)
    }

    fn cudnnSetRNNDataDescriptor(
        handle: Handle, _data_type: i32, layout: i32, longest: i32, batch: i32, _width: i32, lengths: In<i32>,
        _padding: Opaque,
    ) {
        let vectors = vectors(layout, longest, count(batch)?, lengths)?;
        known(&SEQUENCES, handle, |sequences| sequences.vectors = vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Status;

    #[test]
    fn padding_counts_unless_packed() {
        let lengths = [5, 3, 1];
        for (layout, expected) in [(0, 15), (PACKED, 9), (2, 15)] {
            assert_eq!(vectors(layout, 5, 3, In::to(&lengths).cast()), Ok(expected));
        }
        assert_eq!(vectors(0, -1, 3, In::to(&lengths).cast()), Err(CudnnStatus::INVALID));
    }
}
