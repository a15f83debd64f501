//! Tests of memories that are compared with their image, also as other systems compile them (the feature `elsewhere`).

#[cfg(unix)]
use std::fs::File;
use std::io::Write;
#[cfg(unix)]
use std::os::fd::AsRawFd;

use wasmtime::{Config, Engine, Module};

use super::*;
use crate::Live;
use crate::running::{PAGE, Running, expected, image, image_of, module};

fn engine() -> (PortableMemories, Engine) {
    let (memories, mut config) = (PortableMemories::default(), Config::new());
    config.with_host_memory(Arc::new(memories.clone())).memory_init_cow(false);
    (memories, Engine::new(&config).unwrap())
}

/// An instance, and its memory.
fn run(module: &Module, image: &Arc<Image>) -> (Running, Live) {
    let mut running = Running::new(module, Some(image));
    let memory = running.memory.take().unwrap();
    (running, memory)
}

fn restore(memory: &Live) -> bool {
    // SAFETY: nothing runs in the instances of these tests, and nobody else uses their memories.
    unsafe { memory.restore() }
}

/// The content of an image that fills its last page in part.
fn content() -> Vec<u8> {
    (0..20_000_u32).map(|n| n.to_le_bytes()[1] | 1).collect()
}

#[test]
fn each_changed_block_is_restored() {
    let (_, engine) = engine();
    let (module, image) = (module(&engine, ""), image(&content()));
    let (mut running, memory) = run(&module, &image);
    let fresh = running.bytes();
    assert!(fresh.1 == expected(&content()));
    // Each block alone, at its first and its last byte.
    for block in 0..2 * PAGE / BLOCK {
        for at in [block * BLOCK, (block + 1) * BLOCK - 1] {
            running.store(at, 0xaa);
            assert!(restore(&memory));
            assert!(running.bytes() == fresh, "byte {at}");
        }
    }
    // All of them, zeros over the image, and nothing.
    running.fill(0, 2 * PAGE);
    assert!(restore(&memory));
    assert!(running.bytes() == fresh);
    (8_192..28_672).for_each(|at| running.store(at, 0));
    assert!(restore(&memory));
    assert!(running.bytes() == fresh);
    assert!(restore(&memory));
    assert!(running.bytes() == fresh);
}

#[test]
fn an_image_at_either_end_is_restored() {
    let (_, engine) = engine();
    let module = module(&engine, "");
    for (start, length) in [(0, 2 * PAGE), (0, page_size()), (PAGE, PAGE), (2 * PAGE - page_size(), page_size())] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![9; length]).unwrap();
        // SAFETY: the file has no name, and this process no longer writes to it.
        let image = unsafe { Image::of_file(file, 0, length, start, 2 * PAGE, 2 * PAGE) };
        let (mut running, memory) = run(&module, &Arc::new(image.unwrap()));
        let fresh = running.bytes();
        assert!(fresh.1.iter().enumerate().all(|(at, byte)| (*byte == 9) == (start..start + length).contains(&at)));
        running.fill(0, 2 * PAGE);
        assert!(restore(&memory));
        assert!(running.bytes() == fresh, "{start} {length}");
    }
}

#[test]
fn a_memory_that_has_grown_is_not_restored() {
    let (_, engine) = engine();
    let (module, image) = (module(&engine, ""), image(&content()));
    let (mut running, memory) = run(&module, &image);
    // A growth that the module's maximum refuses changes nothing.
    assert_eq!(running.grow(1_000), -1);
    running.store(0, 0xaa);
    assert!(restore(&memory));
    assert_eq!(running.grow(1), 2);
    running.store(3 * PAGE - 1, 0xaa);
    running.store(0, 0xaa);
    assert!(!restore(&memory));
    // The next instance has a memory of its own.
    assert!(run(&module, &image).0.bytes().1 == expected(&content()));
    let again = &mut run(&module, &image).0;
    assert_eq!((again.grow(1), again.load(3 * PAGE - 1).unwrap()), (2, 0));
}

/// The system makes a part of the pages accessible before it refuses the others.
#[cfg(unix)]
#[test]
fn a_memory_that_could_not_grow_is_not_restored() {
    let (_, engine) = engine();
    let module = module(&engine, "");
    let (mut running, memory) = run(&module, &image(&content()));
    let refused = running.bytes().0.wrapping_add(3 * PAGE).cast_mut();
    let named = tempfile::NamedTempFile::new().unwrap();
    named.as_file().set_len(PAGE as u64).unwrap();
    let file = File::open(named.path()).unwrap();
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: the addresses are the memory's, which does not use them yet. Nobody can make a file writable that is open for reading.
    let mapped = unsafe { libc::mmap(refused.cast(), PAGE, libc::PROT_NONE, flags, file.as_raw_fd(), 0) };
    assert_eq!(mapped.cast(), refused);
    assert!(restore(&memory));
    assert_eq!(running.grow(2), -1);
    assert!(!restore(&memory));
}

/// An idle instance would keep as much resident.
#[test]
fn a_large_memory_is_not_restored() {
    assert!(stays(KEPT + BLOCK, BLOCK) && !stays(KEPT + PAGE + BLOCK, BLOCK));
    assert!(stays(MAX_SIZE, MAX_SIZE) && !stays(MAX_SIZE + PAGE, MAX_SIZE + PAGE));
    let (_, engine) = engine();
    let module = module(&engine, "");
    for (pages, is_restored) in [(KEPT / PAGE, true), (KEPT / PAGE + 1, false)] {
        // Less than a page of WebAssembly has content.
        let (mut running, memory) = run(&module, &image_of(&[5; 5_000], pages));
        running.fill(0, pages * PAGE);
        assert_eq!(restore(&memory), is_restored, "{pages} pages");
        assert_eq!(running.load(pages * PAGE - 1).unwrap(), if is_restored { 0 } else { 7 });
    }
}

#[test]
fn images_do_not_mix_and_are_read_again_after_their_release() {
    let (_, engine) = engine();
    let module = module(&engine, "");
    let mut all: Vec<_> = [&b"one"[..], b"two", b"three"]
        .map(|text| {
            let image = image(text);
            let (running, memory) = run(&module, &image);
            (text, image, running, memory)
        })
        .into();
    for round in 0..6 {
        for (text, image, running, memory) in &mut all {
            running.fill(0, 2 * PAGE);
            assert!(restore(memory));
            assert!(running.bytes().1 == expected(text), "{round}");
            if round % 2 == 1 {
                image.release();
            }
        }
    }
}

/// Instances of one image share its copy, which may be released meanwhile.
#[test]
fn many_threads_restore_while_the_image_is_released() {
    let (memories, engine) = engine();
    let (module, image) = (module(&engine, ""), image(&content()));
    std::thread::scope(|scope| {
        for byte in 1..5 {
            let (module, image) = (&module, &image);
            scope.spawn(move || {
                let (mut running, memory) = run(module, image);
                for _ in 0..200 {
                    for at in [0, 8_192, 20_000, 2 * PAGE - 1] {
                        running.store(at, byte);
                    }
                    assert!(restore(&memory));
                    assert!(running.bytes().1 == expected(&content()));
                    image.release();
                }
            });
        }
    });
    assert_eq!((memories.used(), Arc::strong_count(&image)), (0, 1));
}

#[test]
fn memories_are_counted_until_they_are_unmapped() {
    let (memories, engine) = engine();
    let (module, image) = (module(&engine, ""), image(&content()));
    let plain = Running::new(&module, None);
    let (running, memory) = run(&module, &image);
    assert_eq!(memories.used(), 2);
    drop((plain, running));
    assert_eq!(memories.used(), 1, "its mapping is still there");
    drop(memory);
    assert_eq!(memories.used(), 0);
}
