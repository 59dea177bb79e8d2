//! Dropout descriptors: PyTorch uses them inside RNNs only.

use super::workspace::{Model, dropout_state, used};
use super::{CudnnStatus, Opaque, create, destroy, known, library};
use crate::boundary::{Out, export};
use crate::device::profile;
use crate::handle::{Handle, Table};

/// The probability of each descriptor.
static DROPOUTS: Table<f32> = Table::new();

/// True if a descriptor drops values. False for an unknown descriptor: an RNN may come without dropout.
pub(crate) fn is_active(handle: Handle) -> bool {
    known(&DROPOUTS, handle, |probability| *probability > 0.0).unwrap_or(false)
}

export! { CudnnStatus;
    fn cudnnCreateDropoutDescriptor(out: Out<Handle>) {
        create(&DROPOUTS, 0.0, out)
    }

    fn cudnnDestroyDropoutDescriptor(handle: Handle) {
        destroy(&DROPOUTS, handle)
    }

    fn cudnnDropoutGetStatesSize(context: Handle, bytes: Out<usize>) {
        library::check(context)?;
        bytes.set(dropout_state(profile()) as usize)
    }

    fn cudnnSetDropoutDescriptor(
        handle: Handle, context: Handle, probability: f32, states: Opaque, bytes: usize, _seed: u64,
    ) {
        library::check(context)?;
        if !states.is_null() {
            used(Model::Dropout, states as usize, bytes as u64);
        }
        known(&DROPOUTS, handle, |slot| *slot = probability)
    }

    fn cudnnRestoreDropoutDescriptor(
        handle: Handle, context: Handle, probability: f32, _states: Opaque, _bytes: usize, _seed: u64,
    ) {
        library::check(context)?;
        known(&DROPOUTS, handle, |slot| *slot = probability)
    }
}
