//! The workspace of each cuSOLVER routine: models, in elements of the matrix's type.

// Note [cuSOLVER workspaces]
// ~~~~~~~~~~~~~~~~~~~~~~~~~~
// cuSOLVER documents the query for a workspace, but no size. The formulas here follow LAPACK's blocked algorithms with
// blocks of `BLOCK` columns, except where a figure of the real library was published:
// - `syevd`: 32-bit counts run out at about n = 25,000 (CUDALibrarySamples issue 246), which three copies of the matrix
//   explain and LAPACK's two do not.
// - `syevjBatched` on 4 x 4 matrices: 2,077 elements for one, 1,049 more for each further one; and 2,078,879 matrices
//   of 2 x 2 are the most that 32 bits hold (cupy issue 7261). The formula is 1,028 + batch * (32 * 32 + (n + 1)^2).
// - `gesvd`: 32-bit counts run out between m = 46,000 and m = 50,000 for narrow matrices (cupy issue 2351): the square
//   of the longer side.
//
// Every use is named in the journal as the assumption `cusolver-workspace`.

/// Columns in a block of LAPACK's blocked algorithms (`ilaenv` answers 32 or 64; the larger is taken).
pub(crate) const BLOCK: u64 = 64;

/// Jacobi solvers for batches of small matrices work on tiles of this side.
const TILE: u64 = 32;

fn area(rows: u64, columns: u64) -> u64 {
    rows.saturating_mul(columns)
}

/// At least one element: a real workspace is never empty.
fn some(elements: u64) -> u64 {
    elements.max(1)
}

/// Cholesky: one block of columns.
pub(crate) fn cholesky(n: u64) -> u64 {
    some(area(n, BLOCK))
}

/// LU with partial pivoting: a copy of the matrix, for the out-of-place row exchanges.
pub(crate) fn lu(m: u64, n: u64) -> u64 {
    some(area(m, n))
}

/// Applying or forming block reflectors: one block for each of `n` columns.
pub(crate) fn reflectors(n: u64) -> u64 {
    some(area(n, BLOCK))
}

/// Symmetric indefinite factorisation: one block of columns.
pub(crate) fn indefinite(n: u64) -> u64 {
    some(area(n, BLOCK))
}

/// Divide and conquer for symmetric matrices: three matrices and a few vectors.
pub(crate) fn eigen_symmetric(n: u64) -> u64 {
    some(area(n, n).saturating_mul(3).saturating_add(area(n, 6)))
}

/// Jacobi rotations for one symmetric matrix: the matrix and its vectors, in tiles.
pub(crate) fn eigen_jacobi(n: u64) -> u64 {
    let side = n.next_multiple_of(TILE);
    some(area(side, side).saturating_mul(2).saturating_add(n))
}

/// Jacobi rotations for a batch of symmetric matrices.
pub(crate) fn eigen_jacobi_batched(n: u64, batch: u64) -> u64 {
    let side = n.next_multiple_of(TILE);
    let one = area(side, side).saturating_add(area(n + 1, n + 1));
    batch.saturating_mul(one).saturating_add(1_028)
}

/// Eigenvalues of a general matrix: the Hessenberg form, its vectors, and one block of columns.
pub(crate) fn eigen_general(n: u64) -> u64 {
    some(area(n, n).saturating_mul(2).saturating_add(area(n, BLOCK)))
}

/// Singular values by QR iteration.
pub(crate) fn singular(m: u64, n: u64) -> u64 {
    let longer = m.max(n);
    some(area(longer, longer).saturating_add(area(m.saturating_add(n), BLOCK)))
}

/// Singular values by Jacobi rotations: copies of the matrix and of both bases, in their economic form.
pub(crate) fn singular_jacobi(m: u64, n: u64) -> u64 {
    let shorter = m.min(n);
    some(area(m, n).saturating_add(area(m.saturating_add(n), shorter)).saturating_add(shorter))
}

/// Jacobi rotations for a batch of matrices of at most 32 x 32: as for symmetric ones, with two bases.
pub(crate) fn singular_jacobi_batched(m: u64, n: u64, batch: u64) -> u64 {
    let tile = area(m.next_multiple_of(TILE), n.next_multiple_of(TILE)).saturating_mul(2);
    let one = tile.saturating_add(area(m + 1, n + 1));
    batch.saturating_mul(one).saturating_add(1_028)
}

/// Approximate singular values of a batch of tall matrices: a Gram matrix and its eigenvalue problem for each.
pub(crate) fn singular_approximate(m: u64, n: u64, batch: u64) -> u64 {
    some(batch.saturating_mul(area(m, n).saturating_add(eigen_symmetric(n))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published figures of Note [cuSOLVER workspaces].
    #[test]
    fn models_agree_with_what_was_published() {
        for (batch, expected) in [(1, 2_077), (2, 3_126), (4, 5_224), (64, 68_164), (256, 269_572)] {
            assert_eq!(eigen_jacobi_batched(4, batch), expected, "batch of {batch}");
        }
        let most = i32::MAX as u64;
        assert!(eigen_jacobi_batched(2, 2_078_879) <= most && eigen_jacobi_batched(2, 2_078_880) > most);
        assert!(eigen_symmetric(25_000) <= most && eigen_symmetric(27_000) > most);
        assert!(singular(46_000, 10) <= most && singular(50_000, 10) > most);
    }

    #[test]
    fn no_workspace_is_empty_and_none_overflows() {
        for n in [0, 1, 33, 1 << 40] {
            let models = [
                cholesky(n),
                lu(n, n),
                reflectors(n),
                indefinite(n),
                eigen_symmetric(n),
                eigen_jacobi(n),
                eigen_jacobi_batched(n, n),
                eigen_general(n),
                singular(n, n),
                singular_jacobi(n, n),
                singular_jacobi_batched(n, n, n),
                singular_approximate(n, n, n),
            ];
            for (index, elements) in models.into_iter().enumerate() {
                assert!(elements >= n.max(1), "model {index} for n = {n}: {elements}");
            }
        }
    }
}
