//! cuFile (GPUDirect Storage): absent. Programs without its support fall back to ordinary files, or report an error.
//!
//! Its functions return two codes in a struct, or a number of bytes: each kind fails in its own way.

use crate::boundary::{Status, absent};
pub(crate) use crate::status::CufileError;

/// A `ssize_t`: bytes moved, or a negative code.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CufileBytes(pub isize);

impl Status for CufileBytes {
    const SUCCESS: CufileBytes = CufileBytes(0);
    const INVALID: CufileBytes = CufileBytes(-5_022);
    const INTERNAL: CufileBytes = CufileBytes(-5_030);
    const UNSUPPORTED: CufileBytes = CufileBytes(-5_007);
}

absent! { CufileError;
    cuFileBufDeregister cuFileBufRegister cuFileHandleRegister cuFileDriverOpen
}

/// Functions that return a number of bytes.
pub(crate) mod transfers {
    use super::CufileBytes;
    use crate::boundary::absent;

    // `cuFileHandleDeregister` returns nothing, so no caller reads its code.
    absent! { CufileBytes;
        cuFileHandleDeregister cuFileRead cuFileWrite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_cannot_be_taken_for_success_or_for_bytes() {
        assert_eq!(cuFileBufRegister(), CufileError { operation: 5_007, driver: 0 });
        assert!(transfers::cuFileRead().0 < 0);
        assert_eq!(size_of::<CufileError>(), 8);
    }
}
