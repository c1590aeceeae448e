//! The system's memory allocator: the daemon rests most of the time, and is to be small then.
//!
//! glibc keeps what was freed for later use, and for each thread apart. What stands here was
//! measured with imports of 100 to 300 MB, beside which mimalloc and jemalloc took more memory and
//! as much time.

/// Has glibc keep all memory in one place, and take large pieces from the system alone, which get
/// back to it when they are freed: a fifth less at the peak, at the same speed. To be called before
/// there are threads. Elsewhere than with glibc it does nothing.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "no crate offers it; it is called as its manual says")
)]
pub fn be_frugal() {
    // SAFETY: mallopt takes no pointer; its manual asks for nothing but that no other thread
    // allocates meanwhile (mallopt(3): "MT-Unsafe init").
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
        libc::mallopt(libc::M_TOP_PAD, 64 << 10);
    }
}

/// Gives memory that was freed back to the system: after an import a quarter of what the process
/// holds. Takes some milliseconds. Elsewhere than with glibc it does nothing.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "no crate offers it; it is called as its manual says")
)]
pub fn trim() {
    // SAFETY: malloc_trim takes no pointer, touches only memory that is free, and may be called by
    // any thread at any time (malloc_trim(3): "MT-Safe").
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}
