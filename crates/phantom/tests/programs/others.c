// Effects on a process outside the run (VICTIM), on the parent that started the run, and on a child: Note [Other processes] in src/others.rs.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "phantom.h"

#define REFUSED(call, number)                                                                                          \
    do {                                                                                                               \
        errno = 0;                                                                                                     \
        EXPECT(call, -1);                                                                                              \
        EXPECT(errno, number);                                                                                         \
    } while (0)

enum { KEY = 0x6f6d7068, BYTES = 4096 };

// A system call that no library sees.
static long raw(long number, long first, long second, long third) {
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return answer;
}

static void reach(pid_t victim) {
    cpu_set_t processors;
    struct rlimit limit = {100, 100}, found;
    struct sched_param parameters = {0};
    struct iovec nothing = {&limit, sizeof limit};
    union sigval value = {0};
    char path[64];
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    REFUSED(kill(victim, 0), ESRCH);
    REFUSED(kill(victim, SIGUSR1), ESRCH);
    REFUSED(syscall(SYS_kill, victim, SIGUSR1), ESRCH);
    REFUSED(syscall(SYS_tgkill, victim, victim, SIGUSR1), ESRCH);
    REFUSED(sigqueue(victim, SIGUSR1, value), ESRCH);
    REFUSED(syscall(SYS_pidfd_open, victim, 0), ESRCH);
    REFUSED(setpriority(PRIO_PROCESS, victim, 7), ESRCH);
    REFUSED(setpriority(PRIO_USER, getuid(), 7), EPERM);
    REFUSED(syscall(SYS_ioprio_set, 1, victim, 3 << 13), ESRCH);
    REFUSED(sched_setaffinity(victim, sizeof processors, &processors), ESRCH);
    REFUSED(sched_setscheduler(victim, SCHED_BATCH, &parameters), ESRCH);
    REFUSED(prlimit(victim, RLIMIT_NOFILE, &limit, NULL), ESRCH);
    EXPECT(prlimit(victim, RLIMIT_NOFILE, NULL, &found), 0);
    REFUSED(process_vm_writev(victim, &nothing, 1, &nothing, 1, 0), ESRCH);
    REFUSED(ptrace(PTRACE_SEIZE, victim, NULL, NULL), ESRCH);
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", victim);
    REFUSED(open(path, O_WRONLY), EACCES);
    REFUSED(openat(AT_FDCWD, path, O_RDWR | O_TRUNC), EACCES);
    EXPECT(fopen(path, "w") == NULL, 1);
    EXPECT(close(open(path, O_RDONLY)), 0);
}

// The group of the victim, a leader, and all processes at once: only the child of this process gets the signal.
static void reach_groups(pid_t victim) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        pause();
    }
    REFUSED(kill(-victim, SIGUSR1), ESRCH);
    REFUSED(killpg(victim, SIGUSR1), ESRCH);
    REFUSED(setpriority(PRIO_PGRP, victim, 7), ESRCH);
    EXPECT(kill(child, 0), 0);
    EXPECT(setpriority(PRIO_PROCESS, child, 1), 0);
    EXPECT(kill(-1, SIGUSR2), 0);
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(WTERMSIG(status), SIGUSR2);
    REFUSED(kill(-1, SIGUSR2), ESRCH);
}

static void reach_itself(void) {
    EXPECT(kill(getppid(), 0), 0);
    REFUSED(kill(getppid(), SIGUSR1), EPERM);
    signal(SIGUSR1, SIG_IGN);
    EXPECT(raise(SIGUSR1), 0);
    EXPECT(kill(getpid(), SIGUSR1), 0);
    EXPECT(kill(0, 0), 0);
    EXPECT(close(syscall(SYS_pidfd_open, getppid(), 0)), 0);
    EXPECT(close(open("/proc/self/oom_score_adj", O_WRONLY)), 0);
    REFUSED(open("/proc/sys/kernel/hostname", O_WRONLY), EROFS);
}

// A segment of the system with the key is another's; the key stands for a segment of the run.
static void share_memory(void) {
    int foreign = raw(SYS_shmget, KEY, BYTES, IPC_CREAT | IPC_EXCL | 0600);
    char *theirs = (char *)raw(SYS_shmat, foreign, 0, 0);
    struct shmid_ds state;
    REFUSED(shmget(KEY, BYTES, 0600), ENOENT);
    int own = shmget(KEY, BYTES, IPC_CREAT | 0600);
    EXPECT(own != foreign && own >= 0, 1);
    EXPECT(shmget(KEY, BYTES, 0600), own);
    REFUSED(shmget(KEY, BYTES, IPC_CREAT | IPC_EXCL | 0600), EEXIST);
    char *ours = shmat(own, NULL, 0);
    memset(ours, 'x', BYTES);
    EXPECT(theirs[0], 0);
    REFUSED((long)shmat(foreign, NULL, 0), EINVAL);
    REFUSED(shmctl(foreign, IPC_RMID, NULL), EINVAL);
    REFUSED(syscall(SYS_shmat, foreign, 0, 0), EINVAL);
    REFUSED(syscall(SYS_shmget, KEY, BYTES, 0600), ENOSYS);
    EXPECT(shmctl(foreign, IPC_STAT, &state), 0);
    EXPECT(shmdt(ours), 0);
    EXPECT(shmctl(own, IPC_RMID, NULL), 0);
    REFUSED(shmget(KEY, BYTES, 0600), ENOENT);
    raw(SYS_shmdt, (long)theirs, 0, 0);
    EXPECT(raw(SYS_shmctl, foreign, IPC_RMID, 0), 0);
}

int main(void) {
    pid_t victim = atoi(getenv("VICTIM"));
    reach(victim);
    reach_groups(victim);
    reach_itself();
    share_memory();
    return failures > 0;
}
