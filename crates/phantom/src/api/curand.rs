//! cuRAND's host interface: generators that fill device memory with nothing. Generators on the host are absent: their
//! output is host memory, which the phantom does not invent.

use crate::boundary::{Out, export, inert};
use crate::handle::{Handle, Table};
pub(crate) use crate::status::CurandStatus;
use crate::version::Library;

/// `CURAND_STATUS_NOT_INITIALIZED`: the generator was never created, or was destroyed.
pub(crate) const NOT_INITIALIZED: CurandStatus = CurandStatus(101);

/// See Note [Version answers] in `version.rs`; otherwise `CURAND_VER_*` of `curand.h`, CUDA 13.0.
static VERSION: Library = Library::new("libcurand.so.", c"curandGetProperty", [10, 4, 0]);

static GENERATORS: Table<()> = Table::new();

export! { CurandStatus;
    fn curandCreateGenerator(generator: Out<Handle>, _kind: i32) { generator.set(GENERATORS.insert(())) }
    fn curandDestroyGenerator(generator: Handle) { GENERATORS.remove(generator).ok_or(NOT_INITIALIZED) }
    fn curandGetVersion(version: Out<i32>) { version.set(VERSION.number(1000)) }
    fn curandGetProperty(property: i32, value: Out<i32>) { super::cublas::set_property(&VERSION, property, value) }
}

// A generator of `curandCreateGenerator` writes device memory.
inert! { CurandStatus;
    curandGenerate curandGenerateBinomial curandGenerateBinomialMethod curandGenerateLogNormal
    curandGenerateLogNormalDouble curandGenerateLongLong curandGenerateNormal curandGenerateNormalDouble
    curandGeneratePoisson curandGeneratePoissonMethod curandGenerateSeeds curandGenerateUniform
    curandGenerateUniformDouble curandSetGeneratorOffset curandSetGeneratorOrdering
    curandSetPseudoRandomGeneratorSeed curandSetQuasiRandomGeneratorDimensions curandSetStream
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Status;

    #[test]
    fn generators_are_created_once_and_destroyed_once() {
        let mut generator = std::ptr::null_mut();
        assert_eq!(curandCreateGenerator(Out::to(&mut generator), 100), CurandStatus::SUCCESS);
        assert!(!generator.is_null());
        assert_eq!(curandDestroyGenerator(generator), CurandStatus::SUCCESS);
        assert_eq!(curandDestroyGenerator(generator), NOT_INITIALIZED);
    }
}
