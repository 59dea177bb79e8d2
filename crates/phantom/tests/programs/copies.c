// Values: small copies are kept, large ones read as zeros, and a result in a reused block is no old label.
#include "phantom.h"

int main(void) {
    char *device, *other, *host = malloc(4 * MIB), small[256], back[256];
    for (int i = 0; i < 256; i++) small[i] = (char)(i + 1);
    EXPECT(cudaMalloc((void **)&device, 4 * MIB), SUCCESS);
    EXPECT(cudaMalloc((void **)&other, 4 * MIB), SUCCESS);

    memset(back, 0x55, sizeof back);
    EXPECT(cudaMemcpy(back, device, 256, DEVICE_TO_HOST), SUCCESS);
    EXPECT(back[0] | back[255], 0);
    EXPECT(cudaMemcpy(device, small, 256, HOST_TO_DEVICE), SUCCESS);
    EXPECT(cudaMemcpyAsync(back, device, 256, DEFAULT, NULL), SUCCESS);
    EXPECT(memcmp(back, small, 256), 0);
    EXPECT(cudaMemcpy(back, device + 8, 8, DEVICE_TO_HOST), SUCCESS);
    EXPECT(memcmp(back, small + 8, 8), 0);

    // The block's first four bytes alone: a result that a kernel would have written (Note [Values on a phantom]).
    EXPECT(cudaMemcpy(back, device, 4, DEVICE_TO_HOST), SUCCESS);
    EXPECT(back[0] | back[1] | back[2] | back[3], 0);

    EXPECT(cudaMemcpy(other, device, 256, DEVICE_TO_DEVICE), SUCCESS);
    EXPECT(cudaMemcpy(back, other, 256, DEVICE_TO_HOST), SUCCESS);
    EXPECT(memcmp(back, small, 256), 0);

    EXPECT(cudaMemset(device, 7, 256), SUCCESS);
    EXPECT(cudaMemcpy(back, device, 256, DEVICE_TO_HOST), SUCCESS);
    EXPECT(back[0] == 7 && back[255] == 7, 1);
    EXPECT(cudaMemset(device, 0, 128), SUCCESS);
    EXPECT(cudaMemcpy(back, device, 256, DEVICE_TO_HOST), SUCCESS);
    EXPECT(back[127] == 0 && back[128] == 7, 1);
    EXPECT(cuMemsetD32_v2(device, 0x04030201, 64), SUCCESS);
    EXPECT(cudaMemcpy(back, device, 256, DEVICE_TO_HOST), SUCCESS);
    EXPECT(memcmp(back, small, 4) == 0 && memcmp(back + 252, small, 4) == 0, 1);

    memset(host, 9, 4 * MIB);
    EXPECT(cudaMemcpy(device, host, MIB + 1, HOST_TO_DEVICE), SUCCESS);
    EXPECT(cudaMemcpy(host, device, 2 * MIB, DEVICE_TO_HOST), SUCCESS);
    EXPECT(host[0] | host[MIB] | host[2 * MIB - 1], 0);
    EXPECT(host[2 * MIB], 9);

    EXPECT(cudaMemcpy2D(device, 64, small, 16, 8, 4, HOST_TO_DEVICE), SUCCESS);
    EXPECT(cudaMemcpy2D(back, 8, device, 64, 8, 4, DEVICE_TO_HOST), SUCCESS);
    EXPECT(memcmp(back, small, 8) == 0 && memcmp(back + 24, small + 48, 8) == 0, 1);
    EXPECT(cudaMemcpy2D(device, 4, small, 16, 8, 4, HOST_TO_DEVICE), INVALID_VALUE);

    EXPECT(cudaMemcpy(NULL, small, 4, HOST_TO_DEVICE), INVALID_VALUE);
    EXPECT(cudaMemcpy(device, NULL, 4, HOST_TO_DEVICE), INVALID_VALUE);
    EXPECT(cudaMemset(NULL, 0, 4), INVALID_VALUE);
    EXPECT(cudaMemcpy(NULL, NULL, 0, DEFAULT), SUCCESS);
    return failures != 0;
}
