// Where an answer has no place to go, the call fails, and nothing was made for it.
#include "phantom.h"

enum { NVML_INVALID = 2 };

int main(void) {
    AllocationProp prop = {.type = 1, .location_type = 1, .location_id = 0};
    Handle device, event, stream, pool;
    char text[4];
    size_t bytes;
    EXPECT(cudaEventCreate(&event), SUCCESS);
    EXPECT(cudaStreamCreate(&stream), SUCCESS);
    EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0), SUCCESS);
    EXPECT(nvmlDeviceGetHandleByIndex_v2(0, &device), SUCCESS);

    EXPECT(cudaGetDeviceCount(NULL), INVALID_VALUE);
    EXPECT(cudaGetDevice(NULL), INVALID_VALUE);
    EXPECT(cudaGetDeviceProperties(NULL, 0), INVALID_VALUE);
    EXPECT(cudaDeviceGetAttribute(NULL, 1, 0), INVALID_VALUE);
    EXPECT(cudaDeviceGetPCIBusId(NULL, 16, 0), INVALID_VALUE);
    EXPECT(cudaDeviceGetPCIBusId(text, 0, 0), INVALID_VALUE);
    EXPECT(cudaDeviceGetByPCIBusId(NULL, "0000:01:00.0"), INVALID_VALUE);
    EXPECT(cudaMemGetInfo(NULL, &bytes), INVALID_VALUE);
    EXPECT(cudaMalloc(NULL, 8 * MIB), INVALID_VALUE);
    EXPECT(cudaMallocPitch(NULL, &bytes, 512, 8192), INVALID_VALUE);
    EXPECT(cudaMallocAsync(NULL, 8 * MIB, NULL), INVALID_VALUE);
    EXPECT(cudaHostAlloc(NULL, 8 * MIB, 0), INVALID_VALUE);
    EXPECT(cudaMallocHost(NULL, 8 * MIB), INVALID_VALUE);
    EXPECT(cudaMallocManaged(NULL, 8 * MIB, 1), INVALID_VALUE);
    EXPECT(cudaPointerGetAttributes(NULL, &bytes), INVALID_VALUE);
    EXPECT(cudaMemPoolGetAttribute(pool, 5, NULL), INVALID_VALUE);
    EXPECT(cudaMemPoolSetAttribute(pool, 4, NULL), INVALID_VALUE);
    EXPECT(cudaStreamCreate(NULL), INVALID_VALUE);
    EXPECT(cudaStreamIsCapturing(stream, NULL), INVALID_VALUE);
    EXPECT(cudaStreamGetPriority(stream, NULL), INVALID_VALUE);
    EXPECT(cudaEventCreate(NULL), INVALID_VALUE);
    EXPECT(cudaEventElapsedTime(NULL, event, event), INVALID_VALUE);
    EXPECT(cudaFuncGetAttributes(NULL, main), INVALID_VALUE);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, main, 128, 0), INVALID_VALUE);
    EXPECT(cudaHostRegister(NULL, 4096, 0), INVALID_VALUE);

    EXPECT(cuDeviceGet(NULL, 0), INVALID_VALUE);
    EXPECT(cuDeviceGetName(NULL, 16, 0), INVALID_VALUE);
    EXPECT(cuDeviceTotalMem_v2(NULL, 0), INVALID_VALUE);
    EXPECT(cuMemAlloc_v2(NULL, 8 * MIB), INVALID_VALUE);
    EXPECT(cuMemGetInfo_v2(&bytes, NULL), INVALID_VALUE);
    EXPECT(cuMemCreate(NULL, 8 * MIB, &prop, 0), INVALID_VALUE);
    EXPECT(cuMemCreate(&stream, 8 * MIB, NULL, 0), INVALID_VALUE);
    EXPECT(cuMemAddressReserve(NULL, 8 * MIB, 0, NULL, 0), INVALID_VALUE);
    EXPECT(cuMemGetAllocationGranularity(NULL, &prop, 0), INVALID_VALUE);
    EXPECT(cuGetProcAddress_v2(NULL, (void **)&bytes, 13000, 0, NULL), INVALID_VALUE);
    EXPECT(cuGetProcAddress_v2("cuInit", NULL, 13000, 0, NULL), INVALID_VALUE);

    EXPECT(nvmlDeviceGetCount_v2(NULL), NVML_INVALID);
    EXPECT(nvmlDeviceGetHandleByIndex_v2(0, NULL), NVML_INVALID);
    EXPECT(nvmlDeviceGetMemoryInfo(device, NULL), NVML_INVALID);
    EXPECT(nvmlDeviceGetName(device, NULL, 16), NVML_INVALID);
    EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, NULL, NULL), NVML_INVALID);
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
