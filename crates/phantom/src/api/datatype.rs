//! `cudaDataType_t`: how many bytes one element of each type takes.

/// Size of an element in bytes; `None` for an unknown type. Numbers of `library_types.h`, CUDA 13.0. Types below a byte
/// (4 and 6 bits) count as one byte: the libraries pack rows themselves.
pub(crate) fn bytes(data_type: i32) -> Option<usize> {
    Some(match data_type {
        3 | 8 | 16..=19 | 28..=33 => 1,
        2 | 7 | 9 | 14 | 20 | 22 => 2,
        0 | 6 | 10 | 12 | 15 | 21 | 23 => 4,
        1 | 4 | 11 | 13 | 24 | 26 => 8,
        5 | 25 | 27 => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn element_sizes_are_those_of_the_types() {
        let half = 2;
        let (single, double, complex_single, complex_double, bfloat16) = (0, 1, 4, 5, 14);
        let cases = [(half, 2), (bfloat16, 2), (single, 4), (double, 8), (complex_single, 8), (complex_double, 16)];
        for (data_type, size) in cases {
            assert_eq!(bytes(data_type), Some(size), "cudaDataType {data_type}");
        }
        assert_eq!(bytes(-1), None);
        assert_eq!(bytes(99), None);
    }
}
