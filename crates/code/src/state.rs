//! A component taken apart into its engine and the state that a snapshot gave it.
//!
//! The engine is the component's largest core module; its state is what a snapshot changes: the size and the content of
//! its memory and the values of its mutable globals. Everything else, other modules included, is covered by a digest: two
//! components with the same digest have the same code.

use std::ops::Range;

use sha2::{Digest, Sha256};
use wasmparser::{
    BinaryReader, BinaryReaderError, DataKind, DataSectionReader, GlobalSectionReader, MemorySectionReader, Operator,
    Parser,
};

use crate::section::{COMPONENT, CORE_MODULE, CUSTOM, DATA, DATA_COUNT, GLOBAL, MEMORY, PREAMBLE, Section, sections};

/// Why a component cannot be taken apart. That is no fault of the component's.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It is not WebAssembly.
    #[error("it is malformed: {0}")]
    Malformed(#[from] BinaryReaderError),
    /// It has no core module, or one with what no snapshot has.
    #[error("it is no snapshot of an engine: {0}")]
    Foreign(&'static str),
}

/// The value of a mutable global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// Of type `i32`.
    I32(i32),
    /// Of type `i64`.
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

/// What a snapshot changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State<'a> {
    /// Initial size of the memory, in pages of 64 KiB.
    pub pages: u64,
    /// Values of the mutable globals, by their index among the globals that the module defines.
    pub globals: Vec<(u32, Global)>,
    /// The initial memory; the rest of it is zero.
    pub segments: Vec<Segment<'a>>,
}

/// Where the engine is in a component.
#[derive(Clone, Debug)]
pub struct Engine<'a> {
    bytes: &'a [u8],
    /// The sections around the engine's sections, from the outermost nested component to the core module itself.
    pub path: Vec<Section>,
    /// The place of the engine among all core modules, in the order of the file.
    pub module: u32,
}

impl<'a> Engine<'a> {
    /// Finds the engine of a component.
    ///
    /// # Errors
    ///
    /// When it has no core module, or is no component.
    pub fn find(bytes: &'a [u8]) -> Result<Self, StateError> {
        if !Parser::is_component(bytes) {
            return Err(StateError::Foreign("it is no component"));
        }
        let mut modules = Vec::new();
        core_modules(bytes, PREAMBLE..bytes.len(), &mut Vec::new(), &mut modules)?;
        let largest = modules.iter().enumerate().max_by_key(|(_, path)| path.last().map(|module| module.content.len()));
        let (index, path) = largest.ok_or(StateError::Foreign("it has no core module"))?;
        let module = u32::try_from(index).map_err(|_| StateError::Foreign("it has too many core modules"))?;
        Ok(Self { bytes, path: path.clone(), module })
    }

    /// The sections of the engine.
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

    /// The engine's state, and the digest of all the rest of the component.
    ///
    /// # Errors
    ///
    /// When the engine has what no snapshot has, such as two memories or data at an address that is computed.
    pub fn take_apart(&self) -> Result<(State<'a>, [u8; 32]), StateError> {
        let mut state = State::default();
        let mut digest = Sha256::new();
        self.digest(PREAMBLE..self.bytes.len(), 0, &mut state, &mut digest)?;
        if state.pages == 0 {
            return Err(StateError::Foreign("it has no memory"));
        }
        Ok((state, digest.finalize().into()))
    }

    /// Feeds what stands in `range`, which is `depth` sections deep on the way to the engine.
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
                // No code depends on which tools made the component.
                if section.id == CUSTOM && BinaryReader::new(content, 0).read_string()? == "producers" {
                    continue;
                }
                digest.update([section.id]);
                digest.update(content.len().to_le_bytes());
                digest.update(content);
            }
        }
        // No section has this identifier: what follows belongs to the section around.
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
                    return Err(StateError::Foreign("it has not one memory"));
                };
                let memory = memory?;
                if memory.memory64 || memory.shared || memory.page_size_log2.is_some() {
                    return Err(StateError::Foreign("its memory is of an unusual kind"));
                }
                state.pages = memory.initial;
                digest.update(format!("{:?}", memory.maximum));
            }
            GLOBAL => {
                for (index, global) in (0..).zip(GlobalSectionReader::new(reader)?) {
                    let global = global?;
                    digest.update(format!("{:?}", global.ty));
                    let value = constant(&global.init_expr)?;
                    match value {
                        Some(value) if global.ty.mutable => state.globals.push((index, value)),
                        _ => digest.update(format!(
                            "{:?}",
                            global.init_expr.get_operators_reader().into_iter().collect::<Result<Vec<_>, _>>()?
                        )),
                    }
                }
            }
            DATA => {
                for (index, data) in (0_u32..).zip(DataSectionReader::new(reader)?) {
                    let data = data?;
                    match data.kind {
                        // Code refers to passive data by number.
                        DataKind::Passive => {
                            digest.update(index.to_le_bytes());
                            digest.update(data.data.len().to_le_bytes());
                            digest.update(data.data);
                        }
                        DataKind::Active { memory_index: 0, offset_expr } => {
                            let Some(Global::I32(offset)) = constant(&offset_expr)? else {
                                return Err(StateError::Foreign("its data is at an address that is computed"));
                            };
                            state.segments.push(Segment { offset: offset.cast_unsigned(), data: data.data });
                        }
                        DataKind::Active { .. } => return Err(StateError::Foreign("it has not one memory")),
                    }
                }
            }
            // It counts the data, which changes.
            DATA_COUNT => {}
            _ => {
                digest.update(content.len().to_le_bytes());
                digest.update(content);
            }
        }
        Ok(())
    }
}

/// The value of an expression that is one constant.
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

/// Collects the way to each core module in `range`, nested components included.
fn core_modules(
    bytes: &[u8],
    range: Range<usize>,
    above: &mut Vec<Section>,
    found: &mut Vec<Vec<Section>>,
) -> Result<(), StateError> {
    for section in sections(bytes, range)? {
        let (id, content) = (section.id, section.content.clone());
        above.push(section);
        match id {
            CORE_MODULE => found.push(above.clone()),
            COMPONENT => core_modules(bytes, content.start + PREAMBLE..content.end, above, found)?,
            _ => {}
        }
        above.pop();
    }
    Ok(())
}
