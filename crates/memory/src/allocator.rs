//! Settings of glibc's allocator, so that freed memory goes back to the system.
//!
//! The thread that sends the last byte frees a large answer. glibc keeps freed memory, in up to eight arenas for each
//! processor. It maps blocks one by one only until the first large one is freed; from then on it keeps those, too.

/// Minimum size of blocks that are mapped one by one, and so unmapped when they are freed.
const MAPPED: i32 = 512 * 1024;

/// Free bytes at the end of an arena that stay with the process.
const KEPT: i32 = 8 * 1024 * 1024;

/// Maximum number of arenas. Threads share them at little cost, because guests have memory of their own.
const ARENAS: i32 = 4;

/// Makes the allocator keep little memory. Only the first call has an effect. A program may call it, a library must not: it is
/// a setting of the whole process.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: these calls have no preconditions; blocks in use stay as they are.
        ONCE.call_once(|| unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        });
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (MAPPED, KEPT, ARENAS);
}

/// Returns free memory to the system. Takes milliseconds.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call has no preconditions; memory in use stays.
    unsafe {
        libc::malloc_trim(0);
    }
}
