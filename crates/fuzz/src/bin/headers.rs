#![no_main]
//! libFuzzer's entry to [`tenon_fuzz::headers`].

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tenon_fuzz::headers(bytes));
