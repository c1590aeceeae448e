/* A machine that fails, put before the C library (LD_PRELOAD). FAULTY names a file that orders it to, as long as it
   is there: "read", "write" or "sync" has these calls fail with EIO on files named `db`; "CLOCK SECONDS" has the clock
   be wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int fails(int fd, const char *call)
{
    char text[128], path[4096], link[64];
    if (!order(text) || strcmp(text, call) != 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    if (length < 3 || strncmp(path + length - 3, "/db", 3) != 0)
        return 0;
    errno = EIO;
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
    return fails(fd, "write") ? -1 : REAL(pwrite64, fd, bytes, count, at);
}

int fdatasync(int fd)
{
    return fails(fd, "sync") ? -1 : REAL(fdatasync, fd);
}

int fsync(int fd)
{
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
