//! External buffers of the generic interface: models of their sizes, and the size of a sparse product.

// Note [cuSPARSE buffers]
// ~~~~~~~~~~~~~~~~~~~~~~~
// cuSPARSE documents the query for a buffer, but no size. The models count the data that the algorithms must hold: a
// 32-bit index per row for a product, a transposed copy if the operand is transposed, four indices per row for the
// levels of a triangular solve. Sizes are rounded up to 256 bytes, so that no buffer is empty. Every use is named in
// the journal as the assumption `cusparse-buffer`.

use super::CusparseStatus;
use super::dense::dense_shape;
use super::matrices::{Shape, set_nonzeros, sparse_shape};
use crate::boundary::{Out, Status, export};
use crate::handle::{Handle, Table};

/// Bytes of a 32-bit index.
const INDEX: u64 = 4;

/// `CUSPARSE_OPERATION_NON_TRANSPOSE`.
const PLAIN: i32 = 0;

/// The descriptors of triangular solves and sparse products, which remember nothing.
static DESCRIPTORS: Table<()> = Table::new();

/// Rounds up to whole 256 bytes, at least 256.
fn rounded(bytes: u64) -> u64 {
    bytes.max(1).checked_next_multiple_of(256).unwrap_or(u64::MAX)
}

/// An index for each row, and a transposed copy if the operand is transposed.
fn product_bytes(matrix: Shape, operation: i32) -> u64 {
    let rows = matrix.rows.saturating_add(1).saturating_mul(INDEX);
    let copy = matrix.nonzeros.saturating_mul(matrix.value_bytes + INDEX).saturating_add(rows);
    let one = if operation == PLAIN { rows } else { rows.saturating_add(copy) };
    rounded(one.saturating_mul(matrix.batches))
}

/// Four indices for each row: its level, its position in the level, and two counters. With several right-hand sides, a
/// copy of them.
fn solve_bytes(matrix: Shape, right: Option<Shape>) -> u64 {
    let levels = matrix.rows.saturating_mul(4 * INDEX);
    let copy = right.map_or(0, |right| right.nonzeros.saturating_mul(right.value_bytes));
    rounded(levels.saturating_add(copy).saturating_mul(matrix.batches))
}

/// Multiplications in a product of two sparse matrices whose elements are spread evenly.
fn multiplications(a: Shape, b: Shape) -> u64 {
    let products = u128::from(a.nonzeros) * u128::from(b.nonzeros) / u128::from(a.columns.max(1));
    u64::try_from(products).unwrap_or(u64::MAX)
}

/// Elements of the product: one for each multiplication, at most the size of the dense matrix.
fn product_nonzeros(a: Shape, b: Shape) -> u64 {
    multiplications(a, b).min(a.rows.saturating_mul(b.columns))
}

/// Names the assumption behind a buffer of `bytes`, and writes its size.
pub(super) fn answer(size: Out<usize>, bytes: u64) -> Result<(), CusparseStatus> {
    let text = "cuSPARSE's buffers are modelled from what the algorithms must keep, not measured";
    crate::journal::record_assumption("cusparse-buffer", text, bytes);
    size.set(bytes as usize)
}

/// Names the assumption behind the number of elements of a result.
pub(super) fn assume_nonzeros(nonzeros: u64, value_bytes: u64) {
    let text = "a sparse sum or product is assumed to have no coinciding elements";
    crate::journal::record_assumption("cusparse-nonzeros", text, nonzeros.saturating_mul(value_bytes + INDEX));
}

macro_rules! descriptors {
    ($($create:ident $destroy:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $create(descriptor: Out<Handle>) { descriptor.set(DESCRIPTORS.insert(())) }
                fn $destroy(descriptor: Handle) { DESCRIPTORS.remove(descriptor).ok_or(CusparseStatus::INVALID) }
            )*
        }
    };
}

descriptors! {
    cusparseSpSV_createDescr cusparseSpSV_destroyDescr;
    cusparseSpSM_createDescr cusparseSpSM_destroyDescr;
    cusparseSpGEMM_createDescr cusparseSpGEMM_destroyDescr;
}

export! { CusparseStatus;
    fn cusparseSpMV_bufferSize(
        _handle: Handle, operation: i32, _alpha: usize, a: Handle, _x: Handle, _beta: usize, _y: Handle, _compute: i32,
        _algorithm: i32, size: Out<usize>,
    ) { answer(size, product_bytes(sparse_shape(a)?, operation)) }

    fn cusparseSpMM_bufferSize(
        _handle: Handle, operation: i32, _operation_b: i32, _alpha: usize, a: Handle, _b: Handle, _beta: usize,
        _c: Handle, _compute: i32, _algorithm: i32, size: Out<usize>,
    ) { answer(size, product_bytes(sparse_shape(a)?, operation)) }

    fn cusparseSDDMM_bufferSize(
        _handle: Handle, _operation_a: i32, _operation_b: i32, _alpha: usize, _a: Handle, _b: Handle, _beta: usize,
        c: Handle, _compute: i32, _algorithm: i32, size: Out<usize>,
    ) { answer(size, product_bytes(sparse_shape(c)?, PLAIN)) }

    fn cusparseSpSV_bufferSize(
        _handle: Handle, _operation: i32, _alpha: usize, a: Handle, _x: Handle, _y: Handle, _compute: i32,
        _algorithm: i32, _descriptor: Handle, size: Out<usize>,
    ) { answer(size, solve_bytes(sparse_shape(a)?, None)) }

    fn cusparseSpSM_bufferSize(
        _handle: Handle, _operation_a: i32, _operation_b: i32, _alpha: usize, a: Handle, b: Handle, _c: Handle,
        _compute: i32, _algorithm: i32, _descriptor: Handle, size: Out<usize>,
    ) { answer(size, solve_bytes(sparse_shape(a)?, Some(dense_shape(b)?))) }

    fn cusparseSparseToDense_bufferSize(
        _handle: Handle, a: Handle, _b: Handle, _algorithm: i32, size: Out<usize>,
    ) { answer(size, product_bytes(sparse_shape(a)?, PLAIN)) }

    fn cusparseSpGEMM_workEstimation(
        _handle: Handle, _operation_a: i32, _operation_b: i32, _alpha: usize, a: Handle, _b: Handle, _beta: usize,
        _c: Handle, _compute: i32, _algorithm: i32, _descriptor: Handle, size: Out<usize>, buffer: usize,
    ) {
        if buffer != 0 {
            return Ok(());
        }
        // The number of multiplications of each row.
        answer(size, product_bytes(sparse_shape(a)?, PLAIN))
    }

    fn cusparseSpGEMM_compute(
        _handle: Handle, _operation_a: i32, _operation_b: i32, _alpha: usize, a: Handle, b: Handle, _beta: usize,
        c: Handle, _compute: i32, _algorithm: i32, _descriptor: Handle, size: Out<usize>, buffer: usize,
    ) {
        let (a, b) = (sparse_shape(a)?, sparse_shape(b)?);
        if buffer != 0 {
            let nonzeros = product_nonzeros(a, b);
            assume_nonzeros(nonzeros, a.value_bytes);
            return set_nonzeros(c, nonzeros);
        }
        // Every multiplication with its column.
        answer(size, rounded(multiplications(a, b).saturating_mul(a.value_bytes + INDEX)))
    }

    fn cusparseSpGEMM_copy(
        _handle: Handle, _operation_a: i32, _operation_b: i32, _alpha: usize, a: Handle, b: Handle, _beta: usize,
        c: Handle, _compute: i32, _algorithm: i32, _descriptor: Handle,
    ) {
        // The product lies in device memory; only the shapes can be wrong.
        [a, b, c].into_iter().try_for_each(|matrix| sparse_shape(matrix).map(drop))
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrices::{cusparseCreateCsr, cusparseSpMatGetSize};
    use super::*;

    fn csr(rows: i64, columns: i64, nonzeros: i64) -> Handle {
        let mut matrix = std::ptr::null_mut();
        let status = cusparseCreateCsr(Out::to(&mut matrix), rows, columns, nonzeros, 1, 2, 3, 2, 2, 0, 0);
        assert_eq!(status, CusparseStatus::SUCCESS);
        matrix
    }

    #[test]
    fn a_transposed_operand_costs_a_copy() {
        let (none, matrix) = (std::ptr::null_mut(), csr(1_000, 1_000, 10_000));
        let size = |operation| {
            let mut size = 0;
            let room = Out::to(&mut size);
            let status = cusparseSpMM_bufferSize(none, operation, 0, 0, matrix, none, 0, none, 0, 0, room);
            assert_eq!(status, CusparseStatus::SUCCESS);
            size
        };
        assert_eq!(size(PLAIN), 4_096);
        assert!(size(1) >= size(PLAIN) + 10_000 * 8);
    }

    /// As PyTorch calls it (`SparseBlasImpl.cpp`, 2.11): sizes without buffers, then with, then the size of the result.
    #[test]
    fn a_sparse_product_has_a_size_once_it_is_computed() {
        let (none, a, b, c) = (std::ptr::null_mut(), csr(100, 50, 500), csr(50, 80, 400), csr(100, 80, 0));
        let mut size = 0;
        for buffer in [0, 0x1000] {
            let room = Out::to(&mut size);
            let status = cusparseSpGEMM_compute(none, 0, 0, 0, a, b, 0, c, 0, 0, none, room, buffer);
            assert_eq!(status, CusparseStatus::SUCCESS);
        }
        assert!(size >= 500 * 400 / 50 * 8);
        let (mut rows, mut columns, mut nonzeros) = (0, 0, 0);
        cusparseSpMatGetSize(c, Out::to(&mut rows), Out::to(&mut columns), Out::to(&mut nonzeros));
        assert_eq!((rows, columns, nonzeros), (100, 80, 500 * 400 / 50));
    }

    #[test]
    fn a_product_is_never_fuller_than_full() {
        let full = Shape { rows: 10, columns: 10, nonzeros: 100, value_bytes: 4, batches: 1 };
        assert_eq!(product_nonzeros(full, full), 100);
        let huge = Shape { nonzeros: u64::MAX, ..full };
        assert_eq!(product_nonzeros(huge, huge), 100);
        assert!(product_bytes(huge, 1) >= product_bytes(full, 1));
    }

    #[test]
    fn an_unknown_matrix_is_refused() {
        let (none, mut size) = (std::ptr::null_mut(), 7);
        let status = cusparseSpMV_bufferSize(none, 0, 0, none, none, 0, none, 0, 0, Out::to(&mut size));
        assert_eq!((status, size), (CusparseStatus::INVALID, 7));
    }
}
