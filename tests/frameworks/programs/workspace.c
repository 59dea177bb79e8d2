/* An extension as flash-attention's and others' are: linked against the wheels' libraries, and with memory of its own. */

#include <stddef.h>

/* As cuda_runtime_api.h and cublas_v2.h of CUDA 12 and 13 have them; the wheels lack headers that those include. */
typedef struct CUstream_st *cudaStream_t;
typedef struct cublasContext *cublasHandle_t;
int cudaMalloc(void **address, size_t bytes);
int cudaMemset(void *address, int value, size_t bytes);
int cublasCreate_v2(cublasHandle_t *handle);
int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
int cublasSgemm_v2(cublasHandle_t handle, int transa, int transb, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc);

static void *held;
static cublasHandle_t handle;

/* Takes so many bytes of the device behind PyTorch's back, and keeps them; 0 if all went well. */
int workspace_reserve(size_t bytes)
{
    int status = cublasCreate_v2(&handle);
    if (status == 0)
        status = cudaMalloc(&held, bytes);
    if (status == 0)
        status = cudaMemset(held, 0, bytes);
    return status;
}

/* Multiplies two matrices that PyTorch made, in its stream. */
int workspace_multiply(int n, const float *a, const float *b, float *c, cudaStream_t stream)
{
    const float one = 1.0f, zero = 0.0f;
    cublasSetStream_v2(handle, stream);
    return cublasSgemm_v2(handle, 0, 0, n, n, n, &one, a, n, b, n, &zero, c, n);
}
