/* Counts the allocations of a program and their bytes, the bytes that it writes to files of the home (GRAPHITI_HOME),
   and the syncs of these files; loaded before the C library (LD_PRELOAD). When the program ends, the four counts are
   written to the file that COUNTS names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* glibc's own names for the functions that are replaced here: `dlsym` itself allocates. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ullong allocations, allocated, written, syncs;

static void *counted(void *block, size_t bytes)
{
    allocations++;
    allocated += bytes;
    return block;
}

void *malloc(size_t bytes)
{
    return counted(__libc_malloc(bytes), bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return counted(__libc_calloc(count, bytes), count * bytes);
}

void *realloc(void *block, size_t bytes)
{
    return counted(__libc_realloc(block, bytes), bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = counted(__libc_memalign(alignment, bytes), bytes);
    return *block ? 0 : 12;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return counted(__libc_memalign(alignment, bytes), bytes);
}

static int is_of_home(int fd)
{
    char link[64], path[4096];
    const char *home = getenv("GRAPHITI_HOME");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return home && strncmp(path, home, strlen(home)) == 0;
}

static ssize_t count_written(int fd, ssize_t result)
{
    if (result > 0 && is_of_home(fd))
        written += result;
    return result;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return count_written(fd, REAL(write, fd, bytes, count));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    return count_written(fd, REAL(pwrite64, fd, bytes, count, at));
}

int fdatasync(int fd)
{
    syncs += is_of_home(fd);
    return REAL(fdatasync, fd);
}

int fsync(int fd)
{
    syncs += is_of_home(fd);
    return REAL(fsync, fd);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%llu %llu %llu %llu\n", allocations, allocated, written, syncs);
    fclose(file);
}
