//! cublasLt: descriptors that store their attributes ([`attributes`]), a single algorithm ([`heuristic`]), products
//! without work.
//!
//! PyTorch passes cuBLAS handles as `cublasLtHandle_t`, as the header allows, so light handles are not checked.

pub(crate) mod attributes;
pub(crate) mod heuristic;

use std::ffi::{c_char, c_void};

use self::attributes::{Attributes, EMULATION, LAYOUT, MATMUL, PREFERENCE, TRANSFORM};
use super::cublas::{CublasStatus, VERSION, cublasGetStatusName, cublasGetStatusString, set_property};
use crate::api::captured::note_for_library;
use crate::boundary::{In, Out, Status, export, inert};
use crate::handle::{Handle, Table};
use crate::version;

static LIGHT: Table<()> = Table::new();
static DESCRIPTORS: Table<Attributes> = Table::new();

fn create(descriptor: Out<Handle>, attributes: Attributes) -> Result<(), CublasStatus> {
    descriptor.set(DESCRIPTORS.insert(attributes))
}

/// Destroying, setting and getting, the same for every kind of descriptor.
macro_rules! descriptors {
    ($($destroy:ident $set:ident $get:ident;)*) => {
        export! { CublasStatus;
            $(
                fn $destroy(descriptor: Handle) {
                    DESCRIPTORS.remove(descriptor).map(drop).ok_or(CublasStatus::INVALID)
                }
                fn $set(descriptor: Handle, attribute: i32, buffer: In<u8>, bytes: usize) {
                    let set = |known: &mut Attributes| known.set(attribute, buffer, bytes);
                    DESCRIPTORS.with(descriptor, set).ok_or(CublasStatus::INVALID)?
                }
                fn $get(descriptor: Handle, attribute: i32, buffer: Out<u8>, bytes: usize, written: Out<usize>) {
                    let get = |known: &mut Attributes| known.get(attribute, buffer, bytes, written);
                    DESCRIPTORS.with(descriptor, get).ok_or(CublasStatus::INVALID)?
                }
            )*
        }
    };
}

descriptors! {
    cublasLtMatmulDescDestroy cublasLtMatmulDescSetAttribute cublasLtMatmulDescGetAttribute;
    cublasLtMatrixLayoutDestroy cublasLtMatrixLayoutSetAttribute cublasLtMatrixLayoutGetAttribute;
    cublasLtMatmulPreferenceDestroy cublasLtMatmulPreferenceSetAttribute cublasLtMatmulPreferenceGetAttribute;
    cublasLtMatrixTransformDescDestroy cublasLtMatrixTransformDescSetAttribute
        cublasLtMatrixTransformDescGetAttribute;
    cublasLtEmulationDescDestroy cublasLtEmulationDescSetAttribute cublasLtEmulationDescGetAttribute;
}

export! { CublasStatus;
    fn cublasLtCreate(light: Out<Handle>) { light.set(LIGHT.insert(())) }

    fn cublasLtDestroy(light: Handle) { LIGHT.remove(light).ok_or(CublasStatus::INVALID) }

    fn cublasLtMatmulDescCreate(descriptor: Out<Handle>, compute_type: i32, scale_type: i32) {
        let attributes = Attributes::new(&MATMUL);
        create(descriptor, attributes.with(0, &compute_type.to_le_bytes()).with(1, &scale_type.to_le_bytes()))
    }

    fn cublasLtMatrixLayoutCreate(descriptor: Out<Handle>, data_type: i32, rows: u64, columns: u64, ld: i64) {
        let attributes = Attributes::new(&LAYOUT).with(0, &data_type.to_le_bytes());
        let attributes = attributes.with(2, &rows.to_le_bytes()).with(3, &columns.to_le_bytes());
        create(descriptor, attributes.with(4, &ld.to_le_bytes()))
    }

    fn cublasLtMatmulPreferenceCreate(descriptor: Out<Handle>) { create(descriptor, Attributes::new(&PREFERENCE)) }

    fn cublasLtMatrixTransformDescCreate(descriptor: Out<Handle>, scale_type: i32) {
        create(descriptor, Attributes::new(&TRANSFORM).with(0, &scale_type.to_le_bytes()))
    }

    fn cublasLtEmulationDescCreate(descriptor: Out<Handle>) { create(descriptor, Attributes::new(&EMULATION)) }

    fn cublasLtMatmul(
        _light: Handle, _operation: Handle, _alpha: *const c_void, _a: usize, _a_layout: Handle, _b: usize,
        _b_layout: Handle, _beta: *const c_void, _c: usize, _c_layout: Handle, _d: usize, _d_layout: Handle,
        _algorithm: *const c_void, workspace: usize, bytes: usize, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        crate::journal::record_workspace("cublaslt", workspace as u64, bytes as u64);
        Ok(())
    }

    fn cublasLtGetProperty(property: i32, value: Out<i32>) { set_property(&VERSION, property, value) }

    fn cublasLtHeuristicsCacheGetCapacity(capacity: Out<usize>) { capacity.set(0) }
}

// The matrix transform writes device memory; the rest only changes logging, caching or instruction sets.
inert! { CublasStatus;
    cublasLtMatrixTransform cublasLtHeuristicsCacheSetCapacity cublasLtLoggerSetCallback cublasLtLoggerSetFile
    cublasLtLoggerOpenFile cublasLtLoggerSetLevel cublasLtLoggerSetMask cublasLtLoggerForceDisable
}

/// `cublasLtDisableCpuInstructionsSetMask`, as CUDA's header declares it: nothing was disabled before.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtDisableCpuInstructionsSetMask(_mask: u32) -> u32 {
    0
}

/// `cublasLtGetVersion`, as CUDA's header declares it: cuBLAS's.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    VERSION.number(10_000) as usize
}

/// `cublasLtGetCudartVersion`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetCudartVersion() -> usize {
    version::runtime() as usize
}

/// `cublasLtGetStatusName`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetStatusName(status: CublasStatus) -> *const c_char {
    cublasGetStatusName(status)
}

/// `cublasLtGetStatusString`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetStatusString(status: CublasStatus) -> *const c_char {
    cublasGetStatusString(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_remembers_its_shape() {
        let mut layout = std::ptr::null_mut();
        assert_eq!(cublasLtMatrixLayoutCreate(Out::to(&mut layout), 14, 640, 480, 640), CublasStatus::SUCCESS);
        for (attribute, expected) in [(2, 640u64), (3, 480), (4, 640)] {
            let (mut value, mut written) = (0u64, 0);
            let room = Out::to(&mut value).cast();
            let status = cublasLtMatrixLayoutGetAttribute(layout, attribute, room, 8, Out::to(&mut written));
            assert_eq!((status, value, written), (CublasStatus::SUCCESS, expected, 8));
        }
        assert_eq!(cublasLtMatrixLayoutDestroy(layout), CublasStatus::SUCCESS);
        assert_eq!(cublasLtMatrixLayoutDestroy(layout), CublasStatus::INVALID);
    }

    #[test]
    fn attributes_of_an_unknown_descriptor_are_refused() {
        let nothing = std::ptr::null_mut();
        let status = cublasLtMatmulDescSetAttribute(nothing, 3, In::to(&1u8), 1);
        assert_eq!(status, CublasStatus::INVALID);
    }
}
