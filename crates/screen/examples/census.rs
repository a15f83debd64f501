//! Prints the census of components, and the times of screening and validating on one thread:
//! `cargo run --workspace --example census -- <file>…`.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file)?;
        let began = Instant::now();
        let screened = tenon_screen::screen(&bytes);
        println!("{file}: screened in {:?}", began.elapsed());
        match screened {
            Ok(census) => println!("  {census:?}"),
            Err(refused) => {
                println!("  refused: {refused}");
                continue;
            }
        }
        let began = Instant::now();
        let valid = wasmparser::Validator::new().validate_all(&bytes);
        println!(
            "  validated in {:?}: {}",
            began.elapsed(),
            valid.map_or_else(|error| error.to_string(), |_| "valid".into())
        );
    }
    Ok(())
}
