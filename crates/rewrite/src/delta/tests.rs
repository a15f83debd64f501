use std::iter::repeat_with;

use proptest::prelude::*;

use super::{DeltaError, MAX_BYTES, compress, expand, window_log};

/// Bytes that do not compress: a linear congruential generator.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    repeat_with(next).take(length).collect()
}

/// A base of 4 MiB, and the same bytes with insertions and a changed part.
fn similar() -> (Vec<u8>, Vec<u8>) {
    let base = noise(1, 4 << 20);
    let mut bytes = base.clone();
    bytes.splice(3 << 20..3 << 20, noise(2, 1000));
    bytes.splice(1000..1000, noise(3, 1000));
    bytes[2 << 20..(2 << 20) + 1000].copy_from_slice(&noise(4, 1000));
    (base, bytes)
}

#[test]
fn a_delta_has_about_the_bytes_that_are_not_in_the_base() {
    let (base, bytes) = similar();
    let delta = compress(&bytes, &base).expect("delta");
    assert!((3000..4000).contains(&delta.len()), "{}", delta.len());
    assert_eq!(expand(&delta, &base, bytes.len()).expect("bytes"), bytes);
    assert_eq!(compress(&bytes, &base).expect("again"), delta);
}

#[test]
fn without_a_base_it_is_ordinary_compression() {
    let bytes = vec![7; 1 << 20];
    let compressed = compress(&bytes, &[]).expect("compressed");
    assert!(compressed.len() < 1000);
    assert_eq!(expand(&compressed, &[], bytes.len()).expect("bytes"), bytes);
    let empty = compress(&[], &[]).expect("compressed");
    assert_eq!(expand(&empty, &[], 0).expect("nothing"), Vec::<u8>::new());
}

#[test]
fn another_base_is_noticed() {
    let (base, bytes) = similar();
    let delta = compress(&bytes, &base).expect("delta");
    let mut other = base.clone();
    other[1 << 20] ^= 1;
    for wrong in [&other, &noise(9, base.len()), &base[..base.len() - 1].to_vec(), &vec![]] {
        assert!(matches!(expand(&delta, wrong, bytes.len()), Err(DeltaError::Damaged(_))));
    }
}

#[test]
fn a_bomb_is_refused_before_memory_is_allocated() {
    let bomb = compress(&vec![0; 64 << 20], &[]).expect("compressed");
    assert!(bomb.len() < 10_000);
    let refused = expand(&bomb, &[], 1 << 20);
    assert!(matches!(refused, Err(DeltaError::TooLong { announced: 67_108_864, limit: 1_048_576 })));
    // The size in the frame is no promise: it says 1 here, and there is more.
    let mut liar = compress(&vec![0; 300], &[]).expect("compressed");
    assert_eq!(liar[4] & 0xc0, 0x40, "two bytes of size");
    let size = liar.iter().position(|byte| *byte == 44).expect("300 - 256");
    liar[size] = 0;
    liar[size + 1] = 0;
    assert!(matches!(expand(&liar, &[], 256), Err(DeltaError::Damaged(_))));
}

#[test]
fn a_size_of_almost_all_memory_is_refused() {
    // A frame header with a size of eight bytes: 2^64 - 3.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0];
    assert!(matches!(expand(&frame, &[], usize::MAX >> 1), Err(DeltaError::TooLong { .. })));
}

#[test]
fn every_truncation_is_refused() {
    let bytes = noise(5, 2000);
    let delta = compress(&bytes, &[]).expect("compressed");
    for length in 0..delta.len() {
        assert!(expand(&delta[..length], &[], bytes.len()).is_err(), "{length}");
    }
    let mut longer = delta.clone();
    longer.push(0);
    assert!(expand(&longer, &[], bytes.len()).is_err());
    // A second frame has no room, and one that is empty adds nothing.
    assert!(expand(&[delta.clone(), delta.clone()].concat(), &[], bytes.len()).is_err());
}

#[test]
fn other_formats_are_no_deltas() {
    for bytes in [&b""[..], b"\0asm\x0d\0\x01\0", b"\x1f\x8b\x08", &noise(6, 100)] {
        assert!(matches!(expand(bytes, &[], 1000), Err(DeltaError::NotADelta)));
    }
}

#[test]
fn the_window_reaches_the_beginning_of_the_base() {
    for (bytes, log) in [(0, 10), (1024, 10), (1025, 11), (MAX_BYTES, 27)] {
        assert_eq!(window_log(bytes), log);
    }
    assert!(matches!(compress(&[0], &vec![0; MAX_BYTES]), Err(DeltaError::TooLarge(_))));
}

proptest! {
    #[test]
    fn arbitrary_bytes_expand_to_no_more_than_the_limit(delta: Vec<u8>, base: Vec<u8>, limit in 0_usize..10_000) {
        if let Ok(bytes) = expand(&delta, &base, limit) {
            prop_assert!(bytes.len() <= limit);
        }
    }

    #[test]
    fn a_changed_delta_gives_no_more_than_the_limit(at in 0_usize..10_000, value: u8, cut in 0_usize..10_000) {
        let bytes = noise(7, 3000).repeat(3);
        let base = noise(7, 1000);
        let mut delta = compress(&bytes, &base).expect("delta");
        let length = delta.len();
        delta[at % length] = value;
        delta.truncate(length - cut % 10);
        if let Ok(expanded) = expand(&delta, &base, bytes.len()) {
            prop_assert!(expanded.len() <= bytes.len());
        }
    }

    #[test]
    fn what_is_compressed_is_expanded(bytes: Vec<u8>, base: Vec<u8>) {
        let delta = compress(&bytes, &base).expect("delta");
        prop_assert_eq!(expand(&delta, &base, bytes.len()).expect("bytes"), bytes);
    }
}
