//! Entry points of no CUDA library, for a test that steers the phantom from inside the program.

use std::ffi::c_int;

use super::runtime::CudaStatus;
use crate::boundary::export;
use crate::cuda::{event, stream};
use crate::handle::Handle;

export! { CudaStatus;
    /// From here on recorded events stay pending (1), or are done at once as usual (0): Note [Held events] in `cuda/event.rs`.
    fn oomph_phantom_hold_events(is_held: c_int) {
        event::hold(is_held != 0);
        Ok(())
    }
    /// All that was recorded on a stream is done.
    fn oomph_phantom_complete_events(on: Handle) {
        stream::get(on)?;
        event::complete(Some(on));
        Ok(())
    }
    /// All that was recorded on any stream is done.
    fn oomph_phantom_complete_all_events() {
        event::complete(None);
        Ok(())
    }
}
