//! `compile MEMORY DESCRIPTION OUT` writes the module of a memory. It prints the address, the number and two sizes of each function.
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [memory, description, out] = &arguments[..] else {
        return Err("usage: compile MEMORY DESCRIPTION OUT".into());
    };
    let memory = std::fs::read(memory)?;
    let started = std::time::Instant::now();
    let output = tenon_compiler::compile(&memory, description.parse()?)?;
    let took = started.elapsed();
    std::fs::write(out, &output.module)?;
    let mut stdout = std::io::stdout().lock();
    for each in &output.compiled {
        writeln!(stdout, "{} {} {} {}", each.field, each.number, each.bytecode, each.code)?;
    }
    let (compiled, skipped, size) = (output.compiled.len(), output.skipped, output.module.len());
    writeln!(std::io::stderr(), "{compiled} compiled, {skipped} skipped, {size} bytes, {took:?}")?;
    Ok(())
}
