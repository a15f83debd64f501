#![no_main]
//! libFuzzer's entry to [`tenon_fuzz::tapes`].

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tenon_fuzz::tapes(bytes));
