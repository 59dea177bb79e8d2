// A journal that cannot grow: said once, and the program goes on.
#include <signal.h>
#include <sys/resource.h>

#include "phantom.h"

int main(void) {
    struct rlimit limit = {200, 200};
    void *pointer;
    signal(SIGXFSZ, SIG_IGN);
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 10; i++) {
        EXPECT(cudaMalloc(&pointer, 2 * MIB), SUCCESS);
        EXPECT(cudaFree(pointer), SUCCESS);
    }
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
