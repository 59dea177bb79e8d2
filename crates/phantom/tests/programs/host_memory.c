// Pinned, registered and managed memory is the host's: real, never charged, and known by its pointers.
#include "phantom.h"

enum { UNREGISTERED = 0, HOST = 1, DEVICE = 2, MANAGED = 3 };

static void expect_type(const void *pointer, int type) {
    PointerAttributes attributes;
    EXPECT(cudaPointerGetAttributes(&attributes, pointer), SUCCESS);
    EXPECT(attributes.type, type);
    EXPECT(attributes.device_pointer == (type == UNREGISTERED ? NULL : pointer), 1);
    EXPECT(attributes.host_pointer == (type == DEVICE ? NULL : pointer), 1);
}

int main(void) {
    char *pinned, *managed, *device, *own = malloc(8192);
    EXPECT(cudaHostAlloc((void **)&pinned, 1024 * MIB, 0), SUCCESS);
    EXPECT(cudaMallocManaged((void **)&managed, 1024 * MIB, 1), SUCCESS);
    EXPECT(used(), CONTEXT);
    EXPECT(cudaMalloc((void **)&device, 2 * MIB), SUCCESS);
    pinned[1024 * MIB - 1] = 1;
    managed[1024 * MIB - 1] = 1;
    EXPECT(pinned[0] + managed[0], 0);

    expect_type(pinned, HOST);
    expect_type(pinned + 1024 * MIB - 1, HOST);
    expect_type(managed + 4096, MANAGED);
    expect_type(device + 2 * MIB - 1, DEVICE);
    expect_type(own, UNREGISTERED);
    EXPECT(cudaHostRegister(own, 8192, 0), SUCCESS);
    expect_type(own + 8191, HOST);
    EXPECT(cudaHostUnregister(own), SUCCESS);
    EXPECT(cudaHostUnregister(own), NOT_REGISTERED);
    expect_type(own, UNREGISTERED);

    EXPECT(cudaFreeHost(managed), INVALID_VALUE);
    EXPECT(cudaFreeHost(device), INVALID_VALUE);
    EXPECT(cudaFreeHost(pinned), SUCCESS);
    EXPECT(cudaFreeHost(pinned), INVALID_VALUE);
    EXPECT(cudaFree(managed), SUCCESS);
    EXPECT(cudaFree(device), SUCCESS);
    expect_type(device, UNREGISTERED);
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
