//! CTC loss: the workspace is modelled, nothing is computed.

use super::workspace::{Model, ctc, used};
use super::{Answer, CudnnStatus, Opaque, count, create, destroy, known, library, tensor};
use crate::boundary::{In, Out, Status, export};
use crate::handle::{Handle, Table};

/// The longest label that cuDNN's CTC supports, and so the bound for callers without a stated bound.
const MAX_LABEL_LENGTH: u64 = 256;

/// The stored part of a CTC descriptor.
struct CtcSettings {
    longest_label: u64,
}

static LOSSES: Table<CtcSettings> = Table::new();

fn longest(lengths: In<i32>, batch: i64) -> Answer<u64> {
    let batch = usize::try_from(batch).map_err(|_| CudnnStatus::INVALID)?;
    let lengths = lengths.array(batch).to_vec()?;
    Ok(lengths.into_iter().map(|length| u64::try_from(length).unwrap_or(0)).max().unwrap_or(0))
}

export! { CudnnStatus;
    fn cudnnCreateCTCLossDescriptor(out: Out<Handle>) {
        create(&LOSSES, CtcSettings { longest_label: MAX_LABEL_LENGTH }, out)
    }

    fn cudnnDestroyCTCLossDescriptor(handle: Handle) {
        destroy(&LOSSES, handle)
    }

    fn cudnnSetCTCLossDescriptorEx(handle: Handle, _data_type: i32, _normalization: i32, _gradient: i32) {
        known(&LOSSES, handle, |_| ())
    }

    fn cudnnSetCTCLossDescriptor_v9(
        handle: Handle, _data_type: i32, _normalization: i32, _gradient: i32, longest_label: i32,
    ) {
        let longest_label = count(longest_label)? as u64;
        known(&LOSSES, handle, |settings| settings.longest_label = longest_label)
    }

    fn cudnnGetCTCLossWorkspaceSize(
        context: Handle, probabilities: Handle, _gradients: Handle, _labels: In<i32>, label_lengths: In<i32>,
        _input_lengths: In<i32>, _algorithm: i32, handle: Handle, bytes: Out<usize>,
    ) {
        library::check(context)?;
        known(&LOSSES, handle, |_| ())?;
        let probabilities = tensor::get(probabilities)?;
        let batch = probabilities.dims.get(1).copied().unwrap_or(0);
        bytes.set(ctc(&probabilities, longest(label_lengths, batch)?) as usize)
    }

    fn cudnnGetCTCLossWorkspaceSize_v8(
        context: Handle, _algorithm: i32, handle: Handle, probabilities: Handle, _gradients: Handle, bytes: Out<usize>,
    ) {
        library::check(context)?;
        let longest_label = known(&LOSSES, handle, |settings| settings.longest_label)?;
        bytes.set(ctc(&tensor::get(probabilities)?, longest_label) as usize)
    }

    fn cudnnCTCLoss(
        _context: Handle, _probabilities: Handle, _probabilities_data: Opaque, _labels: In<i32>,
        _label_lengths: In<i32>, _input_lengths: In<i32>, _costs: Opaque, _gradients: Handle, _gradients_data: Opaque,
        _algorithm: i32, _settings: Handle, workspace: Opaque, workspace_bytes: usize,
    ) {
        used(Model::Ctc, workspace as usize, workspace_bytes as u64);
        Ok(())
    }

    fn cudnnCTCLoss_v8(
        _context: Handle, _algorithm: i32, _settings: Handle, _probabilities: Handle, _probabilities_data: Opaque,
        _labels: Opaque, _label_lengths: Opaque, _input_lengths: Opaque, _costs: Opaque, _gradients: Handle,
        _gradients_data: Opaque, workspace_bytes: usize, workspace: Opaque,
    ) {
        used(Model::Ctc, workspace as usize, workspace_bytes as u64);
        Ok(())
    }
}
