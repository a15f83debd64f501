//! The process' allocator, where it is glibc's: memory that was freed goes back to the system.
//!
//! A burst of large answers is freed by whichever thread sends the last byte. glibc keeps what was freed, in up to eight arenas for
//! each processor, and maps blocks one by one only until the first large one is freed: it then keeps those, too.

/// Blocks of this size and more are mapped one by one, and are the system's again when they are freed.
const MAPPED: i32 = 512 * 1024;

/// Bytes at the end of an arena that stay with the process.
const KEPT: i32 = 8 * 1024 * 1024;

/// Arenas. Threads that allocate at once share them, which costs little: guests have memory of their own.
const ARENAS: i32 = 4;

/// Sets the allocator so that it keeps little. Only the first call has an effect.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: it has no conditions; blocks that are in use stay as they are.
        ONCE.call_once(|| unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        });
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (MAPPED, KEPT, ARENAS);
}

/// Gives memory that is free back to the system. Takes milliseconds.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it has no conditions; memory that is in use stays.
    unsafe {
        libc::malloc_trim(0);
    }
}
