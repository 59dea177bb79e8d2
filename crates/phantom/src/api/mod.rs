//! The doors: a file or a folder per library, with the exports of its header.

pub(crate) mod captured;
pub(crate) mod cublas;
pub(crate) mod cublaslt;
pub(crate) mod cudnn;
pub(crate) mod cufft;
pub(crate) mod cufile;
pub(crate) mod curand;
pub(crate) mod cusolver;
pub(crate) mod cusparse;
pub(crate) mod cusparselt;
pub(crate) mod datatype;
pub(crate) mod driver;
pub(crate) mod nccl;
pub(crate) mod nvml;
pub(crate) mod nvshmem;
pub(crate) mod runtime;
pub(crate) mod testing;
