//! Code that components with other states share.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use tenon_memory::Image;
use wasmtime::Result;
use wasmtime::component::Component;

use super::{SHARED, STATE, Store, unnamed};
use crate::code::Code;
use crate::compile::Snapshot;
use crate::compiler::Compiler;
use crate::machine::{self, Machine};
use crate::trailer::StateTrailer;

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
        let machine = match machines.find(self.engine) {
            Some(machine) => {
                folder.mark_used(&shared);
                machine
            }
            None => machines.add(self.kept_shared(&shared)?),
        };
        drop(machines);
        // SAFETY: only this user and root can write to the folder, and its files are replaced and never written to.
        let image = unsafe { image_at(file, &trailer) };
        match image {
            Ok(image) => Some(Code::new(machine, Some(image))),
            Err(error) => {
                self.unusable(&name, &error);
                None
            }
        }
    }

    /// Loads a component with shared code, which is loaded or compiled.
    pub(super) fn sharing(
        &self,
        digest: &[u8; 32],
        component: &[u8],
        snapshot: &Snapshot,
        compiler: &Compiler,
    ) -> Result<Code> {
        let shared = self.name(&snapshot.group, SHARED);
        let entry = self.loaded(&shared);
        // Components that load at the same time wait here for their common code.
        let mut machines = entry.lock();
        let known = machines.find(self.engine);
        let machine = match known.or_else(|| Some(machines.add(self.kept_shared(&shared)?))) {
            Some(machine) => machine,
            None => {
                let code = snapshot.compiled(self.engine, component, compiler)?;
                machines.add(self.keep_shared(&shared, &code)?)
            }
        };
        drop(machines);
        self.keep_state(digest, snapshot, machine)
    }

    /// Stores code that was compiled on another machine.
    pub(crate) fn install(&self, snapshot: &Snapshot, code: &[u8]) -> Result<()> {
        // SAFETY: the caller trusts the code. Wasmtime itself refuses code that this processor cannot run.
        unsafe { Component::deserialize(self.engine, code) }?;
        self.write(&self.name(&snapshot.group, SHARED), SHARED, code);
        Ok(())
    }

    /// Finds this process's entry of shared code. Each folder has its own, so that a folder receives all files that its
    /// states need.
    fn loaded(&self, name: &str) -> machine::Entry {
        let folder = self.folder.as_ref();
        machine::entry(folder.map_or_else(|| PathBuf::from(name), |folder| folder.shown(name)))
    }

    /// Maps shared code that an earlier call stored.
    fn kept_shared(&self, name: &str) -> Option<Machine> {
        let is_there = self.folder.as_ref()?.holds(name);
        is_there.then(|| self.map(name)).flatten()
    }

    /// Stores shared code and maps it.
    fn keep_shared(&self, name: &str, code: &[u8]) -> Result<Machine> {
        if self.write(name, SHARED, code)
            && let Some(machine) = self.map(name)
        {
            return Ok(machine);
        }
        // SAFETY: the code was compiled by this engine and has not left this process.
        Ok(Machine::new(unsafe { Component::deserialize(self.engine, code) }?, false))
    }

    /// Stores a component's image and opens it.
    fn keep_state(&self, digest: &[u8; 32], snapshot: &Snapshot, machine: Arc<Machine>) -> Result<Code> {
        let name = self.name(digest, STATE);
        let trailer = snapshot.trailer(0);
        let content = [&snapshot.image.bytes[..], &trailer.encode()].concat();
        let written = if self.write(&name, STATE, &content) { self.folder.as_ref() } else { None };
        let file = match written.map(|folder| File::open(folder.file(&name))) {
            Some(Ok(file)) => file,
            _ => unnamed(&content)?,
        };
        // SAFETY: only this user and root can write to the folder, and its files are replaced and never written to. A file
        // without a name is this process's own, which no longer writes to it.
        let image = unsafe { image_at(file, &trailer) }?;
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
pub(crate) unsafe fn image_at(file: File, trailer: &StateTrailer) -> Result<Image> {
    let (length, start) = (usize::try_from(trailer.length)?, usize::try_from(trailer.start)?);
    let (size, declared) = (usize::try_from(trailer.size)?, usize::try_from(trailer.declared)?);
    // SAFETY: by the caller's promise nobody writes to the file while it is mapped.
    let image = unsafe { Image::of_file(file, trailer.offset, length, start, size, declared) }?;
    Ok(image)
}
