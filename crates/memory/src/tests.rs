//! Tests of instances that use one slot after another.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use wasmtime::{Config, Engine, Instance, Module, Store, Trap};

use crate::portable::PortableMemories;
use crate::running::{PAGE, Running, expected, has_scans, image, image_of, in_a_child, module};
use crate::{Image, Memories, Stacks, Started, providing};

fn engine(kept: usize) -> Engine {
    let mut config = Config::new();
    config.with_host_memory(Arc::new(Memories::new(kept))).with_host_stack(Arc::new(Stacks::new(kept)));
    // Wasmtime would map data itself, which it can only do in its own memories.
    config.memory_init_cow(false);
    Engine::new(&config).unwrap()
}

/// On another system, or in a reused slot, a recording has the same digest.
#[test]
fn equal_memories_have_equal_digests_however_they_are_kept() {
    let kept = engine(4);
    let mut config = Config::new();
    config.with_host_memory(Arc::new(PortableMemories::default())).memory_init_cow(false);
    let portable = Engine::new(&config).unwrap();
    let image = image(&[5; 5_000]);
    let run = |engine: &Engine, grown: i32, stores: &[(usize, i32)]| {
        let mut running = Running::new(&module(engine, ""), Some(&image));
        running.grow(grown);
        stores.iter().for_each(|(at, byte)| running.store(*at, *byte));
        // SAFETY: nothing runs in the instance.
        unsafe { running.memory.as_ref().unwrap().digest() }.unwrap()
    };
    let mut found = Vec::new();
    let all: [(i32, &[(usize, i32)]); 5] =
        [(0, &[]), (0, &[(8_192, 7)]), (0, &[(9_000, 7), (100_000, 1)]), (1, &[]), (1, &[(2 * PAGE, 9)])];
    for (grown, stores) in all {
        let digest = run(&kept, grown, stores);
        assert_eq!(digest, run(&portable, grown, stores), "{grown} {stores:?}");
        assert!(!found.contains(&digest), "{grown} {stores:?}");
        found.push(digest);
    }
    // A byte that is what it was before.
    for engine in [&kept, &portable] {
        assert_eq!(run(engine, 0, &[(8_192, 7), (8_192, 5), (100_000, 1), (100_000, 0)]), found[0]);
    }
}

#[test]
fn the_memory_of_an_instance_that_lives_is_restored_unless_it_has_grown() {
    let engine = engine(4);
    let module = module(&engine, "");
    let image = image(&[5; 5_000]);
    let mut running = Running::new(&module, Some(&image));
    let memory = running.memory.take().unwrap();
    let (address, before) = running.bytes();
    for round in 0..4 {
        for at in [0, 8_191, 8_192, 13_191, 13_192, 2 * PAGE - 1] {
            running.store(at, 0xaa);
        }
        // The whole memory.
        if round % 2 == 1 {
            running.fill(0, 2 * PAGE);
        }
        // SAFETY: nothing runs in the instance.
        assert!(unsafe { memory.restore() });
        assert_eq!(running.bytes(), (address, before.clone()));
    }
    // Released pages are mapped again, and no written byte is lost.
    running.store(9_000, 0xaa);
    running.store(0, 0xaa);
    let (_, written) = running.bytes();
    // SAFETY: nothing runs in the instance, and the test uses its memory exclusively.
    unsafe { memory.release() };
    assert_eq!(running.bytes(), (address, written));
    assert_eq!(running.grow(1), 2);
    // SAFETY: nothing runs in the instance.
    assert!(!unsafe { memory.restore() });
    drop(running);
    // SAFETY: the instance is gone.
    assert!(!unsafe { memory.restore() });
    assert!(Running::new(&module, None).memory.is_none());
}

/// A child writes to a page that its parent has not written to, and restores it.
#[test]
fn a_process_that_forked_restores_its_own_pages_and_not_its_parents() {
    let engine = engine(4);
    let module = module(&engine, "");
    let mut running = Running::new(&module, Some(&image(&[5; 5_000])));
    let memory = running.memory.take().unwrap();
    let (_, before) = running.bytes();
    running.store(0, 0xaa);
    // SAFETY: nothing runs in the instance.
    assert!(unsafe { memory.restore() });
    in_a_child(|| {
        for at in [9_000, 70_000, 2 * PAGE - 1] {
            running.store(at, 0xaa);
        }
        // SAFETY: nothing runs in the instance.
        assert!(unsafe { memory.restore() });
        assert!(running.bytes().1 == before, "the child found what it had written");
    });
}

/// A guest overwrites pages of its image with zeros, and the kernel merges those with its page of zeros. They still
/// count as the guest's.
#[test]
fn a_page_of_the_image_that_the_kernel_merged_with_zeros_is_restored() {
    let set = |name: &str| std::fs::read_to_string(format!("/sys/kernel/mm/ksm/{name}")).unwrap_or_default();
    if [set("run"), set("use_zero_pages")].iter().any(|value| value.trim() != "1") {
        // A test must not change how the whole system manages memory.
        writeln!(std::io::stderr(), "skipped: /sys/kernel/mm/ksm/run and use_zero_pages are not 1").unwrap();
        return;
    }
    let merged = || {
        let stat = std::fs::read_to_string("/proc/self/ksm_stat").unwrap();
        let count = stat.lines().find_map(|line| line.strip_prefix("ksm_zero_pages ")).unwrap();
        count.parse::<u64>().unwrap()
    };
    let engine = engine(4);
    let module = module(&engine, "");
    let mut running = Running::new(&module, Some(&image(&[5; 65_536])));
    let memory = running.memory.take().unwrap();
    let (address, before) = running.bytes();
    for at in 8_192..65_536 {
        running.store(at, 0);
    }
    // SAFETY: merging pages does not change the memory's content.
    assert_eq!(unsafe { libc::madvise(address.cast_mut().cast(), 2 * PAGE, libc::MADV_MERGEABLE) }, 0);
    let began = std::time::Instant::now();
    while merged() < 12 {
        assert!(began.elapsed().as_secs() < 60, "the kernel merges pages within a minute");
        std::thread::yield_now();
    }
    // SAFETY: nothing runs in the instance.
    assert!(unsafe { memory.restore() });
    assert!(running.bytes().1 == before);
}

#[test]
fn slots_that_wait_with_an_image_are_unmapped_when_it_is_forgotten() {
    let (memories, mut config) = (Memories::new(4), Config::new());
    config
        .with_host_memory(Arc::new(memories.clone()))
        .with_host_stack(Arc::new(Stacks::new(4)))
        .memory_init_cow(false);
    let engine = Engine::new(&config).unwrap();
    let (module, gone, stays) = (module(&engine, ""), image(&[1; 4_096]), image(&[2; 4_096]));
    let running = [&gone, &stays, &gone].map(|image| Running::new(&module, Some(image)));
    drop(running);
    assert_eq!(memories.usage().waiting, 3);
    memories.forget(&gone);
    assert_eq!((memories.usage().waiting, Arc::strong_count(&gone)), (1, 1));
    assert_eq!(Running::new(&module, Some(&stays)).load(8_192).unwrap(), 2);
}

#[test]
fn what_an_instance_writes_the_next_one_in_its_place_does_not_see() {
    let engine = engine(4);
    let module = module(&engine, "");
    let content = (0..20_000_u32).map(|n| n.to_le_bytes()[1] | 1).collect::<Vec<_>>();
    let image = image(&content);
    let first = {
        let mut running = Running::new(&module, Some(&image));
        let (address, bytes) = running.bytes();
        assert_eq!(bytes, expected(&content));
        // Before, in and after the image, across its ends, and in many places at once.
        for at in [0, 4_095, 8_191, 8_192, 15_000, 28_191, 28_192, 28_671, 28_672, 2 * PAGE - 1] {
            running.store(at, 0xaa);
            assert_eq!(running.load(at).unwrap(), 0xaa);
        }
        address
    };
    for _ in 0..3 {
        let mut running = Running::new(&module, Some(&image));
        assert_eq!(running.bytes(), (first, expected(&content)));
        running.fill(0, 2 * PAGE);
    }
    assert_eq!(Running::new(&module, Some(&image)).bytes(), (first, expected(&content)));
}

/// Requests write to many pages for a while, and later ones to one. Only that page stays resident, and no byte differs.
#[test]
fn a_page_that_is_no_longer_written_to_leaves_the_resident_set() {
    if !has_scans() {
        return;
    }
    let memories = Memories::new(1);
    let mut config = Config::new();
    config.with_host_memory(Arc::new(memories.clone())).memory_init_cow(false);
    let module = module(&Engine::new(&config).unwrap(), "");
    let content = (0..40_000_u32).map(|n| n.to_le_bytes()[1] | 1).collect::<Vec<_>>();
    let (image, expected) = (image(&content), expected(&content));
    let resident = |pages: &[usize], round: i32| {
        let mut running = Running::new(&module, Some(&image));
        for page in pages {
            running.store(page * 4_096 + 5, 0x55 + round % 2);
        }
        drop(running);
        // The next instance in the same slot.
        assert!(Running::new(&module, Some(&image)).bytes().1 == expected, "{pages:?} {round}");
        memories.usage().resident
    };
    // Before, in and after the image.
    let all: Vec<_> = (0..32).collect();
    assert_eq!(resident(&all, 0), 32 * 4_096);
    for pages in [&[0][..], &[4, 5, 30], &[]] {
        let left = (0..1_000).find(|round| resident(pages, *round) == pages.len() * 4_096);
        assert!(left.is_some(), "{pages:?}");
        // Pages that are still written stay.
        assert!((0..100).all(|round| resident(pages, round) == pages.len() * 4_096));
        assert_eq!(resident(&all, 1), 32 * 4_096);
    }
    memories.trim();
    assert_eq!(memories.usage().resident, 0);
    assert_eq!(resident(&[7], 0), 4_096);
}

#[test]
fn memory_that_was_grown_is_gone_and_zero_when_it_is_grown_again() {
    let engine = engine(4);
    let module = module(&engine, "");
    // Few pages are restored in place; many are given back.
    for pages in [1, 3, 900] {
        let image = image(b"image");
        for _ in 0..3 {
            let mut running = Running::new(&module, Some(&image));
            let error = running.load(2 * PAGE).unwrap_err();
            assert_eq!(error.downcast_ref(), Some(&Trap::MemoryOutOfBounds));
            assert_eq!(running.grow(pages), 2);
            let (_, bytes) = running.bytes();
            assert_eq!(bytes[2 * PAGE..], vec![0; PAGE * usize::try_from(pages).unwrap()]);
            assert_eq!(bytes[..2 * PAGE], expected(b"image"));
            running.fill(0, bytes.len());
            assert!(running.load(bytes.len()).is_err());
            assert_eq!(running.grow(1_000), -1);
        }
    }
}

#[test]
fn images_do_not_mix() {
    let engine = engine(2);
    let module = module(&engine, "");
    let images = ["one", "two", "three", "four"].map(|text| (text, image(text.as_bytes())));
    for round in 0..3 {
        let mut all = Vec::new();
        for (text, image) in &images {
            let mut running = Running::new(&module, Some(image));
            assert_eq!(running.bytes().1, expected(text.as_bytes()), "{round}");
            running.fill(8_000, 1_000);
            all.push(running);
        }
        let mut plain = Running::new(&module, None);
        assert_eq!(plain.bytes().1, vec![0; 2 * PAGE]);
        plain.fill(0, 2 * PAGE);
    }
}

#[test]
fn an_image_is_for_memories_of_its_size() {
    let engine = engine(4);
    let image = image(b"image");
    // A module's own data overwrite the image, as they overwrite zeros.
    let mut own = Running::new(&module(&engine, r#"(data (i32.const 8193) "M")"#), None);
    assert_eq!(own.bytes().1, expected(b"\0M"));
    let small = Module::new(&engine, wat::parse_str(r#"(module (memory (export "memory") 1))"#).unwrap()).unwrap();
    let mut running = Running::new(&small, Some(&image));
    assert_eq!(running.bytes().1, vec![0; PAGE]);
    // An image that was not taken is dropped.
    assert_eq!(Running::new(&module(&engine, ""), None).bytes().1, vec![0; 2 * PAGE]);
}

/// Modules with the same code start with memories of different sizes.
#[test]
fn a_memory_starts_with_the_size_of_its_image() {
    let engine = engine(2);
    let size = r#"(func (export "size") (param i32) (result i32) (i32.add (local.get 0) (memory.size)))"#;
    let module = module(&engine, size);
    let (small, large) = (image_of(&[5; 5_000], 2), image_of(&[6; 5_000], 4));
    for round in 0..3 {
        for (image, pages, byte) in [(&large, 4, 6), (&small, 2, 5)] {
            let mut running = Running::new(&module, Some(image));
            let size = running.instance.get_typed_func::<i32, i32>(&mut running.store, "size").unwrap();
            assert_eq!(size.call(&mut running.store, 0).unwrap(), pages);
            let end = usize::try_from(pages).unwrap() * PAGE;
            assert_eq!(running.bytes().1.len(), end);
            assert_eq!((running.load(8_192).unwrap(), running.load(end - 1).unwrap()), (byte, 0));
            assert!(running.load(end).is_err(), "{round}: a read beyond {pages} pages");
            running.fill(0, end);
            let memory = running.memory.take().unwrap();
            // SAFETY: nothing runs in the instance, and nobody uses its memory.
            assert!(unsafe { memory.restore() });
            assert_eq!((running.load(8_192).unwrap(), running.load(end - 1).unwrap()), (byte, 0));
            assert_eq!(running.grow(1), pages);
            assert_eq!((running.load(end).unwrap(), running.grow(1_000)), (0, -1));
            // SAFETY: nothing runs in the instance, and nobody uses its memory.
            assert!(!unsafe { memory.restore() }, "it has grown");
        }
    }
    // The module's own maximum is 1,000 pages.
    let mut store = Store::new(&engine, ());
    let beyond = image_of(&[7], 1_001);
    let started = providing(Some(&beyond), Instance::new_async(&mut store, &module, &[]));
    let started = std::pin::pin!(started).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready((instance, Started { memory: None, .. })) = started else { panic!("it waits, or has a memory") };
    assert!(format!("{:#}", instance.unwrap_err()).contains("larger than the memory may become"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_image_is_provided_on_whatever_thread_goes_on() {
    let engine = engine(8);
    let module = module(&engine, "");
    let tasks = (0..64_u8).map(|n| {
        let (module, engine) = (module.clone(), engine.clone());
        tokio::spawn(async move {
            let content = [n; 9];
            let image = image(&content);
            for _ in 0..20 {
                let mut store = Store::new(&engine, ());
                let instance = providing(Some(&image), async {
                    tokio::task::yield_now().await;
                    Instance::new_async(&mut store, &module, &[]).await
                });
                let (instance, Started { memory, .. }) = instance.await;
                let mut running = Running { instance: instance.unwrap(), memory, store };
                assert_eq!(running.bytes().1, expected(&content));
                running.fill(0, 2 * PAGE);
                tokio::task::yield_now().await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

#[test]
fn an_image_that_does_not_fit_is_refused() {
    let file = || -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8_192).unwrap();
        file
    };
    let image = |offset, length, start, size| {
        // SAFETY: the file has no name, and nobody writes to it.
        unsafe { Image::of_file(file(), offset, length, start, size, PAGE) }
    };
    assert!(image(0, 8_192, PAGE, 2 * PAGE).is_ok());
    for (offset, length, start, size) in [
        (0, 8_192, 2 * PAGE - 4_096, 2 * PAGE),
        (4_096, 8_192, 0, PAGE),
        (1, 4_096, 0, PAGE),
        (0, 4_095, 0, PAGE),
        (0, 4_096, 1, PAGE),
        (0, 0, 0, PAGE),
        (0, 4_096, usize::MAX - 4_095, PAGE),
        // Smaller than the module declares.
        (0, 4_096, 0, PAGE - 4_096),
    ] {
        assert!(image(offset, length, start, size).is_err(), "{offset} {length} {start} {size}");
    }
}
