//! The descriptors of sparse matrices: whatever was put in can be read back.

use super::CusparseStatus;
use crate::api::datatype;
use crate::boundary::{In, Out, Status, export};
use crate::handle::{Handle, Table};

/// A sparse matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse {
    format: i32,
    rows: i64,
    columns: i64,
    nonzeros: i64,
    /// Offsets (or rows), indices (or columns), values: addresses in device memory.
    arrays: [usize; 3],
    index_types: [i32; 2],
    base: i32,
    value_type: i32,
    batches: i32,
    /// Fill mode and diagonal type.
    attributes: [i32; 2],
}

/// `cusparseFormat_t`.
const CSR: i32 = 1;
const CSC: i32 = 2;
const COO: i32 = 3;
const BSR: i32 = 6;

static SPARSE: Table<Sparse> = Table::new();

/// The size of a sparse matrix, in the units of the models in [`super::buffers`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    /// Stored elements (of one matrix of the batch); for a dense matrix, all.
    pub(crate) nonzeros: u64,
    /// Size of a value.
    pub(crate) value_bytes: u64,
    /// Matrices in the batch.
    pub(crate) batches: u64,
}

/// The shape of the sparse matrix behind `handle`.
pub(crate) fn sparse_shape(handle: Handle) -> Result<Shape, CusparseStatus> {
    let matrix = sparse(handle, |matrix| *matrix)?;
    shape([matrix.rows, matrix.columns, matrix.nonzeros], matrix.value_type, matrix.batches)
}

/// A shape from sizes as C passes them; a negative size is refused.
pub(super) fn shape(sizes: [i64; 3], value_type: i32, batches: i32) -> Result<Shape, CusparseStatus> {
    let size = |value: i64| u64::try_from(value).map_err(|_| CusparseStatus::INVALID);
    let value_bytes = datatype::bytes(value_type).ok_or(CusparseStatus::INVALID)? as u64;
    let [rows, columns, nonzeros] = sizes;
    let batches = size(batches.max(1).into())?;
    Ok(Shape { rows: size(rows)?, columns: size(columns)?, nonzeros: size(nonzeros)?, value_bytes, batches })
}

/// Sets how many elements a product has: see `cusparseSpGEMM_compute`.
pub(crate) fn set_nonzeros(handle: Handle, nonzeros: u64) -> Result<(), CusparseStatus> {
    let nonzeros = i64::try_from(nonzeros).map_err(|_| CusparseStatus::INVALID)?;
    sparse(handle, |matrix| matrix.nonzeros = nonzeros)
}

fn sparse<R>(handle: Handle, body: impl FnOnce(&mut Sparse) -> R) -> Result<R, CusparseStatus> {
    SPARSE.with(handle, body).ok_or(CusparseStatus::INVALID)
}

fn create(descriptor: Out<Handle>, matrix: Sparse) -> Result<(), CusparseStatus> {
    let sizes = [matrix.rows, matrix.columns, matrix.nonzeros];
    shape(sizes, matrix.value_type, matrix.batches)?;
    if descriptor.is_null() {
        return Err(CusparseStatus::INVALID);
    }
    descriptor.set(SPARSE.insert(matrix))
}

/// Matrices with two index types. The constant variants restrict the caller, but store the same.
macro_rules! compressed {
    ($($format:ident: $create:ident $create_const:ident $get:ident $get_const:ident $set:ident;)*) => {
        $(
            compressed! { @create $format $create }
            compressed! { @create $format $create_const }
            compressed! { @get $get }
            compressed! { @get $get_const }
            arrays! { $set }
        )*
    };
    (@create $format:ident $name:ident) => {
        export! { CusparseStatus;
            fn $name(
                descriptor: Out<Handle>, rows: i64, columns: i64, nonzeros: i64, offsets: usize, indices: usize,
                values: usize, offset_type: i32, index_type: i32, base: i32, value_type: i32,
            ) {
                let arrays = [offsets, indices, values];
                let index_types = [offset_type, index_type];
                create(descriptor, Sparse {
                    format: $format, rows, columns, nonzeros, arrays, index_types, base, value_type,
                    batches: 1, attributes: [0; 2],
                })
            }
        }
    };
    (@get $name:ident) => {
        export! { CusparseStatus;
            fn $name(
                descriptor: Handle, rows: Out<i64>, columns: Out<i64>, nonzeros: Out<i64>, offsets: Out<usize>,
                indices: Out<usize>, values: Out<usize>, offset_type: Out<i32>, index_type: Out<i32>, base: Out<i32>,
                value_type: Out<i32>,
            ) {
                let matrix = sparse(descriptor, |matrix| *matrix)?;
                write_sizes(&matrix, rows, columns, nonzeros)?;
                for (out, array) in [offsets, indices, values].into_iter().zip(matrix.arrays) {
                    out.set::<CusparseStatus>(array)?;
                }
                let [offsets_are, indices_are] = matrix.index_types;
                offset_type.set::<CusparseStatus>(offsets_are)?;
                index_type.set::<CusparseStatus>(indices_are)?;
                base.set::<CusparseStatus>(matrix.base)?;
                value_type.set(matrix.value_type)
            }
        }
    };
}

macro_rules! arrays {
    ($($name:ident)*) => {
        export! { CusparseStatus;
            $(fn $name(descriptor: Handle, first: usize, second: usize, values: usize) {
                sparse(descriptor, |matrix| matrix.arrays = [first, second, values])
            })*
        }
    };
}

compressed! {
    CSR: cusparseCreateCsr cusparseCreateConstCsr cusparseCsrGet cusparseConstCsrGet cusparseCsrSetPointers;
    CSC: cusparseCreateCsc cusparseCreateConstCsc cusparseCscGet cusparseConstCscGet cusparseCscSetPointers;
}
arrays! { cusparseCooSetPointers }

/// The coordinate format has one index type, the blocked one counts in blocks.
macro_rules! others {
    ($($coo:ident $bsr:ident;)*) => {
        export! { CusparseStatus;
            $(
                fn $coo(
                    descriptor: Out<Handle>, rows: i64, columns: i64, nonzeros: i64, row_indices: usize,
                    column_indices: usize, values: usize, index_type: i32, base: i32, value_type: i32,
                ) {
                    let arrays = [row_indices, column_indices, values];
                    create(descriptor, Sparse {
                        format: COO, rows, columns, nonzeros, arrays, index_types: [index_type; 2], base, value_type,
                        batches: 1, attributes: [0; 2],
                    })
                }
                fn $bsr(
                    descriptor: Out<Handle>, block_rows: i64, block_columns: i64, blocks: i64, height: i64, width: i64,
                    offsets: usize, indices: usize, values: usize, offset_type: i32, index_type: i32, base: i32,
                    value_type: i32, _order: i32,
                ) {
                    let (rows, columns) = (block_rows.saturating_mul(height), block_columns.saturating_mul(width));
                    let nonzeros = blocks.saturating_mul(height).saturating_mul(width);
                    create(descriptor, Sparse {
                        format: BSR, rows, columns, nonzeros, arrays: [offsets, indices, values],
                        index_types: [offset_type, index_type], base, value_type, batches: 1, attributes: [0; 2],
                    })
                }
            )*
        }
    };
}

others! {
    cusparseCreateCoo cusparseCreateBsr;
    cusparseCreateConstCoo cusparseCreateConstBsr;
}

fn write_sizes(matrix: &Sparse, rows: Out<i64>, columns: Out<i64>, nonzeros: Out<i64>) -> Result<(), CusparseStatus> {
    rows.set::<CusparseStatus>(matrix.rows)?;
    columns.set::<CusparseStatus>(matrix.columns)?;
    nonzeros.set(matrix.nonzeros)
}

/// The index of an attribute in `cusparseSpMatAttribute_t`: 0 = fill mode, 1 = diagonal type.
fn attribute_slot(attribute: i32) -> Result<usize, CusparseStatus> {
    match attribute {
        0 => Ok(0),
        1 => Ok(1),
        _ => Err(CusparseStatus::INVALID),
    }
}

export! { CusparseStatus;
    fn cusparseDestroySpMat(descriptor: Handle) { SPARSE.remove(descriptor).map(drop).ok_or(CusparseStatus::INVALID) }

    fn cusparseSpMatGetValues(descriptor: Handle, values: Out<usize>) {
        values.set(sparse(descriptor, |matrix| matrix.arrays[2])?)
    }
    fn cusparseConstSpMatGetValues(descriptor: Handle, values: Out<usize>) {
        values.set(sparse(descriptor, |matrix| matrix.arrays[2])?)
    }
    fn cusparseSpMatSetValues(descriptor: Handle, values: usize) {
        sparse(descriptor, |matrix| matrix.arrays[2] = values)
    }

    fn cusparseSpMatGetSize(descriptor: Handle, rows: Out<i64>, columns: Out<i64>, nonzeros: Out<i64>) {
        write_sizes(&sparse(descriptor, |matrix| *matrix)?, rows, columns, nonzeros)
    }
    fn cusparseSpMatGetFormat(descriptor: Handle, format: Out<i32>) {
        format.set(sparse(descriptor, |matrix| matrix.format)?)
    }
    fn cusparseSpMatGetIndexBase(descriptor: Handle, base: Out<i32>) {
        base.set(sparse(descriptor, |matrix| matrix.base)?)
    }
    fn cusparseSpMatGetStridedBatch(descriptor: Handle, batches: Out<i32>) {
        batches.set(sparse(descriptor, |matrix| matrix.batches)?)
    }
    fn cusparseCsrSetStridedBatch(descriptor: Handle, batches: i32, _offsets_stride: i64, _values_stride: i64) {
        sparse(descriptor, |matrix| matrix.batches = batches)
    }
    fn cusparseCooSetStridedBatch(descriptor: Handle, batches: i32, _stride: i64) {
        sparse(descriptor, |matrix| matrix.batches = batches)
    }
    fn cusparseSpMatSetAttribute(descriptor: Handle, attribute: i32, data: In<i32>, _bytes: usize) {
        let (slot, value) = (attribute_slot(attribute)?, data.get::<CusparseStatus>()?);
        sparse(descriptor, |matrix| matrix.attributes[slot] = value)
    }
    fn cusparseSpMatGetAttribute(descriptor: Handle, attribute: i32, data: Out<i32>, _bytes: usize) {
        let slot = attribute_slot(attribute)?;
        data.set(sparse(descriptor, |matrix| matrix.attributes[slot])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_matrix(descriptor: Handle) -> Option<(i64, i64, i64)> {
        let (mut rows, mut columns, mut nonzeros) = (0, 0, 0);
        let (first, second, third) = (Out::to(&mut rows), Out::to(&mut columns), Out::to(&mut nonzeros));
        let status = cusparseSpMatGetSize(descriptor, first, second, third);
        (status == CusparseStatus::SUCCESS).then_some((rows, columns, nonzeros))
    }

    #[test]
    fn every_format_knows_its_size() {
        let mut matrix = std::ptr::null_mut();
        let single = 0;
        cusparseCreateCsr(Out::to(&mut matrix), 8, 6, 20, 1, 2, 3, 2, 2, 0, single);
        assert_eq!(size_of_matrix(matrix), Some((8, 6, 20)));
        cusparseCreateCoo(Out::to(&mut matrix), 8, 6, 20, 1, 2, 3, 2, 0, single);
        assert_eq!(size_of_matrix(matrix), Some((8, 6, 20)));
        cusparseCreateBsr(Out::to(&mut matrix), 4, 3, 5, 2, 2, 1, 2, 3, 2, 2, 0, single, 1);
        assert_eq!(size_of_matrix(matrix), Some((8, 6, 20)));
        assert_eq!(cusparseDestroySpMat(matrix), CusparseStatus::SUCCESS);
        assert_eq!(size_of_matrix(matrix), None);
    }

    #[test]
    fn arrays_read_back_as_last_set() {
        let (mut matrix, mut values) = (std::ptr::null_mut(), 0);
        cusparseCreateCsc(Out::to(&mut matrix), 8, 6, 20, 1, 2, 3, 2, 2, 0, 0);
        for address in [0x100, 0x200] {
            assert_eq!(cusparseCscSetPointers(matrix, 1, 2, address), CusparseStatus::SUCCESS);
            assert_eq!(cusparseSpMatGetValues(matrix, Out::to(&mut values)), CusparseStatus::SUCCESS);
            assert_eq!(values, address);
        }
        assert_eq!(cusparseSpMatSetValues(matrix, 0x300), CusparseStatus::SUCCESS);
        assert_eq!(cusparseConstSpMatGetValues(matrix, Out::to(&mut values)), CusparseStatus::SUCCESS);
        assert_eq!(values, 0x300);
    }

    #[test]
    fn impossible_matrices_are_refused() {
        let mut matrix = std::ptr::null_mut();
        let cases = [(-1, 6, 20, 0), (8, -6, 20, 0), (8, 6, -20, 0), (8, 6, 20, 99)];
        for (rows, columns, nonzeros, value_type) in cases {
            let status = cusparseCreateCsr(Out::to(&mut matrix), rows, columns, nonzeros, 1, 2, 3, 2, 2, 0, value_type);
            assert_eq!(status, CusparseStatus::INVALID);
        }
    }
}
