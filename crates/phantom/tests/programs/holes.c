// Zeros written under a guard are holes of the file; everything else of a write is as without a guard.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "phantom.h"

static unsigned char zeros[4 * MIB], data[MIB], back[8 * MIB];
static const char *folder;

static int make(const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_CREAT | O_RDWR | flags, 0600);
    EXPECT(file >= 0, 1);
    return file;
}

static struct stat state(int file) {
    struct stat state;
    EXPECT(fstat(file, &state), 0);
    return state;
}

static size_t stored(int file) { return (size_t)state(file).st_blocks * 512; }

// True if a range of a file has the bytes of `wanted`, or zeros for NULL.
static int holds(int file, off_t offset, const unsigned char *wanted, size_t length) {
    if (pread(file, back, length, offset) != (ssize_t)length)
        return 0;
    return memcmp(back, wanted ? wanted : zeros, length) == 0;
}

static void check_writes(int is_guarded) {
    int file = make("writes", 0);
    EXPECT(write(file, zeros, MIB), MIB);
    EXPECT(write(file, data, MIB), MIB);
    EXPECT(write(file, zeros, 3 * MIB + 5), 3 * MIB + 5);
    EXPECT(lseek(file, 0, SEEK_CUR), 5 * MIB + 5);
    EXPECT(state(file).st_size, 5 * MIB + 5);
    EXPECT(holds(file, 0, NULL, MIB) && holds(file, MIB, data, MIB) && holds(file, 2 * MIB, NULL, 3 * MIB + 5), 1);
    EXPECT(stored(file) < 2 * MIB, is_guarded);
    // Zeros over data, and past the end.
    EXPECT(pwrite(file, zeros, 2 * MIB, MIB / 2), 2 * MIB);
    EXPECT(holds(file, 0, NULL, 4 * MIB), 1);
    EXPECT(pwrite(file, zeros, MIB, 5 * MIB), MIB);
    EXPECT(state(file).st_size, 6 * MIB);
    EXPECT(stored(file) < MIB, is_guarded);
    // Data in the middle of zeros: at an odd offset.
    memcpy(back, zeros, 2 * MIB);
    memset(back + MIB + 77, 9, 5);
    EXPECT(pwrite(file, back, 2 * MIB, 1234567), 2 * MIB);
    EXPECT(holds(file, 1234567, NULL, MIB + 77), 1);
    EXPECT(pread(file, back, 1, 1234567 + MIB + 77), 1);
    EXPECT(back[0], 9);
    EXPECT(state(file).st_size, 6 * MIB);
    close(file);
}

static void check_vectors(int is_guarded) {
    int file = make("vectors", 0);
    struct iovec parts[] = {{data, 100}, {zeros, 4 * MIB}, {data, 50}};
    EXPECT(writev(file, parts, 3), 4 * MIB + 150);
    EXPECT(holds(file, 0, data, 100) && holds(file, 100, NULL, 4 * MIB) && holds(file, 4 * MIB + 100, data, 50), 1);
    EXPECT(stored(file) < MIB, is_guarded);
    volatile int negative = -1;
    EXPECT(writev(file, parts, negative), -1);
    EXPECT(errno, EINVAL);
    close(file);
}

static void check_copies(int is_guarded) {
    int from = make("vectors", 0), to = make("copy", 0);
    off_t offset = 0, size = state(from).st_size;
    while (offset < size)
        EXPECT(sendfile(to, from, &offset, 8 * MIB) > 0, 1);
    EXPECT(sendfile(to, from, &offset, 8 * MIB), 0);
    EXPECT(lseek(from, 0, SEEK_CUR), 0);
    EXPECT(state(to).st_size, size);
    EXPECT(holds(to, 0, data, 100) && holds(to, 100, NULL, 4 * MIB) && holds(to, 4 * MIB + 100, data, 50), 1);
    EXPECT(stored(to) < MIB, is_guarded);
    int again = make("again", 0);
    while (copy_file_range(from, NULL, again, NULL, 8 * MIB, 0) > 0)
        ;
    EXPECT(lseek(from, 0, SEEK_CUR), size);
    EXPECT(lseek(again, 0, SEEK_CUR), size);
    EXPECT(holds(again, 0, data, 100) && holds(again, 100, NULL, 4 * MIB) && holds(again, 4 * MIB + 100, data, 50), 1);
    EXPECT(stored(again) < MIB, is_guarded);
}

static void check_others(void) {
    // Two appending files never meet in a hole.
    int one = make("appended", O_APPEND), other = make("appended", O_APPEND);
    EXPECT(write(one, zeros, MIB), MIB);
    EXPECT(write(other, data, MIB), MIB);
    EXPECT(write(one, zeros, MIB), MIB);
    EXPECT(holds(one, 0, NULL, MIB) && holds(one, MIB, data, MIB) && holds(one, 2 * MIB, NULL, MIB), 1);
    // No file at all.
    int pipes[2];
    EXPECT(pipe(pipes), 0);
    EXPECT(write(pipes[1], zeros, 65536), 65536);
    EXPECT(read(pipes[0], back, 65536), 65536);
    EXPECT(write(-1, zeros, MIB), -1);
    EXPECT(errno, EBADF);
    EXPECT(write(open("/dev/full", O_WRONLY), zeros, MIB), -1);
    EXPECT(errno, ENOSPC);
    int readable = open("/proc/self/exe", O_RDONLY);
    EXPECT(write(readable, zeros, MIB), -1);
    EXPECT(errno, EBADF);
}

int main(void) {
    folder = getenv("TMPDIR");
    memset(data, 7, sizeof data);
    int is_guarded = getenv("OOMPH_GUARD") != NULL;
    check_writes(is_guarded);
    check_vectors(is_guarded);
    check_copies(is_guarded);
    check_others();
    return failures != 0;
}
