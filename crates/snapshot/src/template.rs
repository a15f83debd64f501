//! The component without memory that every build writes its snapshot into.

use std::ops::Range;

use tenon_rewrite::section::{CUSTOM, DATA, DATA_COUNT, EXPORT, GLOBAL, MEMORY, PREAMBLE, START, Section, sections};
use tenon_rewrite::{EngineModule, Global, Segment, State, StateError};
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{DataCountSection, DataSection, Encode, ExportSection, Module, RawSection};
use wasmparser::{DataKind, DataSectionReader, ExportSectionReader, GlobalSectionReader};
use wasmparser::{MemorySectionReader, MemoryType, Operator, Parser, Payload};

use crate::error::SnapshotError;

/// Minimum length of a run of zeros that is left out. Shorter ones are written, because each run has a cost, too.
const GAP: usize = 16;

/// Maximum number of runs, because engines limit it (the JavaScript API to 100,000). With more, gaps are filled.
const MOST_RUNS: usize = 50_000;

/// Functions that only a snapshot's making calls.
const INITIALIZERS: [&str; 2] = ["collect", "initialize"];

/// Turns the engine into a template: removes the functions that make snapshots, and its data. One byte of data stays,
/// so that compiled code expects an image. If code refers to data by number, empty passive segments take their place.
/// Otherwise they are left out, because each of thousands would cost every instance.
pub(crate) fn without_memory(engine: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let sections = sections(engine, PREAMBLE..engine.len()).map_err(SnapshotError::engine)?;
    let mut pages = 0;
    for section in sections.iter().filter(|section| section.id == MEMORY) {
        pages = memory(engine, section).map_err(SnapshotError::engine)?.initial;
    }
    let placeholder = State { pages, segments: vec![Segment { offset: 0, data: &[1] }], ..State::default() };
    let keep_numbers = refers_to_data(engine).map_err(SnapshotError::engine)?;
    write_module(engine, &sections, &placeholder, keep_numbers).map_err(SnapshotError::engine)
}

/// Returns whether a function of the module copies or drops data.
fn refers_to_data(engine: &[u8]) -> wasmparser::Result<bool> {
    for payload in Parser::new(0).parse_all(engine) {
        let Payload::CodeSectionEntry(function) = payload? else { continue };
        for operator in function.get_operators_reader()? {
            if matches!(operator?, Operator::MemoryInit { .. } | Operator::DataDrop { .. }) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Writes a state into a template that is a component.
pub(crate) fn with_state(template: &[u8], state: &State<'_>) -> Result<Vec<u8>, SnapshotError> {
    let found = EngineModule::find(template).map_err(SnapshotError::engine)?;
    let sections = found.sections().map_err(SnapshotError::engine)?;
    let engine = write_module(template, &sections, state, false).map_err(SnapshotError::engine)?;
    Ok(found.replaced(found.path.len(), engine))
}

fn write_module(
    bytes: &[u8],
    sections: &[Section],
    state: &State<'_>,
    keep_numbers: bool,
) -> Result<Vec<u8>, StateError> {
    // Encoded first, because the number of segments comes before the code.
    let mut data = DataSection::new();
    for section in sections.iter().filter(|section| section.id == DATA) {
        for segment in DataSectionReader::new(section.reader(bytes))? {
            let segment = segment?;
            match segment.kind {
                DataKind::Passive => drop(data.passive(segment.data.iter().copied())),
                DataKind::Active { .. } if keep_numbers => drop(data.passive([])),
                DataKind::Active { .. } => {}
            }
        }
    }
    for segment in &state.segments {
        let offset = wasm_encoder::ConstExpr::i32_const(segment.offset.cast_signed());
        data.active(0, &offset, segment.data.iter().copied());
    }
    let mut module = Module::new();
    for section in sections {
        let content = &bytes[section.content.clone()];
        match section.id {
            START | DATA => {}
            CUSTOM if !content.starts_with(b"\x0ecomponent-type") => {}
            DATA_COUNT => drop(module.section(&DataCountSection { count: data.len() })),
            EXPORT => drop(module.section(&exports(bytes, section)?)),
            MEMORY => {
                let content = sized(&memory(bytes, section)?, state.pages);
                module.section(&RawSection { id: MEMORY, data: &content });
            }
            GLOBAL => {
                let content = globals(bytes, section, state)?;
                module.section(&RawSection { id: GLOBAL, data: &content });
            }
            id => drop(module.section(&RawSection { id, data: content })),
        }
    }
    // Only custom sections may follow it, and their position does not matter.
    module.section(&data);
    Ok(module.finish())
}

fn exports(bytes: &[u8], section: &Section) -> Result<ExportSection, StateError> {
    let mut kept = ExportSection::new();
    for export in ExportSectionReader::new(section.reader(bytes))? {
        let export = export?;
        if !INITIALIZERS.contains(&export.name) {
            let kind =
                RoundtripReencoder.export_kind(export.kind).map_err(|_| StateError::Foreign("an unknown export"))?;
            kept.export(export.name, kind, export.index);
        }
    }
    Ok(kept)
}

fn memory(bytes: &[u8], section: &Section) -> Result<MemoryType, StateError> {
    let mut memories = MemorySectionReader::new(section.reader(bytes))?.into_iter();
    memories.next().ok_or(StateError::Foreign("it does not have exactly one memory"))?.map_err(StateError::from)
}

/// Encodes a memory section with another initial size. Its length does not depend on the size, so the code after it
/// keeps its offset, and code offsets mean the same in every snapshot.
fn sized(memory: &MemoryType, pages: u64) -> Vec<u8> {
    let mut content = vec![1, u8::from(memory.maximum.is_some())];
    padded(&mut content, pages);
    if let Some(most) = memory.maximum {
        padded(&mut content, most);
    }
    content
}

/// Encodes a global section with other values of mutable globals. Its length does not depend on them.
fn globals(bytes: &[u8], section: &Section, state: &State<'_>) -> Result<Vec<u8>, StateError> {
    let mut content = Vec::new();
    let all = GlobalSectionReader::new(section.reader(bytes))?;
    all.count().encode(&mut content);
    for (index, global) in (0..).zip(all) {
        let global = global?;
        let ty = RoundtripReencoder.global_type(global.ty).map_err(|_| StateError::Foreign("an unknown global"))?;
        ty.encode(&mut content);
        let set = state.globals.iter().find(|(of, _)| *of == index && global.ty.mutable);
        let own = || tenon_rewrite::constant(&global.init_expr);
        let value = match set {
            Some((_, value)) => Some(*value),
            None if global.ty.mutable => own()?,
            None => None,
        };
        match value {
            Some(Global::I32(value)) => {
                content.push(0x41);
                padded_signed(&mut content, value.into(), 5);
                content.push(0x0b);
            }
            Some(Global::I64(value)) => {
                content.push(0x42);
                padded_signed(&mut content, value, 10);
                content.push(0x0b);
            }
            Some(Global::F32(bits)) => {
                content.push(0x43);
                content.extend_from_slice(&bits.to_le_bytes());
                content.push(0x0b);
            }
            Some(Global::F64(bits)) => {
                content.push(0x44);
                content.extend_from_slice(&bits.to_le_bytes());
                content.push(0x0b);
            }
            None => {
                let mut expression = global.init_expr.get_binary_reader();
                let length = expression.bytes_remaining();
                content.extend_from_slice(expression.read_bytes(length)?);
            }
        }
    }
    Ok(content)
}

/// Appends an unsigned number in five bytes of LEB128.
fn padded(content: &mut Vec<u8>, mut value: u64) {
    for _ in 0..4 {
        content.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    content.push((value & 0x7f) as u8);
}

/// Appends a signed number in `length` bytes of LEB128.
fn padded_signed(content: &mut Vec<u8>, mut value: i64, length: usize) {
    for _ in 1..length {
        content.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    content.push((value & 0x7f) as u8);
}

/// Returns the runs of a memory that are not zero.
pub(crate) fn runs(memory: &[u8]) -> Vec<Segment<'_>> {
    let mut gap = GAP;
    loop {
        let runs = runs_with_gaps(memory, gap);
        if runs.len() <= MOST_RUNS {
            return runs;
        }
        gap *= 2;
    }
}

fn runs_with_gaps(memory: &[u8], gap: usize) -> Vec<Segment<'_>> {
    let zero = vec![0; gap];
    let mut runs: Vec<Range<usize>> = Vec::new();
    for start in (0..memory.len()).step_by(gap) {
        let piece = &memory[start..memory.len().min(start + gap)];
        if *piece == zero[..piece.len()] {
            continue;
        }
        match runs.last_mut() {
            Some(last) if last.end == start => last.end = start + piece.len(),
            _ => runs.push(start..start + piece.len()),
        }
    }
    let segment = |run: Range<usize>| Some(Segment { offset: u32::try_from(run.start).ok()?, data: &memory[run] });
    runs.into_iter().filter_map(segment).collect()
}
