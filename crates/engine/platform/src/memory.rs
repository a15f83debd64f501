//! The library allocates with `malloc` of the C side, so that there is one heap.
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
}

/// The alignment of every block of `malloc`.
const ALIGN: usize = 2 * size_of::<usize>();

struct Heap;

// SAFETY: blocks are those of `malloc`, or of `aligned_alloc` where their alignment is larger. `free` accepts both.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the arguments are valid for any size.
        unsafe {
            if layout.align() <= ALIGN {
                malloc(layout.size()).cast()
            } else {
                aligned_alloc(layout.align(), layout.pad_to_align().size()).cast()
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block is one of `alloc`.
        unsafe { free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= ALIGN {
            // SAFETY: the block is one of `malloc`.
            return unsafe { realloc(block.cast(), size).cast() };
        }
        // SAFETY: the new layout is the old one with a size that the caller checked, and both blocks have room for the copy.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                core::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                free(block.cast());
            }
            moved
        }
    }
}

#[global_allocator]
static HEAP: Heap = Heap;

/// Traps, which ends the instance.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    {
        unsafe extern "C" {
            fn abort() -> !;
        }
        // SAFETY: it has no conditions.
        unsafe { abort() }
    }
}
