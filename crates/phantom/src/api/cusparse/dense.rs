//! The descriptors of dense matrices and dense vectors: whatever was put in can be read back.

use super::CusparseStatus;
use super::matrices::{Shape, shape};
use crate::boundary::{Out, Status, export};
use crate::handle::{Handle, Table};

/// A dense matrix or, with one column, a dense vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dense {
    rows: i64,
    columns: i64,
    ld: i64,
    values: usize,
    value_type: i32,
    order: i32,
    batches: i32,
    batch_stride: i64,
}

static DENSE: Table<Dense> = Table::new();

/// The shape of the dense matrix or vector behind `handle`.
pub(crate) fn dense_shape(handle: Handle) -> Result<Shape, CusparseStatus> {
    let matrix = dense(handle, |matrix| *matrix)?;
    let elements = matrix.rows.saturating_mul(matrix.columns);
    shape([matrix.rows, matrix.columns, elements], matrix.value_type, matrix.batches)
}

fn dense<R>(handle: Handle, body: impl FnOnce(&mut Dense) -> R) -> Result<R, CusparseStatus> {
    DENSE.with(handle, body).ok_or(CusparseStatus::INVALID)
}

fn create_dense(descriptor: Out<Handle>, matrix: Dense) -> Result<(), CusparseStatus> {
    if descriptor.is_null() || matrix.rows < 0 || matrix.columns < 0 {
        return Err(CusparseStatus::INVALID);
    }
    descriptor.set(DENSE.insert(matrix))
}

macro_rules! values {
    ($($get:ident $get_const:ident $set:ident $destroy:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $get(descriptor: Handle, values: Out<usize>) { values.set(dense(descriptor, |one| one.values)?) }
                fn $get_const(descriptor: Handle, values: Out<usize>) { values.set(dense(descriptor, |one| one.values)?) }
                fn $set(descriptor: Handle, values: usize) { dense(descriptor, |one| one.values = values) }
                fn $destroy(descriptor: Handle) {
                    DENSE.remove(descriptor).map(drop).ok_or(CusparseStatus::INVALID)
                }
            )*
        }
    };
}

values! {
    cusparseDnMatGetValues cusparseConstDnMatGetValues cusparseDnMatSetValues cusparseDestroyDnMat;
    cusparseDnVecGetValues cusparseConstDnVecGetValues cusparseDnVecSetValues cusparseDestroyDnVec;
}

export! { CusparseStatus;
    fn cusparseDnMatSetStridedBatch(descriptor: Handle, batches: i32, batch_stride: i64) {
        dense(descriptor, |matrix| (matrix.batches, matrix.batch_stride) = (batches, batch_stride))
    }
    fn cusparseDnMatGetStridedBatch(descriptor: Handle, batches: Out<i32>, batch_stride: Out<i64>) {
        let matrix = dense(descriptor, |matrix| *matrix)?;
        batches.set::<CusparseStatus>(matrix.batches)?;
        batch_stride.set(matrix.batch_stride)
    }
}

macro_rules! dense_kinds {
    ($($matrix:ident $vector:ident $get_matrix:ident $get_vector:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $matrix(
                    descriptor: Out<Handle>, rows: i64, columns: i64, ld: i64, values: usize, value_type: i32, order: i32,
                ) {
                    let matrix = Dense { rows, columns, ld, values, value_type, order, batches: 1, batch_stride: 0 };
                    create_dense(descriptor, matrix)
                }
                fn $vector(descriptor: Out<Handle>, size: i64, values: usize, value_type: i32) {
                    let (rows, columns, ld, order) = (size, 1, size, 1);
                    let vector = Dense { rows, columns, ld, values, value_type, order, batches: 1, batch_stride: 0 };
                    create_dense(descriptor, vector)
                }
                fn $get_matrix(
                    descriptor: Handle, rows: Out<i64>, columns: Out<i64>, ld: Out<i64>, values: Out<usize>,
                    value_type: Out<i32>, order: Out<i32>,
                ) {
                    let matrix = dense(descriptor, |matrix| *matrix)?;
                    rows.set::<CusparseStatus>(matrix.rows)?;
                    columns.set::<CusparseStatus>(matrix.columns)?;
                    ld.set::<CusparseStatus>(matrix.ld)?;
                    values.set::<CusparseStatus>(matrix.values)?;
                    value_type.set::<CusparseStatus>(matrix.value_type)?;
                    order.set(matrix.order)
                }
                fn $get_vector(descriptor: Handle, size: Out<i64>, values: Out<usize>, value_type: Out<i32>) {
                    let vector = dense(descriptor, |vector| *vector)?;
                    size.set::<CusparseStatus>(vector.rows)?;
                    values.set::<CusparseStatus>(vector.values)?;
                    value_type.set(vector.value_type)
                }
            )*
        }
    };
}

dense_kinds! {
    cusparseCreateDnMat cusparseCreateDnVec cusparseDnMatGet cusparseDnVecGet;
    cusparseCreateConstDnMat cusparseCreateConstDnVec cusparseConstDnMatGet cusparseConstDnVecGet;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_matrix_reads_back_and_a_vector_is_one_column() {
        let (mut matrix, mut vector) = (std::ptr::null_mut(), std::ptr::null_mut());
        cusparseCreateDnMat(Out::to(&mut matrix), 8, 6, 8, 0x100, 1, 1);
        cusparseCreateConstDnVec(Out::to(&mut vector), 9, 0x200, 0);
        let cases = [(matrix, (8, 6, 48, 8)), (vector, (9, 1, 9, 4))];
        for (handle, expected) in cases {
            let shape = dense_shape(handle);
            let found = shape.map(|shape| (shape.rows, shape.columns, shape.nonzeros, shape.value_bytes));
            assert_eq!(found, Ok(expected));
        }
        let (mut size, mut values, mut value_type) = (0, 0, -1);
        let status = cusparseDnVecGet(vector, Out::to(&mut size), Out::to(&mut values), Out::to(&mut value_type));
        assert_eq!((status, size, values, value_type), (CusparseStatus::SUCCESS, 9, 0x200, 0));
    }

    #[test]
    fn a_batch_is_remembered_until_the_matrix_is_destroyed() {
        let (mut matrix, mut batches, mut stride) = (std::ptr::null_mut(), 0, 0);
        cusparseCreateDnMat(Out::to(&mut matrix), 8, 6, 8, 0x100, 0, 1);
        assert_eq!(cusparseDnMatSetStridedBatch(matrix, 3, 48), CusparseStatus::SUCCESS);
        let status = cusparseDnMatGetStridedBatch(matrix, Out::to(&mut batches), Out::to(&mut stride));
        assert_eq!((status, batches, stride), (CusparseStatus::SUCCESS, 3, 48));
        assert_eq!(cusparseDestroyDnMat(matrix), CusparseStatus::SUCCESS);
        assert_eq!(cusparseDestroyDnMat(matrix), CusparseStatus::INVALID);
    }
}
