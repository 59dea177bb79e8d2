// Eight threads allocate and free at once: nothing is lost, nothing is given out twice.
#include <pthread.h>

#include "phantom.h"

enum { THREADS = 8, ROUNDS = 200 };

static void *work(void *seed) {
    unsigned state = (unsigned)(uintptr_t)seed;
    long bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525u + 1013904223u;
        size_t bytes = 1 + (state >> 8) % (3 * MIB);
        void *plain = NULL, *pooled = NULL;
        char in[16], out[16] = {0};
        memset(in, (int)(uintptr_t)seed, sizeof in);
        bad += cudaMalloc(&plain, bytes) != SUCCESS;
        bad += cudaMallocAsync(&pooled, 1 + bytes / 8, NULL) != SUCCESS;
        bad += cudaMemcpy(plain, in, 16, HOST_TO_DEVICE) != SUCCESS;
        bad += cudaMemcpy(out, plain, 16, DEVICE_TO_HOST) != SUCCESS;
        bad += memcmp(in, out, 16) != 0 && bytes >= 16;
        bad += cudaFree(plain) != SUCCESS;
        bad += cudaFreeAsync(pooled, NULL) != SUCCESS;
    }
    return (void *)bad;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        EXPECT((long)bad, 0);
    }
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
