//! The temporary memory of an RNN.
//!
//! # Note [RNN memory]
//!
//! The reserve follows from what an H200 with cuDNN 9.19 took for five networks (`lstm`, `lstm-bf16`, `gru`, `speech-ctc` and
//! `translation` in `tests/validation/truth/nvidia-h200`): segments of the reserve's size to 2 MiB, and peaks while it is
//! alive. With one value per vector and cell as the unit, each layer of an LSTM keeps 5 and of a GRU 6, each further layer
//! keeps its input once, and dropout keeps one bit per value: exact for `gru` and `lstm-bf16` but for less than 512 bytes,
//! and 0.75 MiB too small for `lstm`. Single gates (`nn.RNN`) were not measured.
//!
//! The workspace is the nearest simple figure, 8 % too small to 7 % too large for the five: the gates and three values, and one
//! more with dropout.

/// The parameters of an RNN's temporary memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recurrence {
    /// Steps times batch: the number of input vectors.
    pub(crate) vectors: u64,
    /// 1, or 2 if bidirectional.
    pub(crate) directions: u64,
    pub(crate) layers: u64,
    /// Gates of the cell: 4 for LSTM, 3 for GRU, 1 otherwise.
    pub(crate) gates: u64,
    /// Width of the cell.
    pub(crate) hidden: u64,
    /// Width of a direction's output: the projection, or `hidden`.
    pub(crate) output: u64,
    /// Bytes per element.
    pub(crate) element_bytes: u64,
    /// True if dropout lies between the layers.
    pub(crate) has_dropout: bool,
}

/// The reset, update and new gate.
const GRU_GATES: u64 = 3;
/// Values that backward needs of each layer and cell.
const KEPT_BY_LSTM: u64 = 5;
const KEPT_BY_GRU: u64 = 6;

impl Recurrence {
    fn bytes(self, values_per_vector: u64) -> u64 {
        [self.vectors, self.directions, values_per_vector, self.element_bytes].into_iter().fold(1, u64::saturating_mul)
    }

    /// Workspace of a forward or backward pass. See Note [RNN memory].
    pub(crate) fn workspace(self) -> u64 {
        let values = if self.gates > 1 { self.gates + 2 + u64::from(self.has_dropout) } else { 1 };
        self.bytes(values.saturating_mul(self.hidden).saturating_add(self.output))
    }

    /// Reserve, kept from forward to backward. See Note [RNN memory].
    pub(crate) fn reserve(self) -> u64 {
        let inside = self.layers.saturating_mul(self.kept()).saturating_mul(self.hidden);
        let further_layers = self.layers.saturating_sub(1);
        let between = further_layers.saturating_mul(self.output);
        let mask = if self.has_dropout { self.mask_bytes().saturating_mul(further_layers) } else { 0 };
        self.bytes(inside.saturating_add(between)).saturating_add(mask)
    }

    fn kept(self) -> u64 {
        match self.gates {
            0..=1 => 1,
            GRU_GATES => KEPT_BY_GRU,
            _ => KEPT_BY_LSTM,
        }
    }

    /// One bit for each value between two layers.
    fn mask_bytes(self) -> u64 {
        [self.vectors, self.directions, self.output].into_iter().fold(1, u64::saturating_mul).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::Recurrence;

    const MIB: u64 = 1 << 20;

    fn language(gates: u64, batch: u64, element_bytes: u64) -> Recurrence {
        let (directions, layers, hidden) = (1, 2, 1024);
        Recurrence {
            vectors: 256 * batch,
            directions,
            layers,
            gates,
            hidden,
            output: hidden,
            element_bytes,
            has_dropout: true,
        }
    }

    /// The H200's peaks, less the other allocations of each program; the segments have 2 MiB more at most.
    #[test]
    fn the_reserve_is_that_of_an_h200() {
        assert_eq!(language(4, 64, 2).reserve(), 354 * MIB);
        assert_eq!(language(3, 128, 4).reserve(), 1668 * MIB);
        let speech = Recurrence {
            // 64 lengths from 800 down to 400, packed.
            vectors: 38_369,
            directions: 2,
            layers: 4,
            hidden: 512,
            output: 512,
            has_dropout: false,
            ..language(4, 64, 4)
        };
        assert_eq!(speech.reserve().next_multiple_of(2 * MIB), 3448 * MIB);
    }

    #[test]
    fn a_workspace_is_near_that_of_an_h200() {
        let cases = [(language(4, 64, 4), 534), (language(4, 64, 2), 276), (language(3, 128, 4), 838)];
        for (network, measured_mib) in cases {
            let percent = network.workspace() * 100 / (measured_mib * MIB);
            assert!((92..108).contains(&percent), "{network:?}: {percent} %");
        }
    }

    #[test]
    fn one_layer_has_nothing_between() {
        let network = Recurrence { layers: 1, ..language(4, 64, 4) };
        assert_eq!(network.reserve(), 5 * 64 * MIB);
    }
}
