//! Splits a component into its engine and the state that a snapshot gave it.
//!
//! The engine is the component's largest core module. A snapshot changes the size and content of its memory, and the values of
//! its mutable globals. Components that differ in their memory only are the same without it, and have the same code.

use std::ops::Range;

use wasm_encoder::{DataCountSection, DataSection, Encode, MemorySection, MemoryType, Section as _};
use wasmparser::{
    BinaryReader, BinaryReaderError, CodeSectionReader, DataKind, DataSectionReader, MemorySectionReader, Operator,
    Parser,
};

use crate::section::{
    CODE, COMPONENT, CORE_MODULE, CUSTOM, DATA, DATA_COUNT, GLOBAL, MEMORY, PREAMBLE, Section, sections,
};

/// Pages of the largest memory with 32-bit addresses.
const MAX_PAGES: u64 = 65_536;

/// The reason why a component cannot be taken apart. The component may still be valid.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It is not WebAssembly.
    #[error("it is malformed: {0}")]
    Malformed(#[from] BinaryReaderError),
    /// It has no core module, or one with features that no snapshot has.
    #[error("it is not a snapshot of an engine: {0}")]
    Foreign(&'static str),
}

/// The value of a mutable global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// The bits of an `f32`.
    F32(u32),
    /// The bits of an `f64`.
    F64(u64),
}

/// A run of bytes in the initial memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Address of the first byte.
    pub offset: u32,
    /// The bytes.
    pub data: &'a [u8],
}

/// The part of a component that a snapshot changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State<'a> {
    /// Initial size of the memory, in pages of 64 KiB.
    pub pages: u64,
    /// Values of the mutable globals, by their index among the globals that the module defines.
    pub globals: Vec<(u32, Global)>,
    /// The initial memory. All other bytes are zero.
    pub segments: Vec<Segment<'a>>,
}

impl State<'_> {
    /// Returns the initial size of the memory in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.pages.saturating_mul(64 * 1024)
    }
}

/// A component that was taken apart.
#[derive(Clone, Debug)]
pub struct Apart<'a> {
    /// Size and content of the engine's memory, without globals.
    pub state: State<'a>,
    /// Initial size of that memory in `rest`, in pages. No other module's memory has it.
    pub declared: u64,
    /// The component without the content of that memory. Components that differ in it only have the same one.
    pub rest: Vec<u8>,
}

/// The position of the engine in a component.
#[derive(Clone, Debug)]
pub struct EngineModule<'a> {
    bytes: &'a [u8],
    /// The sections around the engine's sections, from the outermost nested component to the core module itself.
    pub path: Vec<Section>,
}

impl<'a> EngineModule<'a> {
    /// Finds the engine of a component.
    ///
    /// # Errors
    ///
    /// When it has no core module, or is not a component.
    pub fn find(bytes: &'a [u8]) -> Result<Self, StateError> {
        if !Parser::is_component(bytes) {
            return Err(StateError::Foreign("it is not a component"));
        }
        let modules = core_modules(bytes)?;
        let largest = modules.into_iter().max_by_key(|path| path.last().map(|module| module.content.len()));
        let path = largest.ok_or(StateError::Foreign("it has no core module"))?;
        Ok(Self { bytes, path })
    }

    /// Lists the sections of the engine.
    ///
    /// # Errors
    ///
    /// When they are malformed.
    pub fn sections(&self) -> Result<Vec<Section>, StateError> {
        match self.path.last() {
            Some(module) => sections(self.bytes, module.content.start + PREAMBLE..module.content.end),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the range of the section of the path at this depth: 0 is the whole itself, 1 the content of the outermost
    /// section, and the path's length the engine.
    #[must_use]
    pub fn content(&self, depth: usize) -> Range<usize> {
        match depth.checked_sub(1).and_then(|above| self.path.get(above)) {
            Some(section) => section.content.clone(),
            None => 0..self.bytes.len(),
        }
    }

    /// Returns the whole with another content at a depth of [`content`](Self::content).
    #[must_use]
    pub fn replaced(&self, depth: usize, mut content: Vec<u8>) -> Vec<u8> {
        for (above, section) in self.path.iter().take(depth).enumerate().rev() {
            let around = self.content(above);
            let mut made = Vec::with_capacity(around.len() + content.len());
            made.extend_from_slice(&self.bytes[around.start..section.start]);
            made.push(section.id);
            content.encode(&mut made);
            made.extend_from_slice(&self.bytes[section.content.end..around.end]);
            content = made;
        }
        content
    }

    /// Splits the component into the engine's memory and everything else. The values of mutable globals stay where they are.
    ///
    /// # Errors
    ///
    /// When the engine has features that no snapshot has, such as two memories or data at a computed address.
    pub fn take_apart(&self) -> Result<Apart<'a>, StateError> {
        if !self.has_its_data()? {
            return Err(StateError::Foreign("it announces another number of data segments than it has"));
        }
        let fixed = self.fixed_segments()?;
        if !self.names_fixed_data_only(fixed)? {
            return Err(StateError::Foreign("its code refers to data that a snapshot replaces"));
        }
        let mut apart = Apart { state: State::default(), declared: self.unused_size()?, rest: Vec::new() };
        let mut rest = self.bytes[..PREAMBLE].to_vec();
        self.write_rest(PREAMBLE..self.bytes.len(), 0, fixed, &mut apart, &mut rest)?;
        if apart.state.pages < apart.declared {
            return Err(StateError::Foreign("it has no memory, or a small one beside others"));
        }
        Ok(Apart { rest, ..apart })
    }

    /// Returns the engine without its state: the contents of the sections that a snapshot leaves as they are. All components
    /// of one engine have the same.
    ///
    /// # Errors
    ///
    /// When a section is malformed.
    pub fn without_state(&self) -> Result<Vec<u8>, StateError> {
        let mut fixed = Vec::with_capacity(self.content(self.path.len()).len());
        for section in self.sections()? {
            if !matches!(section.id, CUSTOM | MEMORY | GLOBAL | DATA_COUNT | DATA) {
                fixed.extend_from_slice(&self.bytes[section.content]);
            }
        }
        Ok(fixed)
    }

    fn section(&self, id: u8) -> Result<Option<BinaryReader<'a>>, StateError> {
        let section = self.sections()?.into_iter().find(|section| section.id == id);
        Ok(section.map(|section| section.reader(self.bytes)))
    }

    /// Returns whether the announced number of data segments is the actual number.
    fn has_its_data(&self) -> Result<bool, StateError> {
        let Some(mut announced) = self.section(DATA_COUNT)? else { return Ok(true) };
        let found = self.section(DATA)?.map_or(Ok(0), |mut data| data.read_var_u32())?;
        Ok(announced.read_var_u32()? == found)
    }

    /// Returns the number of data segments up to the last passive one. Code refers to passive ones by number, so these stay.
    fn fixed_segments(&self) -> Result<u32, StateError> {
        let mut fixed = 0;
        if let Some(data) = self.section(DATA)? {
            for (index, data) in (0_u32..).zip(DataSectionReader::new(data)?) {
                if matches!(data?.kind, DataKind::Passive) {
                    fixed = index + 1;
                }
            }
        }
        Ok(fixed)
    }

    /// Returns whether code refers to the first `fixed` data segments only.
    fn names_fixed_data_only(&self, fixed: u32) -> Result<bool, StateError> {
        // Code that refers to data needs that section (Core 3.4.10).
        if self.section(DATA_COUNT)?.is_none() {
            return Ok(true);
        }
        let Some(code) = self.section(CODE)? else { return Ok(true) };
        for body in CodeSectionReader::new(code)? {
            for operator in body?.get_operators_reader()? {
                let (Operator::MemoryInit { data_index, .. } | Operator::DataDrop { data_index }) = operator? else {
                    continue;
                };
                if data_index >= fixed {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns the smallest number of pages that no other module's memory has at first.
    fn unused_size(&self) -> Result<u64, StateError> {
        let mut used = Vec::new();
        for path in core_modules(self.bytes)? {
            let Some(module) = path.last().filter(|module| Some(module.start) != self.path.last().map(|own| own.start))
            else {
                continue;
            };
            for section in sections(self.bytes, module.content.start + PREAMBLE..module.content.end)? {
                if section.id == MEMORY {
                    for memory in MemorySectionReader::new(section.reader(self.bytes))? {
                        used.push(memory?.initial);
                    }
                }
            }
        }
        Ok((1..).find(|pages| !used.contains(pages)).unwrap_or(1))
    }

    /// Writes the sections in `range` without the engine's state. `depth` counts the sections around it on the path to the
    /// engine.
    fn write_rest(
        &self,
        range: Range<usize>,
        depth: usize,
        fixed: u32,
        apart: &mut Apart<'a>,
        into: &mut Vec<u8>,
    ) -> Result<(), StateError> {
        for section in sections(self.bytes, range)? {
            let on_path = self.path.get(depth).is_some_and(|next| next.start == section.start);
            if on_path {
                let mut inner = self.bytes[section.content.start..section.content.start + PREAMBLE].to_vec();
                if depth + 1 == self.path.len() {
                    for section in self.sections()? {
                        self.write_engine(&section, fixed, apart, &mut inner)?;
                    }
                } else {
                    let range = section.content.start + PREAMBLE..section.content.end;
                    self.write_rest(range, depth + 1, fixed, apart, &mut inner)?;
                }
                into.push(section.id);
                inner.encode(into);
            } else if !self.is_about_tools(&section)? {
                into.extend_from_slice(&self.bytes[section.start..section.content.end]);
            }
        }
        Ok(())
    }

    /// Returns whether a section lists the tools that made the component. Code does not depend on them.
    fn is_about_tools(&self, section: &Section) -> Result<bool, StateError> {
        Ok(section.id == CUSTOM && section.reader(self.bytes).read_string()? == "producers")
    }

    /// Writes a section of the engine without its state, which is added to `apart`.
    fn write_engine(
        &self,
        section: &Section,
        fixed: u32,
        apart: &mut Apart<'a>,
        into: &mut Vec<u8>,
    ) -> Result<(), StateError> {
        let reader = section.reader(self.bytes);
        match section.id {
            MEMORY => {
                let mut memories = MemorySectionReader::new(reader)?.into_iter();
                let (Some(memory), None) = (memories.next(), memories.next()) else {
                    return Err(StateError::Foreign("it does not have exactly one memory"));
                };
                let memory = memory?;
                if memory.memory64 || memory.shared || memory.page_size_log2.is_some() {
                    return Err(StateError::Foreign("its memory is shared, 64-bit or has custom pages"));
                }
                // Code is shared without validating each component that it serves.
                if memory.maximum.is_some_and(|maximum| memory.initial > maximum) {
                    return Err(StateError::Foreign("its memory starts beyond its maximum"));
                }
                if memory.initial > MAX_PAGES {
                    return Err(StateError::Foreign("its memory exceeds the 32-bit address space"));
                }
                apart.state.pages = memory.initial;
                let declared = MemoryType {
                    minimum: apart.declared,
                    maximum: memory.maximum,
                    memory64: false,
                    shared: false,
                    page_size_log2: None,
                };
                MemorySection::new().memory(declared).append_to(into);
            }
            DATA => {
                let mut kept = DataSection::new();
                for (index, data) in (0_u32..).zip(DataSectionReader::new(reader)?) {
                    let data = data?;
                    match data.kind {
                        DataKind::Passive => drop(kept.passive(data.data.iter().copied())),
                        DataKind::Active { memory_index: 0, offset_expr } => {
                            let Some(Global::I32(offset)) = constant(&offset_expr)? else {
                                return Err(StateError::Foreign("its data is at a computed address"));
                            };
                            let offset = offset.cast_unsigned();
                            apart.state.segments.push(Segment { offset, data: data.data });
                            // It keeps the numbers of those behind it, and is as empty as it is once the instance is made.
                            if index < fixed {
                                kept.passive([]);
                            }
                        }
                        DataKind::Active { .. } => {
                            return Err(StateError::Foreign("it does not have exactly one memory"));
                        }
                    }
                }
                if fixed > 0 {
                    kept.append_to(into);
                }
            }
            DATA_COUNT if fixed > 0 => DataCountSection { count: fixed }.append_to(into),
            DATA_COUNT => {}
            CUSTOM if self.is_about_tools(section)? => {}
            _ => into.extend_from_slice(&self.bytes[section.start..section.content.end]),
        }
        Ok(())
    }
}

/// Evaluates an expression that is one constant.
///
/// # Errors
///
/// When it is malformed.
pub fn constant(expression: &wasmparser::ConstExpr<'_>) -> Result<Option<Global>, StateError> {
    let mut operators = expression.get_operators_reader();
    let value = match operators.read()? {
        Operator::I32Const { value } => Global::I32(value),
        Operator::I64Const { value } => Global::I64(value),
        Operator::F32Const { value } => Global::F32(value.bits()),
        Operator::F64Const { value } => Global::F64(value.bits()),
        _ => return Ok(None),
    };
    Ok(matches!(operators.read()?, Operator::End).then_some(value))
}

/// Returns the path to each core module in a component, nested components included, in file order.
fn core_modules(bytes: &[u8]) -> Result<Vec<Vec<Section>>, StateError> {
    let mut found = Vec::new();
    let mut above: Vec<Section> = Vec::new();
    // The remaining sections of each level, the next one at the end.
    let mut levels = vec![reversed(bytes, PREAMBLE..bytes.len())?];
    while let Some(level) = levels.last_mut() {
        let Some(section) = level.pop() else {
            levels.pop();
            above.pop();
            continue;
        };
        match section.id {
            CORE_MODULE => found.push(above.iter().cloned().chain([section]).collect()),
            COMPONENT => {
                levels.push(reversed(bytes, section.content.start + PREAMBLE..section.content.end)?);
                above.push(section);
            }
            _ => {}
        }
    }
    Ok(found)
}

fn reversed(bytes: &[u8], range: Range<usize>) -> Result<Vec<Section>, StateError> {
    let mut sections = sections(bytes, range)?;
    sections.reverse();
    Ok(sections)
}
