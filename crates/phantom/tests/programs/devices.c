// Several devices: each has its own memory, and each thread its own current device.
#include <pthread.h>

#include "phantom.h"

static void *device_of_another_thread(void *result) {
    cudaGetDevice(result);
    return NULL;
}

int main(void) {
    int count = 0, device = -1;
    void *pointers[3];
    EXPECT(cudaGetDeviceCount(&count), SUCCESS);
    EXPECT(count, 3);
    for (int i = 0; i < 3; i++) {
        EXPECT(cudaSetDevice(i), SUCCESS);
        EXPECT(cudaMalloc(&pointers[i], (i + 1) * 2 * MIB), SUCCESS);
    }
    for (int i = 0; i < 3; i++) {
        PointerAttributes attributes;
        EXPECT(cudaSetDevice(i), SUCCESS);
        EXPECT(used(), CONTEXT + (i + 1) * 2 * MIB);
        EXPECT(cudaPointerGetAttributes(&attributes, pointers[i]), SUCCESS);
        EXPECT(attributes.device, i);
    }
    EXPECT(cudaSetDevice(3), INVALID_DEVICE);
    EXPECT(cudaSetDevice(-1), INVALID_DEVICE);
    EXPECT(cudaGetDevice(&device), SUCCESS);
    EXPECT(device, 2);

    pthread_t thread;
    pthread_create(&thread, NULL, device_of_another_thread, &device);
    pthread_join(thread, NULL);
    EXPECT(device, 0);

    // Memory goes back to the device it came from, whichever is current.
    EXPECT(cudaFree(pointers[0]), SUCCESS);
    EXPECT(used(), CONTEXT + 6 * MIB);
    EXPECT(cudaSetDevice(0), SUCCESS);
    EXPECT(used(), CONTEXT);

    char bus[32] = "";
    EXPECT(cudaDeviceGetPCIBusId(bus, sizeof bus, 2), SUCCESS);
    EXPECT(cudaDeviceGetByPCIBusId(&device, bus), SUCCESS);
    EXPECT(device, 2);
    return failures != 0;
}
