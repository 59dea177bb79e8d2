// A forked child goes on with its copy of the ledger and writes a journal of its own.
#include <sys/wait.h>

#include "phantom.h"

int main(void) {
    void *pointer;
    int status = -1;
    EXPECT(cudaMalloc(&pointer, 2 * MIB), SUCCESS);
    pid_t child = fork();
    if (child == 0) {
        EXPECT(cudaMalloc(&pointer, 4 * MIB), SUCCESS);
        EXPECT(used(), CONTEXT + 6 * MIB);
        EXPECT(cudaFree(pointer), SUCCESS);
        return failures != 0;
    }
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
    EXPECT(used(), CONTEXT + 2 * MIB);
    return failures != 0;
}
