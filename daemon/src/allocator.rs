//! Configures the system's memory allocator, so that the daemon uses little memory while it is
//! idle.
//!
//! glibc keeps freed memory for later use, separately for each thread. The settings here were
//! chosen by measurements with imports of 100 to 300 MB. With mimalloc or jemalloc, an import takes
//! about a quarter less processor time, but its peak memory is 70 % (mimalloc) or 25 % (jemalloc)
//! higher.

/// Limits glibc to four arenas, and makes it allocate large blocks directly from the system, so
/// that freed blocks are returned to the system. Threads that keep many small blocks, such as the
/// thread of the store, then share few pages with the thread of the jobs, whose blocks are freed:
/// after an import, the daemon uses 6 to 9 MB less than with one arena, and 4 to 7 MB more at the
/// peak. More arenas save little more.
///
/// Each compilation of a regular expression with characters outside of ASCII allocates a block of
/// 400 kB for a moment. Such blocks come from the arenas, which keep up to 1 MiB of free memory at
/// their end: this saves 4 % of the processor time of an import, and costs 2 to 6 MB at the peak
/// and nothing later. Call this before any thread starts. Does nothing without glibc.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "no crate wraps the function; the call follows the manual page")
)]
pub fn limit_memory_use() {
    // SAFETY: mallopt takes no pointer; its manual only requires that no other thread
    // allocates at the same time (mallopt(3): "MT-Unsafe init").
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 4);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 512 << 10);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 20);
        libc::mallopt(libc::M_TOP_PAD, 64 << 10);
    }
}

/// Returns freed memory to the system. After an import, this is about a quarter of the memory of
/// the process. Takes some milliseconds. Does nothing without glibc.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "no crate wraps the function; the call follows the manual page")
)]
pub fn trim() {
    // SAFETY: malloc_trim takes no pointer, touches only memory that is free, and may be called by
    // any thread at any time (malloc_trim(3): "MT-Safe").
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}
