//! The offsets of a recurrent network's weights in its weight space.
//!
//! # Note [RNN weight space]
//!
//! The space holds, without gaps, the matrices of all pseudo-layers and then the biases of all pseudo-layers. A
//! pseudo-layer is a layer in one direction; its matrices are those of the input gates, of the recurrent gates and, for
//! an LSTM with projection, the projection. Gates are adjacent and in the order of their linear layer numbers, which
//! PyTorch checks (`get_parameters` in `aten/src/ATen/native/cudnn/RNN.cpp`, 2.11): PyTorch makes one parameter of each
//! group. The shapes are from the cell's formulas in the documentation of `cudnnGetRNNWeightParams`.

use super::super::shape::element_bytes;

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// `CUDNN_RNN_RELU` and `CUDNN_RNN_TANH`.
    Plain,
    /// `CUDNN_LSTM`.
    Lstm,
    /// `CUDNN_GRU`.
    Gru,
}

impl Cell {
    /// Reads a `cudnnRNNMode_t`.
    pub(crate) fn from_mode(mode: i32) -> Option<Cell> {
        match mode {
            0 | 1 => Some(Cell::Plain),
            2 => Some(Cell::Lstm),
            3 => Some(Cell::Gru),
            _ => None,
        }
    }

    /// Matrices applied to the input, and as many to the recurrent state.
    pub(crate) fn gates(self) -> u64 {
        match self {
            Cell::Plain => 1,
            Cell::Lstm => 4,
            Cell::Gru => 3,
        }
    }
}

/// The gates with a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bias {
    /// `CUDNN_RNN_NO_BIAS`.
    None,
    /// `CUDNN_RNN_SINGLE_INP_BIAS`.
    Input,
    /// `CUDNN_RNN_DOUBLE_BIAS`.
    Both,
    /// `CUDNN_RNN_SINGLE_REC_BIAS`.
    Recurrent,
}

impl Bias {
    /// Reads a `cudnnRNNBiasMode_t`.
    pub(crate) fn from_mode(mode: i32) -> Option<Bias> {
        [Bias::None, Bias::Input, Bias::Both, Bias::Recurrent].get(usize::try_from(mode).ok()?).copied()
    }

    /// The linear layers with a bias, for a cell with `gates` gates.
    fn linears(self, gates: u64) -> std::ops::Range<u64> {
        match self {
            Bias::None => 0..0,
            Bias::Input => 0..gates,
            Bias::Both => 0..2 * gates,
            Bias::Recurrent => gates..2 * gates,
        }
    }
}

/// The settings of `cudnnSetRNNDescriptor_v8`. Widths are in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) cell: Cell,
    pub(crate) bias: Bias,
    /// One or two.
    pub(crate) directions: u64,
    /// True if the first layer adds its input unchanged.
    pub(crate) skips_input: bool,
    /// `cudnnDataType_t` of the weights.
    pub(crate) data_type: i32,
    pub(crate) input: u64,
    pub(crate) hidden: u64,
    /// Width of the projected state; `hidden` without projection.
    pub(crate) projection: u64,
    pub(crate) layers: u64,
    /// True if dropout lies between the layers.
    pub(crate) has_dropout: bool,
}

/// One matrix or bias in the weight space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WeightMatrix {
    /// Bytes from the start of the space.
    pub(crate) offset: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
}

impl Network {
    /// Size of a weight.
    pub(crate) fn element_bytes(self) -> u64 {
        element_bytes(self.data_type).unwrap_or(4)
    }

    /// Layers times directions.
    pub(crate) fn pseudo_layers(self) -> u64 {
        self.layers * self.directions
    }

    /// Width of the output of a direction.
    pub(crate) fn output(self) -> u64 {
        if self.is_projected() { self.projection } else { self.hidden }
    }

    fn is_projected(self) -> bool {
        self.cell == Cell::Lstm && self.projection != self.hidden
    }

    /// Width of the input gates' input; 0 if the input is skipped.
    fn input_width(self, pseudo_layer: u64) -> u64 {
        match pseudo_layer / self.directions {
            0 if self.skips_input => 0,
            0 => self.input,
            _ => self.output() * self.directions,
        }
    }

    /// Rows and columns of a linear layer's matrix.
    fn matrix_shape(self, pseudo_layer: u64, linear: u64) -> Option<(u64, u64)> {
        let gates = self.cell.gates();
        if linear < gates {
            let width = self.input_width(pseudo_layer);
            (width > 0).then_some((self.hidden, width))
        } else if linear < 2 * gates {
            Some((self.hidden, self.output()))
        } else if linear == 2 * gates && self.is_projected() {
            Some((self.projection, self.hidden))
        } else {
            None
        }
    }

    /// Elements of a pseudo-layer's matrices before linear layer `linear`.
    fn matrices_before(self, pseudo_layer: u64, linear: u64) -> u64 {
        (0..linear)
            .filter_map(|linear| self.matrix_shape(pseudo_layer, linear))
            .map(|(rows, columns)| rows * columns)
            .sum()
    }

    /// Elements of the matrices of the pseudo-layers before `pseudo_layer`.
    fn layers_before(self, pseudo_layer: u64) -> u64 {
        let all = 2 * self.cell.gates() + 1;
        (0..pseudo_layer).map(|layer| self.matrices_before(layer, all)).sum()
    }

    fn biases_per_layer(self) -> u64 {
        let linears = self.bias.linears(self.cell.gates());
        (linears.end - linears.start) * self.hidden
    }

    /// Bytes of all weights.
    pub(crate) fn bytes(self) -> u64 {
        let biases = self.pseudo_layers() * self.biases_per_layer();
        (self.layers_before(self.pseudo_layers()) + biases) * self.element_bytes()
    }

    /// The matrix of a linear layer, if the network has it.
    pub(crate) fn matrix(self, pseudo_layer: u64, linear: u64) -> Option<WeightMatrix> {
        let (rows, columns) = self.matrix_shape(pseudo_layer, linear)?;
        let elements = self.layers_before(pseudo_layer) + self.matrices_before(pseudo_layer, linear);
        Some(WeightMatrix { offset: elements * self.element_bytes(), rows, columns })
    }

    /// The bias of a linear layer, if the network has it.
    pub(crate) fn bias_vector(self, pseudo_layer: u64, linear: u64) -> Option<WeightMatrix> {
        let linears = self.bias.linears(self.cell.gates());
        if !linears.contains(&linear) {
            return None;
        }
        let before = pseudo_layer * self.biases_per_layer() + (linear - linears.start) * self.hidden;
        let elements = self.layers_before(self.pseudo_layers()) + before;
        Some(WeightMatrix { offset: elements * self.element_bytes(), rows: self.hidden, columns: 1 })
    }
}

#[cfg(test)]
mod tests;
