// cudaMallocAsync: a pool holds pages while anything is in them, and up to its release threshold.
#include "phantom.h"

enum { RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static unsigned long long attribute(Handle pool, int number) {
    unsigned long long value = 0;
    EXPECT(cudaMemPoolGetAttribute(pool, number, &value), SUCCESS);
    return value;
}

int main(void) {
    Handle pool;
    void *small, *large, *none = &pool;
    unsigned long long threshold = 5 * MIB;
    EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0), SUCCESS);
    EXPECT(cudaMallocAsync(&small, 100, NULL), SUCCESS);
    EXPECT(cudaMallocAsync(&large, 7 * MIB, NULL), SUCCESS);
    EXPECT(attribute(pool, USED), 7 * MIB + 512);
    EXPECT(attribute(pool, RESERVED), 8 * MIB);
    EXPECT(used(), CONTEXT + 8 * MIB);
    EXPECT(cudaMallocAsync(&none, 54 * MIB, NULL), OUT_OF_MEMORY);
    EXPECT(attribute(pool, USED), 7 * MIB + 512);

    EXPECT(cudaMemPoolSetAttribute(pool, RELEASE_THRESHOLD, &threshold), SUCCESS);
    EXPECT(cudaFreeAsync(large, NULL), SUCCESS);
    EXPECT(used(), CONTEXT + 6 * MIB);
    EXPECT(attribute(pool, RESERVED), 6 * MIB);
    EXPECT(cudaMemPoolTrimTo(pool, 3 * MIB), SUCCESS);
    EXPECT(used(), CONTEXT + 4 * MIB);
    EXPECT(cudaFree(small), SUCCESS);
    EXPECT(cudaMemPoolTrimTo(pool, 0), SUCCESS);
    EXPECT(used(), CONTEXT);
    EXPECT(attribute(pool, USED), 0);
    EXPECT(attribute(pool, USED_HIGH), 7 * MIB + 512);
    EXPECT(attribute(pool, RESERVED_HIGH), 8 * MIB);

    EXPECT(cudaFreeAsync(large, NULL), INVALID_VALUE);
    EXPECT(cudaMemPoolTrimTo(&pool, 0), INVALID_VALUE);
    EXPECT(cudaMemPoolGetAttribute(NULL, USED, &threshold), INVALID_VALUE);
    EXPECT(cudaMemPoolGetAttribute(pool, 99, &threshold), INVALID_VALUE);
    return failures != 0;
}
