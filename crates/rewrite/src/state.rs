//! Splits a component into its engine and the state that a snapshot gave it.
//!
//! The engine is the component's largest core module. Its state is everything that a snapshot changes: the size and
//! content of its memory, and the values of its mutable globals. A digest covers the rest, other modules included. Two
//! components with the same digest have the same code.

use std::ops::Range;

use sha2::{Digest, Sha256};
use wasm_encoder::Encode;
use wasmparser::{
    BinaryReader, BinaryReaderError, CodeSectionReader, DataKind, DataSectionReader, GlobalSectionReader,
    MemorySectionReader, Operator, Parser,
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

/// The position of the engine in a component.
#[derive(Clone, Debug)]
pub struct EngineModule<'a> {
    bytes: &'a [u8],
    /// The sections around the engine's sections, from the outermost nested component to the core module itself.
    pub path: Vec<Section>,
    /// Number of the engine among all core modules, in file order.
    pub module: u32,
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
        let largest = modules.iter().enumerate().max_by_key(|(_, path)| path.last().map(|module| module.content.len()));
        let (index, path) = largest.ok_or(StateError::Foreign("it has no core module"))?;
        let module = u32::try_from(index).map_err(|_| StateError::Foreign("it has too many core modules"))?;
        Ok(Self { bytes, path: path.clone(), module })
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

    /// Returns the engine's state, and the digest of the rest of the component.
    ///
    /// # Errors
    ///
    /// When the engine has features that no snapshot has, such as two memories or data at a computed address.
    pub fn take_apart(&self) -> Result<(State<'a>, [u8; 32]), StateError> {
        if !self.has_its_data()? {
            return Err(StateError::Foreign("it announces another number of data segments than it has"));
        }
        let mut state = State::default();
        let mut digest = Sha256::new();
        self.digest(PREAMBLE..self.bytes.len(), 0, &mut state, &mut digest)?;
        if state.pages == 0 {
            return Err(StateError::Foreign("it has no memory"));
        }
        Ok((state, digest.finalize().into()))
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

    /// Returns whether code refers only to data segments that every state has. The number of active segments differs
    /// from state to state. Passive ones are in the digest with their numbers.
    ///
    /// # Errors
    ///
    /// When a section is malformed.
    pub fn names_fixed_data_only(&self) -> Result<bool, StateError> {
        // Code that refers to data needs that section (Core 3.4.10).
        if self.section(DATA_COUNT)?.is_none() {
            return Ok(true);
        }
        let mut fixed = 0;
        if let Some(data) = self.section(DATA)? {
            for (index, data) in (0_u32..).zip(DataSectionReader::new(data)?) {
                if matches!(data?.kind, DataKind::Passive) {
                    fixed = index + 1;
                }
            }
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

    /// Feeds the sections in `range` to the digest. `depth` counts the sections around it on the path to the engine.
    fn digest(
        &self,
        range: Range<usize>,
        depth: usize,
        state: &mut State<'a>,
        digest: &mut Sha256,
    ) -> Result<(), StateError> {
        for section in sections(self.bytes, range)? {
            let content = &self.bytes[section.content.clone()];
            let on_path = self.path.get(depth).is_some_and(|next| next.start == section.start);
            if on_path && depth + 1 == self.path.len() {
                digest.update([section.id]);
                for section in self.sections()? {
                    self.digest_engine(&section, state, digest)?;
                }
            } else if on_path {
                digest.update([section.id]);
                self.digest(section.content.start + PREAMBLE..section.content.end, depth + 1, state, digest)?;
            } else {
                // Code does not depend on the tools that made the component.
                if section.id == CUSTOM && BinaryReader::new(content, 0).read_string()? == "producers" {
                    continue;
                }
                digest.update([section.id]);
                framed(digest, content);
            }
        }
        // No section has this identifier. It marks the return to the outer section.
        digest.update([u8::MAX]);
        Ok(())
    }

    fn digest_engine(&self, section: &Section, state: &mut State<'a>, digest: &mut Sha256) -> Result<(), StateError> {
        let content = &self.bytes[section.content.clone()];
        let reader = section.reader(self.bytes);
        digest.update([section.id]);
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
                state.pages = memory.initial;
                framed(digest, format!("{:?}", memory.maximum).as_bytes());
            }
            GLOBAL => {
                let globals = GlobalSectionReader::new(reader)?;
                digest.update(globals.count().to_le_bytes());
                for (index, global) in (0..).zip(globals) {
                    let global = global?;
                    framed(digest, format!("{:?}", global.ty).as_bytes());
                    let value = constant(&global.init_expr)?;
                    match value {
                        Some(value) if global.ty.mutable => state.globals.push((index, value)),
                        _ => {
                            let operators = global.init_expr.get_operators_reader().into_iter();
                            let operators = operators.collect::<Result<Vec<_>, _>>()?;
                            framed(digest, format!("{operators:?}").as_bytes());
                        }
                    }
                }
            }
            DATA => {
                let mut passive = Vec::new();
                for (index, data) in (0_u32..).zip(DataSectionReader::new(reader)?) {
                    let data = data?;
                    match data.kind {
                        // Code refers to passive data by number.
                        DataKind::Passive => passive.push((index, data.data)),
                        DataKind::Active { memory_index: 0, offset_expr } => {
                            let Some(Global::I32(offset)) = constant(&offset_expr)? else {
                                return Err(StateError::Foreign("its data is at a computed address"));
                            };
                            state.segments.push(Segment { offset: offset.cast_unsigned(), data: data.data });
                        }
                        DataKind::Active { .. } => {
                            return Err(StateError::Foreign("it does not have exactly one memory"));
                        }
                    }
                }
                digest.update(passive.len().to_le_bytes());
                for (index, data) in passive {
                    digest.update(index.to_le_bytes());
                    framed(digest, data);
                }
            }
            // The number of segments changes (see `has_its_data`).
            DATA_COUNT => {}
            _ => framed(digest, content),
        }
        Ok(())
    }
}

/// Feeds bytes with their length, so that other bytes around them cannot give the same digest.
fn framed(digest: &mut Sha256, bytes: &[u8]) {
    digest.update(bytes.len().to_le_bytes());
    digest.update(bytes);
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
