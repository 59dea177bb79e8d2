//! Functions of cuSPARSELt that the phantom lacks: each fails by name.
//!
//! Made by `crates/phantom/generate.py` from the exports of libcusparseLt.so; do not edit by hand.

use crate::api::cusparse::CusparseStatus;
use crate::boundary::absent;

absent! { CusparseStatus;
    cusparseLtMatmulDescGetAttribute
}
