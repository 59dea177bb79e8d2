//! Sizes against the published formulas, and that places tile the space.

use proptest::prelude::*;

use super::super::super::shape::{FLOAT, HALF};
use super::*;

fn network(cell: Cell, [input, hidden, projection]: [u64; 3], layers: u64, directions: u64) -> Network {
    Network {
        cell,
        bias: Bias::Both,
        directions,
        skips_input: false,
        data_type: FLOAT,
        input,
        hidden,
        projection,
        layers,
        has_dropout: false,
    }
}

/// Numbers of parameters by the formulas in the documentation of `torch.nn.LSTM`, `GRU` and `RNN`.
#[test]
fn the_weight_space_holds_every_parameter_once() {
    let cases = [
        // LSTM(10, 20): 4 * 20 * (10 + 20) weights and 2 * 80 biases.
        (network(Cell::Lstm, [10, 20, 20], 1, 1), 4 * 20 * 30 + 160),
        // LSTM(10, 20, num_layers=2): the second layer reads 20.
        (network(Cell::Lstm, [10, 20, 20], 2, 1), (4 * 20 * 30 + 160) + (4 * 20 * 40 + 160)),
        // LSTM(10, 20, num_layers=2, bidirectional=True): the second layer reads 40.
        (network(Cell::Lstm, [10, 20, 20], 2, 2), 2 * (4 * 20 * 30 + 160) + 2 * (4 * 20 * 60 + 160)),
        // LSTM(10, 20, proj_size=5): recurrent matrices read 5, and the projection is 5 by 20.
        (network(Cell::Lstm, [10, 20, 5], 1, 1), 4 * 20 * 15 + 160 + 100),
        // LSTM(10, 20, num_layers=2, bidirectional=True, proj_size=5): the second layer reads 10.
        (network(Cell::Lstm, [10, 20, 5], 2, 2), 4 * (4 * 20 * 15 + 160 + 100)),
        // GRU(10, 20).
        (network(Cell::Gru, [10, 20, 20], 1, 1), 3 * 20 * 30 + 120),
        // RNN(10, 20, num_layers=3).
        (network(Cell::Plain, [10, 20, 20], 3, 1), (20 * 30 + 40) + 2 * (20 * 40 + 40)),
    ];
    for (network, parameters) in cases {
        assert_eq!(network.bytes(), 4 * parameters, "{network:?}");
        assert_eq!(Network { data_type: HALF, ..network }.bytes(), 2 * parameters, "{network:?}");
    }
}

#[test]
fn biases_and_skipped_inputs_are_left_out() {
    let both = network(Cell::Gru, [20, 20, 20], 1, 1);
    let cases = [
        (both, 3 * 20 * 40 + 120),
        (Network { bias: Bias::Input, ..both }, 3 * 20 * 40 + 60),
        (Network { bias: Bias::Recurrent, ..both }, 3 * 20 * 40 + 60),
        (Network { bias: Bias::None, ..both }, 3 * 20 * 40),
        (Network { bias: Bias::None, skips_input: true, ..both }, 3 * 20 * 20),
    ];
    for (network, parameters) in cases {
        assert_eq!(network.bytes(), 4 * parameters, "{network:?}");
    }
    assert_eq!(Network { bias: Bias::Recurrent, ..both }.bias_vector(0, 0), None);
    assert_eq!(Network { skips_input: true, ..both }.matrix(0, 0), None);
}

fn networks() -> impl Strategy<Value = Network> {
    let cell = prop_oneof![Just(Cell::Plain), Just(Cell::Lstm), Just(Cell::Gru)];
    let bias = prop_oneof![Just(Bias::None), Just(Bias::Input), Just(Bias::Both), Just(Bias::Recurrent)];
    let widths = (1..40_u64, 1..40_u64, 1..40_u64);
    (cell, bias, widths, 1..4_u64, 1..3_u64, any::<bool>()).prop_map(
        |(cell, bias, (input, hidden, projection), layers, directions, skips_input)| Network {
            bias,
            skips_input,
            ..network(cell, [input, hidden, projection.min(hidden)], layers, directions)
        },
    )
}

proptest! {
    #[test]
    fn places_tile_the_weight_space(network in networks()) {
        let linears = 2 * network.cell.gates() + 1;
        let layers = 0..network.pseudo_layers();
        let pairs: Vec<_> =
            layers.flat_map(|layer| (0..linears).map(move |linear| (layer, linear))).collect();
        let matrices = pairs.iter().filter_map(|&(layer, linear)| network.matrix(layer, linear));
        let biases = pairs.iter().filter_map(|&(layer, linear)| network.bias_vector(layer, linear));
        let mut end = 0;
        for place in matrices.chain(biases) {
            prop_assert_eq!(place.offset, end);
            end += place.rows * place.columns * network.element_bytes();
        }
        prop_assert_eq!(end, network.bytes());
    }
}
