//! Functions of cuRAND that the phantom lacks: each fails by name.
//!
//! Written by `make generate` from the exports of libcurand.so; not to be edited.

use crate::boundary::absent;
use crate::status::CurandStatus;

absent! { CurandStatus;
    curandCreateGeneratorHost
    curandCreatePoissonDistribution
    curandDestroyDistribution
    curandGetDirectionVectors32
    curandGetDirectionVectors64
    curandGetScrambleConstants32
    curandGetScrambleConstants64
}
