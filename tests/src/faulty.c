/* A machine that fails, put before the C library (LD_PRELOAD). FAULTY names a file that orders it to, as long as it
   is there: "CALL ERRNO FROM SUFFIX" has calls of one kind (pread: read, too; pwrite; sync; write: pwrite, too) fail from such
   a one on, on files of the home (GRAPHITI_HOME) whose names end so; "CLOCK SECONDS" has the clock be wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static int is_meant(int fd, const char *suffix)
{
    const char *home = getenv("GRAPHITI_HOME");
    char path[4096], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1), end = (ssize_t)strlen(suffix);
    if (!home || length < end)
        return 0;
    path[length] = 0;
    return strncmp(path, home, strlen(home)) == 0 && strcmp(path + length - end, suffix) == 0;
}

static int fails(int fd, const char *call)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[128];
    static unsigned passed;
    char text[128], wanted[16], suffix[64] = "";
    int error;
    unsigned from;
    if (!order(text) || sscanf(text, "%15s %d %u %63s", wanted, &error, &from, suffix) < 3)
        return 0;
    int is_one = strcmp(wanted, call) == 0 || (strcmp(wanted, "write") == 0 && strcmp(call, "pwrite") == 0);
    if (!is_one || !is_meant(fd, suffix))
        return 0;
    pthread_mutex_lock(&lock);
    if (strcmp(last, text) != 0) {
        strcpy(last, text);
        passed = 0;
    }
    int fails = ++passed >= from;
    pthread_mutex_unlock(&lock);
    if (fails)
        errno = error;
    return fails;
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t at)
{
    return fails(fd, "pread") ? -1 : REAL(pread64, fd, bytes, count, at);
}

ssize_t read(int fd, void *bytes, size_t count)
{
    return fails(fd, "pread") ? -1 : REAL(read, fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    return fails(fd, "pwrite") ? -1 : REAL(pwrite64, fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return fails(fd, "write") ? -1 : REAL(write, fd, bytes, count);
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
