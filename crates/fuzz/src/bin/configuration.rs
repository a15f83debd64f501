#![no_main]
//! libFuzzer's entry to [`tenon_fuzz::configuration`].

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tenon_fuzz::configuration(bytes));
