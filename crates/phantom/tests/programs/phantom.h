// What the programs of this folder share: CUDA's prototypes, declared without its headers, and EXPECT.
//
// Every program runs with the phantom preloaded, prints what differed from what it expected, and exits with status 1
// if anything did. The device they are shown has 64 MiB, 4 MiB of which a context takes (tests/programs.rs).

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define TOTAL (64 * MIB)
#define CONTEXT (4 * MIB)

static int failures;

#define EXPECT(found, expected)                                                                                        \
    do {                                                                                                               \
        long long found_ = (long long)(found), expected_ = (long long)(expected);                                      \
        if (found_ != expected_) {                                                                                     \
            printf("%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #found, found_, expected_);               \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_HANDLE = 400,
    NOT_REGISTERED = 713,
    NOT_SUPPORTED = 801,
    NOT_INITIALIZED = 3,
    ILLEGAL_STATE = 401,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907
};
enum { GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2 };
enum { NON_BLOCKING = 1 };
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, DEFAULT = 4 };

typedef void *Handle;
typedef struct {
    int type, device;
    void *device_pointer, *host_pointer;
    long reserved[8];
} PointerAttributes;
typedef struct {
    char bytes[64];
} IpcHandle;

int cudaGetLastError(void), cudaPeekAtLastError(void), cudaDeviceSynchronize(void);
int cudaGetDeviceCount(int *), cudaGetDevice(int *), cudaSetDevice(int);
int cudaGetDeviceProperties(void *, int), cudaDeviceGetAttribute(int *, int, int);
int cudaDeviceGetPCIBusId(char *, int, int), cudaDeviceGetByPCIBusId(int *, const char *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemGetInfo(size_t *, size_t *);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaHostAlloc(void **, size_t, unsigned), cudaMallocHost(void **, size_t), cudaFreeHost(void *);
int cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaPointerGetAttributes(PointerAttributes *, const void *);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t);
int cudaMemcpyAsync(void *, const void *, size_t, int, Handle);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaIpcGetMemHandle(IpcHandle *, void *);
int cudaMallocAsync(void **, size_t, Handle), cudaFreeAsync(void *, Handle);
int cudaDeviceGetDefaultMemPool(Handle *, int), cudaMemPoolTrimTo(Handle, size_t);
int cudaMemPoolGetAttribute(Handle, int, void *), cudaMemPoolSetAttribute(Handle, int, void *);
int cudaMemPoolCreate(Handle *, const void *);
int cudaStreamCreate(Handle *), cudaStreamDestroy(Handle), cudaStreamQuery(Handle), cudaStreamSynchronize(Handle);
int cudaStreamCreateWithPriority(Handle *, unsigned, int), cudaStreamGetPriority(Handle, int *);
int cudaStreamWaitEvent(Handle, Handle, unsigned), cudaStreamIsCapturing(Handle, int *);
int cudaStreamBeginCapture(Handle, int), cudaStreamEndCapture(Handle, Handle *);
int cudaStreamCreateWithFlags(Handle *, unsigned), cudaThreadExchangeStreamCaptureMode(int *);
int cudaStreamGetCaptureInfo_v2(Handle, int *, unsigned long long *, Handle *, const Handle **, size_t *);
int cudaLaunchHostFunc(Handle, void (*)(void *), void *);
int cudaEventCreate(Handle *), cudaEventDestroy(Handle), cudaEventRecord(Handle, Handle), cudaEventQuery(Handle);
int cudaEventElapsedTime(float *, Handle, Handle);
int cudaGraphInstantiate(Handle *, Handle, unsigned long long), cudaGraphLaunch(Handle, Handle);
int cudaGraphGetNodes(Handle, Handle *, size_t *), cudaGraphDestroy(Handle), cudaGraphExecDestroy(Handle);
int cudaGraphGetRootNodes(Handle, Handle *, size_t *), cudaGraphNodeGetType(Handle, int *);
int cudaGraphNodeGetDependencies_v2(Handle, Handle *, void *, size_t *);
int cudaGraphGetEdges_v2(Handle, Handle *, Handle *, void *, size_t *);
int cudaFuncGetAttributes(void *, const void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

typedef struct {
    unsigned x, y, z;
} Dim3;
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, Handle);

// A kernel on a stream.
static inline int launch(Handle stream) {
    Dim3 one = {1, 1, 1};
    return cudaLaunchKernel(NULL, one, one, NULL, 0, stream);
}

typedef struct {
    int type, handle_types, location_type, location_id;
    void *win32;
    unsigned char flags[8];
} AllocationProp;

int cuInit(unsigned), cuDeviceGetCount(int *), cuDeviceGet(int *, int), cuDeviceGetName(char *, int, int), cuDeviceTotalMem_v2(size_t *, int);
int cuMemCreate(Handle *, size_t, const AllocationProp *, unsigned long long), cuMemRelease(Handle);
int cuMemAddressReserve(void **, size_t, size_t, void *, unsigned long long), cuMemAddressFree(void *, size_t);
int cuMemMap(void *, size_t, size_t, Handle, unsigned long long), cuMemUnmap(void *, size_t);
int cuMemRetainAllocationHandle(Handle *, void *);
int cuMemGetAllocationGranularity(size_t *, const AllocationProp *, int);
int cuMemAlloc_v2(void **, size_t), cuMemFree_v2(void *), cuMemGetInfo_v2(size_t *, size_t *);
int cuMemGetAddressRange_v2(void **, size_t *, void *), cuMemsetD32_v2(void *, unsigned, size_t);
int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);

typedef struct {
    unsigned long long total, free, used;
} NvmlMemory;
typedef struct {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
} NvmlProcess;
typedef struct { unsigned pid; unsigned long long used; } NvmlProcessV1;

int nvmlInit_v2(void), nvmlDeviceGetCount_v2(unsigned *), nvmlDeviceGetHandleByIndex_v2(unsigned, Handle *);
int nvmlDeviceGetMemoryInfo(Handle, NvmlMemory *), nvmlDeviceGetName(Handle, char *, unsigned);
int nvmlDeviceGetComputeRunningProcesses(Handle, unsigned *, NvmlProcessV1 *), nvmlDeviceGetClockInfo(Handle, int, unsigned *);
int nvmlDeviceGetComputeRunningProcesses_v3(Handle, unsigned *, NvmlProcess *);

// What is in use on the current device, as cudaMemGetInfo states it.
static inline size_t used(void) {
    size_t free_bytes = 0, total_bytes = 0;
    EXPECT(cudaMemGetInfo(&free_bytes, &total_bytes), SUCCESS);
    return total_bytes - free_bytes;
}
