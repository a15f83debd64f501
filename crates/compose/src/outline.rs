//! The instances and components in a component.

use std::ops::Range;

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentAliasSectionReader, ComponentExportSectionReader,
    ComponentExternalKind, ComponentImport, ComponentImportSectionReader, ComponentInstance,
    ComponentInstanceSectionReader, ComponentInstantiationArg, ComponentTypeRef,
};

use crate::section::{self, Section};

/// Identifiers of sections (Component Model, Binary).
pub(crate) const CUSTOM: u8 = 0;
pub(crate) const CORE_MODULE: u8 = 1;
const COMPONENT: u8 = 4;
const INSTANCE: u8 = 5;
const ALIAS: u8 = 6;
const IMPORT: u8 = 10;
const EXPORT: u8 = 11;

/// Bytes before the first section.
const PREAMBLE: usize = 8;

/// Lists the sections of a component.
pub(crate) fn sections(component: &[u8]) -> Result<Vec<Section>, BinaryReaderError> {
    section::sections(component.get(PREAMBLE..).unwrap_or_default(), PREAMBLE)
}

/// An instance in a component, by its origin.
#[derive(Debug)]
pub enum Instance<'a> {
    /// It is imported under this name.
    Imported(&'a str),
    /// It is made of a component.
    Made {
        /// The component's number.
        component: u32,
        /// Its arguments.
        arguments: Box<[ComponentInstantiationArg<'a>]>,
    },
    /// It is an export of another instance.
    Part {
        /// The instance's number.
        of: u32,
        /// The export's name.
        name: &'a str,
    },
    /// It has another origin.
    Other,
}

/// A component's instances and components, by number, and its exports.
#[derive(Debug, Default)]
pub struct Outline<'a> {
    instances: Vec<Instance<'a>>,
    /// Functions that are exports of instances, by number.
    functions: Vec<Option<(u32, &'a str)>>,
    /// Their ranges in the file; none for an imported component.
    components: Vec<Option<Range<usize>>>,
    /// Names of exported instances, and the numbers of these.
    pub exports: Vec<(&'a str, u32)>,
}

impl<'a> Outline<'a> {
    /// Reads a component.
    ///
    /// # Errors
    ///
    /// The component is malformed.
    pub fn of(component: &'a [u8]) -> Result<Self, BinaryReaderError> {
        let mut outline = Self::default();
        for section in sections(component)? {
            let reader = section.reader(component);
            match section.id {
                COMPONENT => outline.components.push(Some(section.content)),
                IMPORT => {
                    for import in ComponentImportSectionReader::new(reader)? {
                        let ComponentImport { name, ty } = import?;
                        match ty {
                            ComponentTypeRef::Instance(_) => outline.instances.push(Instance::Imported(name.name)),
                            ComponentTypeRef::Component(_) => outline.components.push(None),
                            ComponentTypeRef::Func(_) => outline.functions.push(None),
                            _ => {}
                        }
                    }
                }
                INSTANCE => {
                    for instance in ComponentInstanceSectionReader::new(reader)? {
                        outline.instances.push(match instance? {
                            ComponentInstance::Instantiate { component_index: component, args: arguments } => {
                                Instance::Made { component, arguments }
                            }
                            ComponentInstance::FromExports(_) => Instance::Other,
                        });
                    }
                }
                ALIAS => {
                    for alias in ComponentAliasSectionReader::new(reader)? {
                        outline.add_alias(&alias?);
                    }
                }
                EXPORT => {
                    for export in ComponentExportSectionReader::new(reader)? {
                        let export = export?;
                        match export.kind {
                            // An export also gets a new number.
                            ComponentExternalKind::Instance => {
                                outline.exports.push((export.name.name, export.index));
                                outline.instances.push(Instance::Other);
                            }
                            ComponentExternalKind::Component => outline.components.push(None),
                            ComponentExternalKind::Func => outline.functions.push(None),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(outline)
    }

    fn add_alias(&mut self, alias: &ComponentAlias<'a>) {
        match *alias {
            ComponentAlias::InstanceExport { kind, instance_index: of, name } => match kind {
                ComponentExternalKind::Instance => self.instances.push(Instance::Part { of, name }),
                ComponentExternalKind::Func => self.functions.push(Some((of, name))),
                ComponentExternalKind::Component => self.components.push(None),
                _ => {}
            },
            ComponentAlias::Outer { kind: wasmparser::ComponentOuterAliasKind::Component, .. } => {
                self.components.push(None);
            }
            _ => {}
        }
    }

    /// Returns the instance with this number.
    #[must_use]
    pub fn instance(&self, index: u32) -> Option<&Instance<'a>> {
        self.instances.get(index as usize)
    }

    /// Returns the range of a component.
    #[must_use]
    pub fn range(&self, component: u32) -> Option<Range<usize>> {
        self.components.get(component as usize)?.clone()
    }

    /// Returns the instance of which an argument is an export, and the export's name.
    pub(crate) fn part(&self, argument: &ComponentInstantiationArg<'a>) -> Option<(u32, &'a str)> {
        match argument.kind {
            ComponentExternalKind::Func => *self.functions.get(argument.index as usize)?,
            ComponentExternalKind::Instance => match self.instance(argument.index)? {
                Instance::Part { of, name } => Some((*of, name)),
                _ => None,
            },
            _ => None,
        }
    }
}
