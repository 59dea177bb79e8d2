//! Dropout descriptors: PyTorch uses them inside RNNs only.

use super::workspace::{Model, dropout_state, used};
use super::{CudnnStatus, Opaque, create, destroy, known, library};
use crate::boundary::{Out, export};
use crate::device::profile;
use crate::handle::{Handle, Table};

/// Nothing of a dropout descriptor decides a size.
static DROPOUTS: Table<()> = Table::new();

export! { CudnnStatus;
    fn cudnnCreateDropoutDescriptor(out: Out<Handle>) {
        create(&DROPOUTS, (), out)
    }

    fn cudnnDestroyDropoutDescriptor(handle: Handle) {
        destroy(&DROPOUTS, handle)
    }

    fn cudnnDropoutGetStatesSize(context: Handle, bytes: Out<usize>) {
        library::check(context)?;
        bytes.set(dropout_state(profile()) as usize)
    }

    fn cudnnSetDropoutDescriptor(
        handle: Handle, context: Handle, _probability: f32, states: Opaque, bytes: usize, _seed: u64,
    ) {
        library::check(context)?;
        if !states.is_null() {
            used(Model::Dropout, states as usize, bytes as u64);
        }
        known(&DROPOUTS, handle, |()| ())
    }

    fn cudnnRestoreDropoutDescriptor(
        handle: Handle, context: Handle, _probability: f32, _states: Opaque, _bytes: usize, _seed: u64,
    ) {
        library::check(context)?;
        known(&DROPOUTS, handle, |()| ())
    }
}
