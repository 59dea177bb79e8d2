//! The interfaces older than the generic one: matrix descriptors, block-sparse products and solves, sums of matrices,
//! sorting.

use super::buffers::{answer, assume_nonzeros};
use super::{CusparseStatus, results_go_to_host, stream_of};
use crate::api::captured::inert_on_stream;
use crate::boundary::{Out, Status, export};
use crate::handle::{Handle, Table};

/// Bytes of a 32-bit index.
const INDEX: u64 = 4;

/// A `cusparseMatDescr_t`: type, fill mode, diagonal type, index base. All start as zero.
static DESCRIPTORS: Table<[i32; 4]> = Table::new();
static INFOS: Table<()> = Table::new();

fn size(value: i32) -> Result<u64, CusparseStatus> {
    u64::try_from(value).map_err(|_| CusparseStatus::INVALID)
}

macro_rules! descriptor_fields {
    ($($field:literal: $set:ident $get:ident;)*) => {
        export! { CusparseStatus;
            $(fn $set(descriptor: Handle, value: i32) {
                DESCRIPTORS.with(descriptor, |fields| fields[$field] = value).ok_or(CusparseStatus::INVALID)
            })*
        }
        $(
            #[doc = concat!("`", stringify!($get), "`, as CUDA's header declares it: the field itself, no status.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $get(descriptor: Handle) -> i32 {
                DESCRIPTORS.with(descriptor, |fields| fields[$field]).unwrap_or(0)
            }
        )*
    };
}

descriptor_fields! {
    0: cusparseSetMatType cusparseGetMatType;
    1: cusparseSetMatFillMode cusparseGetMatFillMode;
    2: cusparseSetMatDiagType cusparseGetMatDiagType;
    3: cusparseSetMatIndexBase cusparseGetMatIndexBase;
}

macro_rules! infos {
    ($($create:ident $destroy:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $create(info: Out<Handle>) { info.set(INFOS.insert(())) }
                fn $destroy(info: Handle) { INFOS.remove(info).ok_or(CusparseStatus::INVALID) }
            )*
        }
    };
}

infos! {
    cusparseCreateBsrsv2Info cusparseDestroyBsrsv2Info;
    cusparseCreateBsrsm2Info cusparseDestroyBsrsm2Info;
}

/// A block-sparse triangular solve keeps two indices for each row of blocks and the inverted diagonal blocks.
fn block_solve(size_out: Out<i32>, block_rows: i32, block: i32, value_bytes: u64) -> Result<(), CusparseStatus> {
    let (block_rows, block) = (size(block_rows)?, size(block)?);
    let one = (2 * INDEX).saturating_add(block.saturating_mul(block).saturating_mul(value_bytes));
    let bytes = block_rows.max(1).saturating_mul(one);
    let mut written = 0;
    answer(Out::to(&mut written), bytes)?;
    size_out.set(i32::try_from(written).map_err(|_| CusparseStatus::INVALID)?)
}

/// The functions of one value type.
macro_rules! typed {
    ($($bytes:literal: $bsrsv:ident $bsrsm:ident $csrgeam:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $bsrsv(
                    _handle: Handle, _direction: i32, _operation: i32, block_rows: i32, _blocks: i32, _descriptor: Handle,
                    _values: usize, _rows: usize, _columns: usize, block: i32, _info: Handle, size: Out<i32>,
                ) { block_solve(size, block_rows, block, $bytes) }

                fn $bsrsm(
                    _handle: Handle, _direction: i32, _operation: i32, _operation_x: i32, block_rows: i32, _n: i32,
                    _blocks: i32, _descriptor: Handle, _values: usize, _rows: usize, _columns: usize, block: i32,
                    _info: Handle, size: Out<i32>,
                ) { block_solve(size, block_rows, block, $bytes) }

                fn $csrgeam(
                    _handle: Handle, rows: i32, _columns: i32, _alpha: usize, _a: Handle, _a_nonzeros: i32,
                    _a_values: usize, _a_rows: usize, _a_columns: usize, _beta: usize, _b: Handle, _b_nonzeros: i32,
                    _b_values: usize, _b_rows: usize, _b_columns: usize, _c: Handle, _c_values: usize, _c_rows: usize,
                    _c_columns: usize, bytes: Out<usize>,
                ) {
                    // The number of elements of each row of the sum, before they are added up.
                    answer(bytes, size(rows)?.saturating_add(1).saturating_mul(INDEX))
                }
            )*
        }
    };
}

typed! {
    4: cusparseSbsrsv2_bufferSize cusparseSbsrsm2_bufferSize cusparseScsrgeam2_bufferSizeExt;
    8: cusparseDbsrsv2_bufferSize cusparseDbsrsm2_bufferSize cusparseDcsrgeam2_bufferSizeExt;
    8: cusparseCbsrsv2_bufferSize cusparseCbsrsm2_bufferSize cusparseCcsrgeam2_bufferSizeExt;
    16: cusparseZbsrsv2_bufferSize cusparseZbsrsm2_bufferSize cusparseZcsrgeam2_bufferSizeExt;
}

/// Sorting holds two copies of keys and permutation.
fn sort_bytes(nonzeros: i32) -> Result<u64, CusparseStatus> {
    Ok(size(nonzeros)?.max(1).saturating_mul(4 * INDEX))
}

/// No pivot is zero: -1.
fn no_zero_pivot(handle: Handle, position: Out<i32>) -> Result<(), CusparseStatus> {
    if results_go_to_host(handle)? { position.set(-1) } else { Ok(()) }
}

export! { CusparseStatus;
    fn cusparseCreateMatDescr(descriptor: Out<Handle>) { descriptor.set(DESCRIPTORS.insert([0; 4])) }
    fn cusparseDestroyMatDescr(descriptor: Handle) {
        DESCRIPTORS.remove(descriptor).map(drop).ok_or(CusparseStatus::INVALID)
    }

    fn cusparseXbsrsv2_zeroPivot(handle: Handle, _info: Handle, position: Out<i32>) { no_zero_pivot(handle, position) }
    fn cusparseXbsrsm2_zeroPivot(handle: Handle, _info: Handle, position: Out<i32>) { no_zero_pivot(handle, position) }

    fn cusparseXcoosort_bufferSizeExt(
        _handle: Handle, _m: i32, _n: i32, nonzeros: i32, _rows: usize, _columns: usize, bytes: Out<usize>,
    ) { answer(bytes, sort_bytes(nonzeros)?) }
    fn cusparseXcsrsort_bufferSizeExt(
        _handle: Handle, _m: i32, _n: i32, nonzeros: i32, _rows: usize, _columns: usize, bytes: Out<usize>,
    ) { answer(bytes, sort_bytes(nonzeros)?) }
    fn cusparseXcscsort_bufferSizeExt(
        _handle: Handle, _m: i32, _n: i32, nonzeros: i32, _columns: usize, _rows: usize, bytes: Out<usize>,
    ) { answer(bytes, sort_bytes(nonzeros)?) }

    fn cusparseXcsrgeam2Nnz(
        handle: Handle, rows: i32, columns: i32, _a: Handle, a_nonzeros: i32, _a_rows: usize, _a_columns: usize,
        _b: Handle, b_nonzeros: i32, _b_rows: usize, _b_columns: usize, _c: Handle, _c_rows: usize, total: Out<i32>,
        _workspace: usize,
    ) {
        if !results_go_to_host(handle)? {
            return Ok(());
        }
        let places = size(rows)?.saturating_mul(size(columns)?);
        let nonzeros = size(a_nonzeros)?.saturating_add(size(b_nonzeros)?).min(places);
        // The types of the values are not known here: eight bytes stand for them.
        assume_nonzeros(nonzeros, 8);
        total.set(i32::try_from(nonzeros).map_err(|_| CusparseStatus::INVALID)?)
    }
}

// Their outputs are matrices in device memory.
inert_on_stream! { CusparseStatus, stream_of;
    cusparseCbsrmm cusparseCbsrmv cusparseCbsrsm2_analysis cusparseCbsrsm2_solve cusparseCbsrsv2_analysis
    cusparseCbsrsv2_solve cusparseCcsrgeam2
    cusparseDbsrmm cusparseDbsrmv cusparseDbsrsm2_analysis cusparseDbsrsm2_solve cusparseDbsrsv2_analysis
    cusparseDbsrsv2_solve cusparseDcsrgeam2
    cusparseSbsrmm cusparseSbsrmv cusparseSbsrsm2_analysis cusparseSbsrsm2_solve cusparseSbsrsv2_analysis
    cusparseSbsrsv2_solve cusparseScsrgeam2
    cusparseZbsrmm cusparseZbsrmv cusparseZbsrsm2_analysis cusparseZbsrsm2_solve cusparseZbsrsv2_analysis
    cusparseZbsrsv2_solve cusparseZcsrgeam2
    cusparseXcoo2csr cusparseXcoosortByColumn cusparseXcoosortByRow cusparseXcscsort cusparseXcsr2coo cusparseXcsrsort
}

#[cfg(test)]
mod tests {
    use super::super::{cusparseCreate, cusparseSetPointerMode};
    use super::*;

    fn handle_in_mode(mode: i32) -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cusparseCreate(Out::to(&mut handle)), CusparseStatus::SUCCESS);
        assert_eq!(cusparseSetPointerMode(handle, mode), CusparseStatus::SUCCESS);
        handle
    }

    #[test]
    fn a_descriptor_keeps_its_fields_apart() {
        let mut descriptor = std::ptr::null_mut();
        assert_eq!(cusparseCreateMatDescr(Out::to(&mut descriptor)), CusparseStatus::SUCCESS);
        assert_eq!(cusparseSetMatFillMode(descriptor, 1), CusparseStatus::SUCCESS);
        assert_eq!(cusparseSetMatIndexBase(descriptor, 1), CusparseStatus::SUCCESS);
        assert_eq!(cusparseGetMatType(descriptor), 0);
        assert_eq!(cusparseGetMatFillMode(descriptor), 1);
        assert_eq!(cusparseGetMatDiagType(descriptor), 0);
        assert_eq!(cusparseGetMatIndexBase(descriptor), 1);
    }

    #[test]
    fn no_pivot_is_zero_and_the_answer_goes_where_the_mode_says() {
        for (mode, expected) in [(0, -1), (1, 7)] {
            let mut position = 7;
            let status = cusparseXbsrsv2_zeroPivot(handle_in_mode(mode), std::ptr::null_mut(), Out::to(&mut position));
            assert_eq!((status, position), (CusparseStatus::SUCCESS, expected));
        }
    }

    #[test]
    fn a_sum_has_the_elements_of_both_but_no_more_than_places() {
        let (handle, none) = (handle_in_mode(0), std::ptr::null_mut());
        for (rows, expected) in [(100, 90), (3, 30)] {
            let mut total = -1;
            let room = Out::to(&mut total);
            let status = cusparseXcsrgeam2Nnz(handle, rows, 10, none, 50, 0, 0, none, 40, 0, 0, none, 0, room, 0);
            assert_eq!((status, total), (CusparseStatus::SUCCESS, expected));
        }
    }

    #[test]
    fn buffers_of_block_solves_are_never_empty_and_fit_32_bits_or_are_refused() {
        let none = std::ptr::null_mut();
        let ask = |rows: i32, block: i32| {
            let mut size = 0;
            let room = Out::to(&mut size);
            let status = cusparseSbsrsv2_bufferSize(none, 0, 0, rows, 1, none, 0, 0, 0, block, none, room);
            (status, size)
        };
        assert_eq!(ask(10, 4), (CusparseStatus::SUCCESS, 10 * (8 + 64)));
        assert!(ask(0, 4).1 > 0);
        assert_eq!(ask(i32::MAX, 64).0, CusparseStatus::INVALID);
    }
}
