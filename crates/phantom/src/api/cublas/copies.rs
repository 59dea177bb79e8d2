//! `cublasSet*` and `cublasGet*`: copies between host and device, column by column. They are performed, because their
//! destination can be host memory that the program reads.

use super::CublasStatus;
use crate::boundary::{Status, export};
use crate::handle::Handle;

/// A column-major matrix of `rows` elements a column, whose columns start `ld` elements apart.
#[derive(Clone, Copy)]
struct Matrix {
    address: usize,
    ld: i64,
}

/// Copies `columns` runs of `rows` elements. A run of nothing needs no addresses.
fn matrix(rows: i64, columns: i64, element: i64, from: Matrix, to: Matrix) -> Result<(), CublasStatus> {
    let bad = CublasStatus::INVALID;
    if rows < 0 || columns < 0 || element <= 0 || from.ld < rows || to.ld < rows {
        return Err(bad);
    }
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let bytes = rows.checked_mul(element).and_then(|bytes| usize::try_from(bytes).ok()).ok_or(bad)?;
    for column in 0..columns {
        let source = start(from, column, element).ok_or(bad)?;
        let target = start(to, column, element).ok_or(bad)?;
        crate::values::copy(target, source, bytes);
    }
    Ok(())
}

fn start(matrix: Matrix, column: i64, element: i64) -> Option<usize> {
    let offset = column.checked_mul(matrix.ld)?.checked_mul(element)?;
    matrix.address.checked_add(usize::try_from(offset).ok()?)
}

/// A strided vector is a matrix of one-element columns; a dense one is a single column.
fn vector(n: i64, element: i64, from: Matrix, to: Matrix) -> Result<(), CublasStatus> {
    if from.ld == 1 && to.ld == 1 {
        let dense = |vector: Matrix| Matrix { ld: n, ..vector };
        return matrix(n, 1, element, dense(from), dense(to));
    }
    matrix(1, n, element, from, to)
}

macro_rules! copies {
    ($length:ty; $($vector:ident $vector_async:ident $matrix:ident $matrix_async:ident;)*) => {
        export! { CublasStatus;
            $(
                fn $vector(n: $length, element: $length, x: usize, incx: $length, y: usize, incy: $length) {
                    vector(n.into(), element.into(), at(x, incx), at(y, incy))
                }
                fn $vector_async(
                    n: $length, element: $length, x: usize, incx: $length, y: usize, incy: $length, _stream: Handle,
                ) { vector(n.into(), element.into(), at(x, incx), at(y, incy)) }
                fn $matrix(
                    rows: $length, columns: $length, element: $length, a: usize, lda: $length, b: usize, ldb: $length,
                ) { matrix(rows.into(), columns.into(), element.into(), at(a, lda), at(b, ldb)) }
                fn $matrix_async(
                    rows: $length, columns: $length, element: $length, a: usize, lda: $length, b: usize, ldb: $length,
                    _stream: Handle,
                ) { matrix(rows.into(), columns.into(), element.into(), at(a, lda), at(b, ldb)) }
            )*
        }
    };
}

fn at(address: usize, ld: impl Into<i64>) -> Matrix {
    Matrix { address, ld: ld.into() }
}

copies! { i32;
    cublasSetVector cublasSetVectorAsync cublasSetMatrix cublasSetMatrixAsync;
    cublasGetVector cublasGetVectorAsync cublasGetMatrix cublasGetMatrixAsync;
}
copies! { i64;
    cublasSetVector_64 cublasSetVectorAsync_64 cublasSetMatrix_64 cublasSetMatrixAsync_64;
    cublasGetVector_64 cublasGetVectorAsync_64 cublasGetMatrix_64 cublasGetMatrixAsync_64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_start_a_leading_dimension_apart() {
        let matrix = at(0x1000, 5i64);
        assert_eq!(start(matrix, 0, 4), Some(0x1000));
        assert_eq!(start(matrix, 3, 4), Some(0x1000 + 60));
        assert_eq!(start(matrix, i64::MAX, 4), None);
    }

    #[test]
    fn impossible_shapes_are_refused_and_empty_ones_are_nothing() {
        let cases = [
            ((0, 4, 4, 1), CublasStatus::SUCCESS),
            ((4, 0, 4, 4), CublasStatus::SUCCESS),
            ((-1, 4, 4, 4), CublasStatus::INVALID),
            ((4, 1, 0, 4), CublasStatus::INVALID),
            ((4, 1, 4, 3), CublasStatus::INVALID),
        ];
        for ((rows, columns, element, ld), expected) in cases {
            assert_eq!(cublasSetMatrix(rows, columns, element, 0, ld, 0, ld), expected, "{rows}x{columns}");
        }
    }

    #[test]
    fn host_to_host_elements_arrive_where_their_stride_says() {
        let source = [1u32, 2, 3, 4];
        let mut target = [0u32; 4];
        let (from, to) = (source.as_ptr() as usize, (&raw mut target) as usize);
        assert_eq!(cublasGetVector(2, 4, from, 2, to, 1), CublasStatus::SUCCESS);
        assert_eq!(target, [1, 3, 0, 0]);
    }
}
