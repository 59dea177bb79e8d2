// Processes share the device if they have a table ("together"), and have it alone otherwise ("alone").
#include <signal.h>
#include <sys/wait.h>

#include "phantom.h"

#define FIRST (CONTEXT + 20 * MIB)

static int is_shared;

// The bytes of a process as NVML lists them; 0 for an unlisted process.
static size_t listed(pid_t pid) {
    Handle device;
    unsigned count = 8;
    NvmlProcess processes[8];
    size_t found = 0;
    EXPECT(nvmlDeviceGetHandleByIndex_v2(0, &device), SUCCESS);
    EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes), SUCCESS);
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == (unsigned)pid)
            found = processes[i].used;
    return found;
}

// A process with a context of its own: it takes memory beside its parent, and waits to be killed.
static int second(int ready) {
    void *pointer;
    size_t others = is_shared ? FIRST : 0;
    EXPECT(listed(getppid()), others);
    EXPECT(used(), CONTEXT + others);
    EXPECT(cudaMalloc(&pointer, TOTAL - CONTEXT - others + 1), OUT_OF_MEMORY);
    EXPECT(cudaMalloc(&pointer, TOTAL - CONTEXT - others), SUCCESS);
    EXPECT(used(), TOTAL);
    EXPECT(write(ready, failures ? "f" : "r", 1), 1);
    pause();
    return 1;
}

// A forked child has the parent's pointers; only its own memory is in its slot.
static int forked(void) {
    void *pointer;
    EXPECT(listed(getpid()), is_shared ? 0 : FIRST);
    EXPECT(cudaMalloc(&pointer, 4 * MIB), SUCCESS);
    EXPECT(used(), FIRST + 4 * MIB);
    EXPECT(listed(getpid()), is_shared ? 4 * MIB : FIRST + 4 * MIB);
    EXPECT(listed(getppid()), is_shared ? FIRST : 0);
    return failures != 0;
}

int main(int count, char **arguments) {
    int pipes[2], status = -1;
    char answer = 0, number[16];
    siginfo_t ended;
    void *pointer;
    is_shared = strcmp(arguments[1], "together") == 0;
    if (count > 2)
        return second(atoi(arguments[2]));
    EXPECT(cudaMalloc(&pointer, 20 * MIB), SUCCESS);
    EXPECT(pipe(pipes), 0);
    snprintf(number, sizeof number, "%d", pipes[1]);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", arguments[0], arguments[1], number, NULL);
        _exit(9);
    }
    EXPECT(read(pipes[0], &answer, 1), 1);
    EXPECT(answer, 'r');
    EXPECT(listed(child), is_shared ? TOTAL - FIRST : 0);
    EXPECT(used(), is_shared ? TOTAL : FIRST);
    kill(child, SIGKILL);
    // Its memory is free before its parent collects it.
    EXPECT(waitid(P_PID, child, &ended, WEXITED | WNOWAIT), 0);
    EXPECT(listed(child), 0);
    EXPECT(used(), FIRST);
    EXPECT(waitpid(child, &status, 0), child);
    child = fork();
    if (child == 0)
        return forked();
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
    EXPECT(listed(getpid()), FIRST);
    return failures != 0;
}
