//! The doors: one file or folder per library, exporting what its header declares.

pub mod cublas;
pub mod cublaslt;
pub mod datatype;
pub mod driver;
pub mod nvml;
pub mod runtime;
