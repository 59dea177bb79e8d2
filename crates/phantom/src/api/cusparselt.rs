//! cuSPARSELt: 2:4 structured sparsity. Its objects are structs of the caller; the phantom's state fits into their
//! first bytes.

// Note [cuSPARSELt objects]
// ~~~~~~~~~~~~~~~~~~~~~~~~~
// Every object is 512 bytes of the caller, copied by value at will (`cusparseLt.h` 0.8). So there is no table: the
// state for later calls is kept in the object itself, and an uninitialised object is recognised by its missing mark.

use std::ffi::c_char;

use super::cusparse::{CusparseStatus, cusparseGetErrorName, cusparseGetErrorString};
use super::datatype;
use crate::api::captured::note_for_library;
use crate::boundary::{In, Out, Status, export, inert};
use crate::handle::Handle;
use crate::version::Library;

/// `sizeof` of every opaque object of `cusparseLt.h` 0.8, printed by a C++ program over the header (g++ 12, x86-64).
const OBJECT_BYTES: usize = 512;

/// See Note [Version answers] in `version.rs`; otherwise `CUSPARSELT_VER_*` of `cusparseLt.h`.
static VERSION: Library = Library::new("libcusparseLt.so.", c"cusparseLtGetProperty", [0, 8, 0]);

/// The mark of each kind of object.
const HANDLE: u64 = 0x6f6f_6d70_684c_7401;
const MATRIX: u64 = 0x6f6f_6d70_684c_7402;
const MATMUL: u64 = 0x6f6f_6d70_684c_7403;
const SELECTION: u64 = 0x6f6f_6d70_684c_7404;

/// A matrix descriptor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Matrix {
    mark: u64,
    rows: i64,
    columns: i64,
    batch_stride: i64,
    batches: i32,
    data_type: i32,
    is_structured: u64,
}

/// A product, and a plan for it: of either, only the structured operand matters later.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matmul {
    mark: u64,
    structured: Matrix,
}

/// An algorithm selection: its attributes, in the order of `cusparseLtMatmulAlgAttribute_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    mark: u64,
    attributes: [i32; 6],
}

const _: () = assert!(size_of::<Matmul>() <= OBJECT_BYTES && size_of::<Selection>() <= OBJECT_BYTES);

/// Configuration 0 of 1, ten search iterations, no splitting of the inner dimension.
const DEFAULT_SELECTION: Selection = Selection { mark: SELECTION, attributes: [0, 1, 10, 1, 0, 0] };

/// The read-only algorithm attribute: `CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID`.
const MAX_ID: i32 = 1;

fn initialised<T: Copy>(object: In<T>, mark: impl Fn(T) -> u64, expected: u64) -> Result<T, CusparseStatus> {
    let object = object.get::<CusparseStatus>()?;
    if mark(object) == expected { Ok(object) } else { Err(CusparseStatus::INVALID) }
}

fn matrix(object: In<Matrix>) -> Result<Matrix, CusparseStatus> {
    initialised(object, |matrix| matrix.mark, MATRIX)
}

/// Reads a matrix descriptor that will be written back.
fn initialised_out(object: Out<Matrix>) -> Result<Matrix, CusparseStatus> {
    let known = object.get::<CusparseStatus>()?;
    matrix(In::to(&known))
}

fn product(object: In<Matmul>) -> Result<Matmul, CusparseStatus> {
    initialised(object, |matmul| matmul.mark, MATMUL)
}

fn selection(object: In<Selection>) -> Result<Selection, CusparseStatus> {
    initialised(object, |selection| selection.mark, SELECTION)
}

fn initialise(
    descriptor: Out<Matrix>,
    rows: i64,
    columns: i64,
    data_type: i32,
    is_structured: bool,
) -> Result<(), CusparseStatus> {
    if rows <= 0 || columns <= 0 || datatype::bytes(data_type).is_none() {
        return Err(CusparseStatus::INVALID);
    }
    let is_structured = u64::from(is_structured);
    descriptor.set(Matrix { mark: MATRIX, rows, columns, batch_stride: 0, batches: 1, data_type, is_structured })
}

/// Bytes of a compressed matrix: half of the values, and two bits for each stored value (four for 32-bit types, whose
/// pattern is 1:2). With one-byte types the result is 10/16 of the dense size, with two-byte types 9/16; PyTorch's
/// compressed tensors have this size, and 9/16 for four-byte types too (`cuSPARSELtOps.cpp`, 2.11).
fn compressed_bytes(matrix: Matrix) -> Result<usize, CusparseStatus> {
    let element = datatype::bytes(matrix.data_type).ok_or(CusparseStatus::INVALID)?;
    let sixteenths = if element == 1 { 10 } else { 9 };
    let elements = matrix.rows.saturating_mul(matrix.columns).saturating_mul(i64::from(matrix.batches));
    Ok((elements as usize).saturating_mul(element).div_ceil(16).saturating_mul(sixteenths))
}

/// Writes the size of the compressed matrix, and a model of the scratch memory that compressing takes: as much again.
fn write_sizes(matrix: Matrix, compressed: Out<usize>, buffer: Out<usize>) -> Result<(), CusparseStatus> {
    let bytes = compressed_bytes(matrix)?;
    let text = "cuSPARSELt's scratch memory for compressing is taken to be as large as the compressed matrix";
    crate::journal::record_assumption("cusparselt-buffer", text, bytes as u64);
    compressed.set::<CusparseStatus>(bytes)?;
    buffer.set(bytes)
}

fn slot(attribute: i32) -> Result<usize, CusparseStatus> {
    let slot = usize::try_from(attribute).map_err(|_| CusparseStatus::INVALID)?;
    if slot < DEFAULT_SELECTION.attributes.len() { Ok(slot) } else { Err(CusparseStatus::INVALID) }
}

export! { CusparseStatus;
    fn cusparseLtInit(handle: Out<u64>) { handle.set(HANDLE) }
    fn cusparseLtDestroy(handle: In<u64>) { initialised(handle, |mark| mark, HANDLE).map(drop) }

    fn cusparseLtGetVersion(_handle: In<u64>, version: Out<i32>) { version.set(VERSION.number(1000)) }
    fn cusparseLtGetProperty(property: i32, value: Out<i32>) { super::cublas::set_property(&VERSION, property, value) }

    fn cusparseLtDenseDescriptorInit(
        _handle: In<u64>, descriptor: Out<Matrix>, rows: i64, columns: i64, _ld: i64, _alignment: u32, data_type: i32,
        _order: i32,
    ) { initialise(descriptor, rows, columns, data_type, false) }

    fn cusparseLtStructuredDescriptorInit(
        _handle: In<u64>, descriptor: Out<Matrix>, rows: i64, columns: i64, _ld: i64, _alignment: u32, data_type: i32,
        _order: i32, _sparsity: i32,
    ) { initialise(descriptor, rows, columns, data_type, true) }

    fn cusparseLtMatDescriptorDestroy(descriptor: In<Matrix>) { matrix(descriptor).map(drop) }

    fn cusparseLtMatDescSetAttribute(
        _handle: In<u64>, descriptor: Out<Matrix>, attribute: i32, data: In<u8>, bytes: usize,
    ) {
        let mut known = initialised_out(descriptor)?;
        let data = data.array(bytes);
        match attribute {
            0 => known.batches = data.typed().get(0)?,
            1 => known.batch_stride = data.typed().get(0)?,
            _ => return Err(CusparseStatus::INVALID),
        }
        descriptor.set(known)
    }

    fn cusparseLtMatDescGetAttribute(
        _handle: In<u64>, descriptor: In<Matrix>, attribute: i32, data: Out<u8>, bytes: usize,
    ) {
        let (known, data) = (matrix(descriptor)?, data.array(bytes));
        match attribute {
            0 => data.typed().set(0, known.batches),
            1 => data.typed().set(0, known.batch_stride),
            _ => Err(CusparseStatus::INVALID),
        }
    }

    fn cusparseLtMatmulDescriptorInit(
        _handle: In<u64>, descriptor: Out<Matmul>, _op_a: i32, _op_b: i32, a: In<Matrix>, b: In<Matrix>,
        _c: In<Matrix>, _d: In<Matrix>, _compute: i32,
    ) {
        let (a, b) = (matrix(a)?, matrix(b)?);
        let structured = if a.is_structured == 1 { a } else { b };
        descriptor.set(Matmul { mark: MATMUL, structured })
    }

    fn cusparseLtMatmulAlgSelectionInit(
        _handle: In<u64>, chosen: Out<Selection>, descriptor: In<Matmul>, _algorithm: i32,
    ) {
        product(descriptor)?;
        chosen.set(DEFAULT_SELECTION)
    }

    fn cusparseLtMatmulAlgSetAttribute(
        _handle: In<u64>, chosen: Out<Selection>, attribute: i32, data: In<i32>, bytes: usize,
    ) {
        let mut known = chosen.get::<CusparseStatus>()?;
        if known.mark != SELECTION || attribute == MAX_ID || bytes < size_of::<i32>() {
            return Err(CusparseStatus::INVALID);
        }
        known.attributes[slot(attribute)?] = data.get()?;
        chosen.set(known)
    }

    fn cusparseLtMatmulAlgGetAttribute(
        _handle: In<u64>, chosen: In<Selection>, attribute: i32, data: Out<i32>, bytes: usize,
    ) {
        if bytes < size_of::<i32>() {
            return Err(CusparseStatus::INVALID);
        }
        data.set(selection(chosen)?.attributes[slot(attribute)?])
    }

    fn cusparseLtMatmulPlanInit(
        _handle: In<u64>, plan: Out<Matmul>, descriptor: In<Matmul>, chosen: In<Selection>,
    ) {
        selection(chosen)?;
        plan.set(product(descriptor)?)
    }

    fn cusparseLtMatmulPlanDestroy(plan: In<Matmul>) { product(plan).map(drop) }

    fn cusparseLtMatmulGetWorkspace(_handle: In<u64>, plan: In<Matmul>, bytes: Out<usize>) {
        product(plan)?;
        // Only splitting the inner dimension takes workspace, and the default does not split.
        crate::journal::record_assumption("cusparselt-workspace", "cuSPARSELt's products are taken to need no workspace", 0);
        bytes.set(0)
    }

    fn cusparseLtSpMMACompressedSize(
        _handle: In<u64>, plan: In<Matmul>, compressed: Out<usize>, buffer: Out<usize>,
    ) { write_sizes(product(plan)?.structured, compressed, buffer) }

    fn cusparseLtSpMMACompressedSize2(
        _handle: In<u64>, descriptor: In<Matrix>, compressed: Out<usize>, buffer: Out<usize>,
    ) { write_sizes(matrix(descriptor)?, compressed, buffer) }

    fn cusparseLtMatmul(
        _handle: In<u64>, plan: In<Matmul>, _alpha: usize, _a: usize, _b: usize, _beta: usize, _c: usize, _d: usize,
        _workspace: usize, streams: In<Handle>, _count: i32,
    ) {
        note_for_library(|| streams.get::<CusparseStatus>().map_or(0, |stream| stream as usize))?;
        product(plan).map(drop)
    }
}

// Their outputs are matrices and flags in device memory; the attributes of a product change nothing that we answer.
inert! { CusparseStatus;
    cusparseLtMatmulAlgSelectionDestroy cusparseLtMatmulDescSetAttribute cusparseLtMatmulSearch cusparseLtSpMMACompress
    cusparseLtSpMMACompress2 cusparseLtSpMMAPrune cusparseLtSpMMAPrune2 cusparseLtSpMMAPruneCheck
    cusparseLtSpMMAPruneCheck2
}

/// `cusparseLtGetErrorName`, as the library's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cusparseLtGetErrorName(status: CusparseStatus) -> *const c_char {
    cusparseGetErrorName(status)
}

/// `cusparseLtGetErrorString`, as the library's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cusparseLtGetErrorString(status: CusparseStatus) -> *const c_char {
    cusparseGetErrorString(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Matrix =
        Matrix { mark: 0, rows: 0, columns: 0, batch_stride: 0, batches: 0, data_type: 0, is_structured: 0 };
    const NO_PRODUCT: Matmul = Matmul { mark: 0, structured: NOTHING };
    const NO_SELECTION: Selection = Selection { mark: 0, attributes: [-1; 6] };

    fn structured(rows: i64, columns: i64, data_type: i32) -> Matrix {
        let mut descriptor = NOTHING;
        let (handle, room) = (In::to(&HANDLE), Out::to(&mut descriptor));
        let status = cusparseLtStructuredDescriptorInit(handle, room, rows, columns, columns, 16, data_type, 2, 0);
        assert_eq!(status, CusparseStatus::SUCCESS);
        descriptor
    }

    #[test]
    fn compressed_sizes_are_those_of_the_tensors_pytorch_makes() {
        let (int8, half, bfloat16, single) = (3, 2, 14, 0);
        let elements = 128 * 256;
        let cases = [
            (int8, elements * 10 / 16),
            (half, elements * 2 * 9 / 16),
            (bfloat16, elements * 2 * 9 / 16),
            (single, elements * 4 * 9 / 16),
        ];
        for (data_type, expected) in cases {
            let descriptor = structured(128, 256, data_type);
            let (mut compressed, mut buffer) = (0, 0);
            let (first, second) = (Out::to(&mut compressed), Out::to(&mut buffer));
            let status = cusparseLtSpMMACompressedSize2(In::to(&HANDLE), In::to(&descriptor), first, second);
            assert_eq!((status, compressed), (CusparseStatus::SUCCESS, expected), "cudaDataType {data_type}");
            assert!(buffer > 0);
        }
    }

    #[test]
    fn a_product_keeps_its_structured_operand_whichever_side_it_is() {
        let (sparse, mut dense) = (structured(64, 64, 2), NOTHING);
        let handle = In::to(&HANDLE);
        let status = cusparseLtDenseDescriptorInit(handle, Out::to(&mut dense), 64, 32, 32, 16, 2, 2);
        assert_eq!(status, CusparseStatus::SUCCESS);
        for (a, b) in [(&sparse, &dense), (&dense, &sparse)] {
            let mut product = NO_PRODUCT;
            let (first, second, result) = (In::to(a), In::to(b), In::to(&dense));
            let room = Out::to(&mut product);
            let status = cusparseLtMatmulDescriptorInit(handle, room, 0, 0, first, second, result, result, 0);
            assert_eq!((status, product.structured), (CusparseStatus::SUCCESS, sparse));
        }
    }

    #[test]
    fn a_selection_remembers_its_configuration_and_refuses_its_limit() {
        let (handle, mut chosen) = (In::to(&HANDLE), NO_SELECTION);
        let product = Matmul { mark: MATMUL, structured: structured(64, 64, 2) };
        let status = cusparseLtMatmulAlgSelectionInit(handle, Out::to(&mut chosen), In::to(&product), 0);
        assert_eq!(status, CusparseStatus::SUCCESS);
        let set = |chosen: &mut Selection, attribute| {
            cusparseLtMatmulAlgSetAttribute(handle, Out::to(chosen), attribute, In::to(&5), 4)
        };
        assert_eq!(set(&mut chosen, 0), CusparseStatus::SUCCESS);
        assert_eq!(set(&mut chosen, MAX_ID), CusparseStatus::INVALID);
        assert_eq!(set(&mut chosen, 6), CusparseStatus::INVALID);
        let mut value = -1;
        let status = cusparseLtMatmulAlgGetAttribute(handle, In::to(&chosen), 0, Out::to(&mut value), 4);
        assert_eq!((status, value), (CusparseStatus::SUCCESS, 5));
    }

    #[test]
    fn objects_that_were_never_initialised_are_refused() {
        let mut bytes = 7;
        let (handle, room) = (In::to(&HANDLE), Out::to(&mut bytes));
        assert_eq!(cusparseLtMatmulGetWorkspace(handle, In::to(&NO_PRODUCT), room), CusparseStatus::INVALID);
        assert_eq!(cusparseLtMatDescriptorDestroy(In::to(&NOTHING)), CusparseStatus::INVALID);
    }
}
