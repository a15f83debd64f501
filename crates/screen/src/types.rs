//! Type sections of components: types inside types, read without recursion.
//!
//! `wasmparser` recurses for each type inside a component or instance type. Here a stack of counters replaces the
//! recursion. Only types without other types inside are left to `wasmparser`.

use wasmparser::{BinaryReader, ComponentType, ComponentTypeDeclaration, InstanceTypeDeclaration};

use crate::Refused;
use crate::bounds;
use crate::census::Census;

/// Leading bytes of types with declarations (Component Model, Binary Format: type definitions).
const COMPONENT: u8 = 0x41;
const INSTANCE: u8 = 0x42;

/// Leading byte of a declaration with a type.
const TYPE: u8 = 0x01;

/// A list of declarations that is being read.
struct Open {
    component: bool,
    left: u32,
}

/// Counts the types of a section, including nested ones.
pub(crate) fn count(mut reader: BinaryReader<'_>, census: &mut Census) -> Result<(), Refused> {
    let mut left = reader.read_var_u32()?;
    let mut open: Vec<Open> = Vec::new();
    loop {
        match open.last_mut() {
            None if left == 0 => break,
            None => {
                left -= 1;
                enter(&mut reader, &mut open, census)?;
            }
            Some(Open { left: 0, .. }) => drop(open.pop()),
            Some(declarations) => {
                declarations.left -= 1;
                let component = declarations.component;
                if leading(&reader)? == TYPE {
                    reader.read_u8()?;
                    enter(&mut reader, &mut open, census)?;
                    continue;
                }
                if component {
                    reader.read::<ComponentTypeDeclaration<'_>>()?;
                } else {
                    reader.read::<InstanceTypeDeclaration<'_>>()?;
                }
                add(census)?;
            }
        }
    }
    Ok(())
}

/// Reads a type, or only the beginning of a type with declarations.
fn enter(reader: &mut BinaryReader<'_>, open: &mut Vec<Open>, census: &mut Census) -> Result<(), Refused> {
    add(census)?;
    let kind = leading(reader)?;
    if kind != COMPONENT && kind != INSTANCE {
        reader.read::<ComponentType<'_>>()?;
        return Ok(());
    }
    reader.read_u8()?;
    let left = reader.read_var_u32()?;
    open.push(Open { component: kind == COMPONENT, left });
    census.type_depth = census.type_depth.max(open.len() as u64);
    bounds::TYPE_DEPTH.check(census.type_depth)
}

fn add(census: &mut Census) -> Result<(), Refused> {
    census.types += 1;
    bounds::TYPES.check(census.types)
}

/// Returns the next byte without consuming it.
fn leading(reader: &BinaryReader<'_>) -> Result<u8, Refused> {
    Ok(reader.clone().read_u8()?)
}
