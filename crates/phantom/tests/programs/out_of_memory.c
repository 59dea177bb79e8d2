// Memory ends at the last byte and no sooner; a refusal is the calling thread's last error until it is read.
#include <pthread.h>

#include "phantom.h"

static void *last_error_of_another_thread(void *result) {
    *(int *)result = cudaGetLastError();
    return NULL;
}

int main(void) {
    void *all = NULL, *more = NULL;
    EXPECT(cudaMalloc(&all, TOTAL - CONTEXT), SUCCESS);
    EXPECT(used(), TOTAL);
    EXPECT(cudaMalloc(&more, 1), OUT_OF_MEMORY);
    EXPECT(more == NULL, 1);

    int other = -1;
    pthread_t thread;
    pthread_create(&thread, NULL, last_error_of_another_thread, &other);
    pthread_join(thread, NULL);
    EXPECT(other, SUCCESS);

    EXPECT(cudaDeviceSynchronize(), SUCCESS);
    EXPECT(cudaPeekAtLastError(), OUT_OF_MEMORY);
    EXPECT(cudaGetLastError(), OUT_OF_MEMORY);
    EXPECT(cudaGetLastError(), SUCCESS);

    EXPECT(cudaFree(all), SUCCESS);
    EXPECT(cudaMalloc(&all, TOTAL - CONTEXT + 1), OUT_OF_MEMORY);
    EXPECT(cudaMalloc(&all, SIZE_MAX), OUT_OF_MEMORY);
    EXPECT(cudaMallocAsync(&all, SIZE_MAX - 1024, NULL), OUT_OF_MEMORY);
    EXPECT(cudaMalloc(&all, TOTAL - CONTEXT - 2 * MIB), SUCCESS);
    EXPECT(cudaMalloc(&more, 1), SUCCESS);
    EXPECT(used(), TOTAL);
    return failures != 0;
}
