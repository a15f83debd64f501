//! The core modules whose instances can be reset: their sections, types and values are listed, and all others refused.

use wasmparser::{
    CodeSectionReader, CompositeInnerType, ConstExpr, DataKind, DataSectionReader, ElementItems, ElementKind,
    ElementSectionReader, ExportSectionReader, GlobalSectionReader, ImportSectionReader, MemorySectionReader,
    MemoryType, RefType, TableInit, TableSectionReader, TableType, TypeRef, TypeSectionReader, ValType,
};

use super::instructions::check;
use super::{GLOBALS, RESTORE, taken};
use crate::rewrite::{Error, Rewrite};
use crate::section::{
    CODE, CUSTOM, DATA, DATA_COUNT, ELEMENT, EXPORT, FUNCTION, GLOBAL, IMPORT, MEMORY, PREAMBLE, START, Section, TABLE,
    TAG, TYPE, sections,
};

/// The facts about a core module that can be restored.
pub(super) struct CoreModule {
    pub(super) memories: usize,
    pub(super) has_globals: bool,
    /// True when it writes data into a memory as it is instantiated.
    writes: bool,
}

impl CoreModule {
    pub(super) fn of(module: &[u8]) -> Result<Self, Error> {
        let mut found = Self { memories: 0, has_globals: false, writes: false };
        for section in sections(module, PREAMBLE..module.len())? {
            found.look_at(&section, module)?;
        }
        if found.writes && found.memories == 0 {
            return Err("a module writes into another's memory before the first call".into());
        }
        let globals = Rewrite::of(module)?.mutable_globals()?;
        if globals.iter().any(|(_, value)| value.is_none()) {
            return Err("a mutable global does not start with a constant number".into());
        }
        found.has_globals = !globals.is_empty();
        Ok(found)
    }

    fn look_at(&mut self, section: &Section, module: &[u8]) -> Result<(), Error> {
        let reader = section.reader(module);
        match section.id {
            CUSTOM | FUNCTION | DATA_COUNT => {}
            TYPE => {
                for group in TypeSectionReader::new(reader)? {
                    for ty in group?.types() {
                        match &ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => {
                                ty.params().iter().chain(ty.results()).try_for_each(value)?
                            }
                            CompositeInnerType::Array(_)
                            | CompositeInnerType::Struct(_)
                            | CompositeInnerType::Cont(_) => {
                                return Err("it has types of objects, which the collector keeps".into());
                            }
                        }
                    }
                }
            }
            IMPORT => {
                for import in ImportSectionReader::new(reader)?.into_imports() {
                    match import?.ty {
                        TypeRef::Func(_) => {}
                        TypeRef::Memory(ty) => memory(ty)?,
                        TypeRef::Table(ty) => table(ty)?,
                        TypeRef::Global(global) if global.mutable => return Err("it imports a mutable global".into()),
                        TypeRef::Global(global) => value(&global.content_type)?,
                        TypeRef::Tag(_) => return Err(exceptions()),
                        TypeRef::FuncExact(_) => return Err("it imports a function of an exact type".into()),
                    }
                }
            }
            TABLE => {
                for defined in TableSectionReader::new(reader)? {
                    let defined = defined?;
                    table(defined.ty)?;
                    match defined.init {
                        TableInit::RefNull => {}
                        TableInit::Expr(initial) => expression(&initial)?,
                    }
                }
            }
            MEMORY => {
                for defined in MemorySectionReader::new(reader)? {
                    memory(defined?)?;
                    self.memories += 1;
                }
            }
            TAG => return Err(exceptions()),
            GLOBAL => {
                for global in GlobalSectionReader::new(reader)? {
                    let global = global?;
                    value(&global.ty.content_type)?;
                    expression(&global.init_expr)?;
                }
            }
            EXPORT => {
                for export in ExportSectionReader::new(reader)? {
                    if [RESTORE, GLOBALS].contains(&export?.name) {
                        return Err(taken());
                    }
                }
            }
            START => return Err("code runs before the first call".into()),
            ELEMENT => {
                for element in ElementSectionReader::new(reader)? {
                    let element = element?;
                    match element.kind {
                        ElementKind::Active { offset_expr, .. } => expression(&offset_expr)?,
                        ElementKind::Passive | ElementKind::Declared => {}
                    }
                    match element.items {
                        ElementItems::Functions(_) => {}
                        ElementItems::Expressions(ty, items) => {
                            reference(ty)?;
                            items.into_iter().try_for_each(|item| expression(&item?))?;
                        }
                    }
                }
            }
            CODE => {
                for body in CodeSectionReader::new(reader)? {
                    let body = body?;
                    for local in body.get_locals_reader()? {
                        value(&local?.1)?;
                    }
                    for operator in body.get_operators_reader()? {
                        check(&operator?)?;
                    }
                }
            }
            DATA => {
                for data in DataSectionReader::new(reader)? {
                    match data?.kind {
                        DataKind::Active { offset_expr, .. } => {
                            expression(&offset_expr)?;
                            self.writes = true;
                        }
                        DataKind::Passive => {}
                    }
                }
            }
            unknown => return Err(format!("it has a section of an unknown kind, {unknown}").into()),
        }
        Ok(())
    }
}

fn exceptions() -> Error {
    "code can throw exceptions, which the collector keeps".into()
}

/// Checks the type of a value. Resetting covers numbers; references to functions do not change; `externref` is null.
fn value(ty: &ValType) -> Result<(), Error> {
    match ty {
        ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64 | ValType::V128 => Ok(()),
        ValType::Ref(ty) => reference(*ty),
    }
}

fn reference(ty: RefType) -> Result<(), Error> {
    if ty == RefType::FUNCREF || ty == RefType::FUNC || ty == RefType::EXTERNREF {
        return Ok(());
    }
    Err(format!("it has values of the type {ty}").into())
}

fn memory(ty: MemoryType) -> Result<(), Error> {
    match ty {
        MemoryType { memory64: false, shared: false, page_size_log2: None, initial: _, maximum: _ } => Ok(()),
        MemoryType { shared: true, .. } => Err("it shares a memory".into()),
        MemoryType { .. } => Err("a memory has 64-bit addresses or pages of its own size".into()),
    }
}

fn table(ty: TableType) -> Result<(), Error> {
    match ty {
        TableType { element_type: RefType::FUNCREF, table64: false, shared: false, initial: _, maximum: _ } => Ok(()),
        TableType { element_type: RefType::FUNCREF, .. } => Err("a table is shared or has 64-bit addresses".into()),
        TableType { .. } => Err("a table holds values other than functions".into()),
    }
}

/// Checks an expression that is computed as an instance is made.
fn expression(expression: &ConstExpr<'_>) -> Result<(), Error> {
    for operator in expression.get_operators_reader() {
        check(&operator?)?;
    }
    Ok(())
}
