use std::fs;
use std::path::Path;

/// Returns all corpus inputs of a target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn what_is_kept_for_configuration() {
    corpus("configuration").iter().for_each(|bytes| crate::configuration(bytes));
}

#[test]
fn what_is_kept_for_headers() {
    corpus("headers").iter().for_each(|bytes| crate::headers(bytes));
}

#[test]
fn what_is_kept_for_loading() {
    corpus("loading").iter().for_each(|bytes| crate::loading(bytes));
}

#[test]
fn what_is_kept_for_tapes() {
    corpus("tapes").iter().for_each(|bytes| crate::tapes(bytes));
}
