//! Functions of cuSPARSELt that the phantom lacks: each fails by name.
//!
//! Written by `make generate` from the exports of libcusparseLt.so; not to be edited.

use crate::boundary::absent;
use crate::status::CusparseStatus;

absent! { CusparseStatus;
    cusparseLtMatmulDescGetAttribute
}
