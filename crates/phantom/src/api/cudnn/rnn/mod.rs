//! Recurrent networks: weights are laid out exactly, temporary memory is modelled.

mod data;
mod layout;

use super::shape::{Tensor, element_bytes};
use super::workspace::{Model, Recurrence, used};
use super::{Answer, CudnnStatus, Opaque, count, create, destroy, dropout, known, library, tensor};
use crate::boundary::{In, Out, Status, export};
use crate::handle::{Handle, Table};
use data::Sequences;
use layout::{Bias, Cell, Network, WeightMatrix};

/// `CUDNN_BIDIRECTIONAL`.
const BIDIRECTIONAL: i32 = 1;
/// `CUDNN_SKIP_INPUT`.
const SKIP_INPUT: i32 = 1;
/// `CUDNN_FWD_MODE_TRAINING`.
const TRAINING: i32 = 1;

static NETWORKS: Table<Option<Network>> = Table::new();

/// The network behind `handle`; refuses a network before its settings.
fn network(handle: Handle) -> Answer<Network> {
    known(&NETWORKS, handle, |network| *network)?.ok_or(CudnnStatus::INVALID)
}

fn positive(number: i32) -> Answer<u64> {
    if number < 1 { Err(CudnnStatus::INVALID) } else { Ok(number as u64) }
}

fn recurrence(network: Network, sequences: Sequences) -> Recurrence {
    Recurrence {
        vectors: sequences.vectors,
        directions: network.directions,
        layers: network.layers,
        gates: network.cell.gates(),
        hidden: network.hidden,
        output: network.output(),
        element_bytes: network.element_bytes(),
        has_dropout: network.has_dropout,
    }
}

/// Writes where a matrix or bias lies, and its shape; null and no dimensions where the network has none.
fn locate(network: Network, space: Opaque, place: Option<WeightMatrix>, shape: Handle, address: Out<usize>) -> Answer {
    if address.is_null() {
        return Ok(());
    }
    let (value, at) = match place {
        Some(WeightMatrix { offset, rows, columns }) => {
            let dims = vec![1, rows as i64, columns as i64];
            (Tensor::packed(network.data_type, dims), space as usize + offset as usize)
        }
        None => (Tensor::default(), 0),
    };
    tensor::set(shape, value)?;
    address.set(at)
}

export! { CudnnStatus;
    fn cudnnCreateRNNDescriptor(out: Out<Handle>) {
        create(&NETWORKS, None, out)
    }

    fn cudnnDestroyRNNDescriptor(handle: Handle) {
        destroy(&NETWORKS, handle)
    }

    fn cudnnSetRNNDescriptor_v8(
        handle: Handle, _algorithm: i32, cell: i32, bias: i32, direction: i32, input_mode: i32, data_type: i32,
        _precision: i32, _math_type: i32, input: i32, hidden: i32, projection: i32, layers: i32, dropout: Handle,
        _flags: u32,
    ) {
        element_bytes(data_type).ok_or(CudnnStatus::INVALID)?;
        let hidden = positive(hidden)?;
        let network = Network {
            cell: Cell::from_mode(cell).ok_or(CudnnStatus::INVALID)?,
            bias: Bias::from_mode(bias).ok_or(CudnnStatus::INVALID)?,
            directions: if direction == BIDIRECTIONAL { 2 } else { 1 },
            skips_input: input_mode == SKIP_INPUT,
            data_type,
            input: positive(input)?,
            hidden,
            projection: match count(projection)? as u64 {
                0 => hidden,
                projection => projection,
            },
            layers: positive(layers)?,
            has_dropout: dropout::is_active(dropout),
        };
        known(&NETWORKS, handle, |slot| *slot = Some(network))
    }

    fn cudnnGetRNNWeightSpaceSize(context: Handle, handle: Handle, bytes: Out<usize>) {
        library::check(context)?;
        bytes.set(network(handle)?.bytes() as usize)
    }

    fn cudnnGetRNNWeightParams(
        context: Handle, handle: Handle, pseudo_layer: i32, space_bytes: usize, space: Opaque, linear: i32,
        matrix_shape: Handle, matrix: Out<usize>, bias_shape: Handle, bias: Out<usize>,
    ) {
        library::check(context)?;
        let network = network(handle)?;
        let (layer, linear) = (count(pseudo_layer)? as u64, count(linear)? as u64);
        if layer >= network.pseudo_layers() || (space_bytes as u64) < network.bytes() {
            return Err(CudnnStatus::INVALID);
        }
        locate(network, space, network.matrix(layer, linear), matrix_shape, matrix)?;
        locate(network, space, network.bias_vector(layer, linear), bias_shape, bias)
    }

    fn cudnnGetRNNTempSpaceSizes(
        context: Handle, handle: Handle, mode: i32, sequences: Handle, workspace: Out<usize>, reserve: Out<usize>,
    ) {
        library::check(context)?;
        let recurrence = recurrence(network(handle)?, data::get(sequences)?);
        workspace.set_if_wanted(recurrence.workspace() as usize);
        reserve.set_if_wanted(if mode == TRAINING { recurrence.reserve() as usize } else { 0 });
        Ok(())
    }

    fn cudnnRNNForward(
        context: Handle, _handle: Handle, _mode: i32, _lengths: In<i32>, _x: Handle, _x_data: Opaque, _y: Handle,
        _y_data: Opaque, _h: Handle, _hx: Opaque, _hy: Opaque, _c: Handle, _cx: Opaque, _cy: Opaque,
        _weight_bytes: usize, _weights: Opaque, workspace_bytes: usize, workspace: Opaque, _reserve_bytes: usize,
        _reserve: Opaque,
    ) {
        library::note_work(context)?;
        used(Model::Rnn, workspace as usize, workspace_bytes as u64);
        Ok(())
    }

    fn cudnnRNNBackwardData_v8(
        context: Handle, _handle: Handle, _lengths: In<i32>, _y: Handle, _y_data: Opaque, _dy: Opaque, _x: Handle,
        _dx: Opaque, _h: Handle, _hx: Opaque, _dhy: Opaque, _dhx: Opaque, _c: Handle, _cx: Opaque, _dcy: Opaque,
        _dcx: Opaque, _weight_bytes: usize, _weights: Opaque, workspace_bytes: usize, workspace: Opaque,
        _reserve_bytes: usize, _reserve: Opaque,
    ) {
        library::note_work(context)?;
        used(Model::Rnn, workspace as usize, workspace_bytes as u64);
        Ok(())
    }

    fn cudnnRNNBackwardWeights_v8(
        context: Handle, _handle: Handle, _add: i32, _lengths: In<i32>, _x: Handle, _x_data: Opaque, _h: Handle,
        _hx: Opaque, _y: Handle, _y_data: Opaque, _weight_bytes: usize, _dweights: Opaque, workspace_bytes: usize,
        workspace: Opaque, _reserve_bytes: usize, _reserve: Opaque,
    ) {
        library::note_work(context)?;
        used(Model::Rnn, workspace as usize, workspace_bytes as u64);
        Ok(())
    }
}
