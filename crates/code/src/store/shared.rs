//! Code that components with other states share.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use tenon_memory::Image;
use wasmtime::Result;
use wasmtime::component::Component;

use super::{SHARED, STATE, Store, TEMPLATE, unnamed};
use crate::artifact;
use crate::code::Code;
use crate::compile::TakenApart;
use crate::compiler::Compiler;
use crate::image;
use crate::machine::{self, Machine};
use crate::trailer::{MachineTrailer, StateTrailer};

impl Store<'_> {
    /// Loads a component's state that an earlier call stored, and its shared code.
    pub(super) fn kept_state(&self, digest: &[u8]) -> Option<Code> {
        let folder = self.folder.as_ref()?;
        let name = self.name(digest, STATE);
        if !folder.holds(&name) {
            return None;
        }
        let mut file = File::open(folder.file(&name)).ok()?;
        let trailer = match state_trailer(&mut file, None) {
            Ok(trailer) => trailer?,
            Err(error) => {
                self.unusable(&name, &error.into());
                return None;
            }
        };
        let shared = self.name(&trailer.group, SHARED);
        let entry = self.loaded(&shared);
        let mut machines = entry.lock();
        let machine = match machines.find(self.engine, trailer.size) {
            Some(machine) => {
                folder.mark_used(&shared);
                machine
            }
            None => machines.add(self.kept_shared(&shared, trailer.size)?),
        };
        drop(machines);
        // SAFETY: only this user and root can write to the folder, and its files are replaced and never written to.
        let image = unsafe { image_at(file, &trailer, &machine) };
        match image {
            Ok(image) => Some(Code::new(machine, Some(image))),
            Err(error) => {
                self.unusable(&name, &error);
                None
            }
        }
    }

    /// Loads a component with shared code, which is loaded, derived from code with other globals, or compiled.
    pub(super) fn sharing(
        &self,
        digest: &[u8; 32],
        component: &[u8],
        apart: &TakenApart<'_>,
        image: &image::Image,
        compiler: &Compiler,
    ) -> Result<Code> {
        let (group, size) = (apart.group(), apart.state.size());
        let shared = self.name(&group, SHARED);
        let entry = self.loaded(&shared);
        // Components that load at the same time wait here for their common code.
        let mut machines = entry.lock();
        let known = machines.find(self.engine, size);
        let known = known.or_else(|| Some(machines.add(self.kept_shared(&shared, size)?)));
        let machine = match known {
            Some(machine) => machine,
            None => {
                let code = match self.derived(apart) {
                    Some(code) => code,
                    None => {
                        let compiled = compiler.run(self.engine, component)?;
                        if !compiled.takes_state {
                            drop(machines);
                            return self.keep_whole(digest, &compiled.code);
                        }
                        compiled.shared(apart)?
                    }
                };
                machines.add(self.keep_shared(&shared, &self.name(&apart.rest, TEMPLATE), &code)?)
            }
        };
        drop(machines);
        let trailer = StateTrailer { offset: 0, length: image.bytes.len() as u64, start: image.offset, size, group };
        self.keep_state(digest, image, &trailer, machine)
    }

    /// Finds this process's entry of shared code. Each folder has its own, so that a folder receives all files that its
    /// states need.
    fn loaded(&self, name: &str) -> machine::Entry {
        let folder = self.folder.as_ref();
        machine::entry(folder.map_or_else(|| PathBuf::from(name), |folder| folder.shown(name)))
    }

    /// Maps shared code that an earlier call stored. None when it does not serve a memory of this size.
    fn kept_shared(&self, name: &str, size: u64) -> Option<Machine> {
        if !self.folder.as_ref()?.holds(name) {
            return None;
        }
        match Machine::shared(self.map(name)?, true, 0) {
            Ok(machine) => (machine.declared() <= size).then_some(machine),
            Err(error) => {
                self.unusable(name, &error);
                None
            }
        }
    }

    /// Makes shared code from that of a component with other globals.
    fn derived(&self, apart: &TakenApart<'_>) -> Option<Vec<u8>> {
        let code = self.folder.as_ref()?.read(&self.name(&apart.rest, TEMPLATE))?;
        let trailer = MachineTrailer::of(&code).filter(|trailer| trailer.declared <= apart.state.size())?;
        let mut code = artifact::with_globals(&code, apart.module, &apart.state.globals)?;
        trailer.append(&mut code);
        Some(code)
    }

    /// Stores shared code and maps it.
    fn keep_shared(&self, name: &str, template: &str, code: &[u8]) -> Result<Machine> {
        if self.write(name, SHARED, code) {
            if let Some(folder) = &self.folder {
                if let Err(error) = folder.link(name, template) {
                    tracing::debug!("compiled code has no second name: {error}");
                }
                folder.prune(TEMPLATE, super::KEPT + self.components);
            }
            if let Some(component) = self.map(name) {
                return Machine::shared(component, true, 0);
            }
        }
        // SAFETY: the code was compiled by this engine, or made from code of the trusted folder, and has not left this
        // process since.
        Machine::shared(unsafe { Component::deserialize(self.engine, code) }?, false, 0)
    }

    /// Stores a component's image and opens it.
    fn keep_state(
        &self,
        digest: &[u8; 32],
        image: &image::Image,
        trailer: &StateTrailer,
        machine: Arc<Machine>,
    ) -> Result<Code> {
        let name = self.name(digest, STATE);
        let content = [&image.bytes[..], &trailer.encode()].concat();
        let written = if self.write(&name, STATE, &content) { self.folder.as_ref() } else { None };
        let file = match written.map(|folder| File::open(folder.file(&name))) {
            Some(Ok(file)) => file,
            _ => unnamed(&content)?,
        };
        // SAFETY: as in `kept_state`. A file without a name is this process's own, which no longer writes to it.
        let image = unsafe { image_at(file, trailer, &machine) }?;
        Ok(Code::new(machine, Some(image)))
    }
}

/// Reads the trailer of a state that ends at `end`, or with the file. None when there is none.
pub(crate) fn state_trailer(file: &mut File, end: Option<u64>) -> io::Result<Option<StateTrailer>> {
    let end = end.map_or_else(|| Ok(file.metadata()?.len()), io::Result::Ok)?;
    let mut trailer = [0; StateTrailer::LENGTH];
    file.seek(SeekFrom::Start(end.saturating_sub(trailer.len() as u64)))?;
    file.read_exact(&mut trailer)?;
    Ok(StateTrailer::of(&trailer))
}

/// Opens the image in a file.
///
/// # Safety
///
/// As for [`Image::of_file`].
pub(crate) unsafe fn image_at(file: File, trailer: &StateTrailer, machine: &Machine) -> Result<Image> {
    let (length, start) = (usize::try_from(trailer.length)?, usize::try_from(trailer.start)?);
    let (size, declared) = (usize::try_from(trailer.size)?, usize::try_from(machine.declared())?);
    // SAFETY: the caller's promise.
    let image = unsafe { Image::of_file(file, trailer.offset, length, start, size, declared) }?;
    Ok(image)
}
