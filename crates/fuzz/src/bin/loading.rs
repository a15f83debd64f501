#![no_main]
//! libFuzzer's entry to [`tenon_fuzz::loading`].

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tenon_fuzz::loading(bytes));
