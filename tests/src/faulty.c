/* Simulates faults of the machine; loaded before the C library (LD_PRELOAD). FAULTY names a file that contains the
   fault while the file exists. "read", "write" or "sync": these calls fail with EIO on files named `db`. "full N": the
   N-th write to files of the home (GRAPHITI_HOME) and all later ones fail with ENOSPC after 20 ms. "dies N": the N-th
   write kills the program. "CLOCK SECONDS": the clock is ahead. "slow N": a sync of a file of the home takes N
   milliseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

static int order(char text[128])
{
    const char *path = getenv("FAULTY");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t length = file < 0 ? 0 : REAL(read, file, text, 127);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

static size_t path_of(int fd, char path[4096])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    path[length > 0 ? length : 0] = 0;
    return strlen(path);
}

static int fails(int fd, const char *call)
{
    char text[128], path[4096];
    if (!order(text) || strcmp(text, call) != 0)
        return 0;
    size_t length = path_of(fd, path);
    if (length < 3 || strcmp(path + length - 3, "/db") != 0)
        return 0;
    errno = EIO;
    return 1;
}

static int is_full(int fd)
{
    static atomic_uint passed;
    char text[128], path[4096], what[8];
    const char *home = getenv("GRAPHITI_HOME");
    unsigned from;
    if (!order(text) || sscanf(text, "%7s %u", what, &from) != 2 || (strcmp(what, "full") != 0 && strcmp(what, "dies") != 0)) {
        passed = 0;
        return 0;
    }
    path_of(fd, path);
    if (!home || strncmp(path, home, strlen(home)) != 0 || ++passed < from)
        return 0;
    if (strcmp(what, "dies") == 0)
        raise(SIGKILL);
    /* Callers of the write are certainly waiting when it fails. A sleep could take longer, because wake-ups may be late. */
    struct timespec now, begin;
    REAL(clock_gettime, CLOCK_MONOTONIC, &begin);
    do {
        sched_yield();
        REAL(clock_gettime, CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000L);
    errno = ENOSPC;
    return 1;
}

ssize_t read(int fd, void *bytes, size_t count)
{
    return fails(fd, "read") ? -1 : REAL(read, fd, bytes, count);
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t at)
{
    return fails(fd, "read") ? -1 : REAL(pread64, fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    return fails(fd, "write") || is_full(fd) ? -1 : REAL(pwrite64, fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return is_full(fd) ? -1 : REAL(write, fd, bytes, count);
}

static void wait_if_slow(int fd)
{
    char text[128], path[4096];
    const char *home = getenv("GRAPHITI_HOME");
    unsigned milliseconds;
    if (!order(text) || sscanf(text, "slow %u", &milliseconds) != 1)
        return;
    path_of(fd, path);
    if (home && strncmp(path, home, strlen(home)) == 0) {
        /* The daemon allows the system to wake sled's threads up to an hour late. */
        prctl(PR_SET_TIMERSLACK, 1UL);
        usleep(milliseconds * 1000);
    }
}

int fdatasync(int fd)
{
    wait_if_slow(fd);
    return fails(fd, "sync") ? -1 : REAL(fdatasync, fd);
}

int fsync(int fd)
{
    wait_if_slow(fd);
    return fails(fd, "sync") ? -1 : REAL(fsync, fd);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    char text[128];
    long seconds;
    int result = REAL(clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME && order(text) && sscanf(text, "CLOCK %ld", &seconds) == 1)
        time->tv_sec += seconds;
    return result;
}
