//! Functions of cuRAND that the phantom lacks: each fails by name.
//!
//! Made by `crates/phantom/generate.py` from the exports of libcurand.so; do not edit by hand.

use crate::api::curand::CurandStatus;
use crate::boundary::absent;

absent! { CurandStatus;
    curandCreateGeneratorHost
    curandCreatePoissonDistribution
    curandDestroyDistribution
    curandGetDirectionVectors32
    curandGetDirectionVectors64
    curandGetScrambleConstants32
    curandGetScrambleConstants64
}
