//! Modules that copy between the engine's memory and another one.
//!
//! No module here has two memories, because some servers and tools do not take such modules. One instance reads a memory and
//! calls another instance to write the other memory:
//!
//! ```text
//!  send (engine's memory) ── put, put-byte ──► put (module's memory)
//!  send (module's memory) ── put, put-byte ──► put (engine's memory)
//! ```

use crate::error::LinkError;
use crate::instances::Instances;
use crate::limits::number_of;

const PUT: &str = include_str!("put.wat");
const SEND: &str = include_str!("send.wat");

/// The engine's memory, as it exports it.
const ENGINE_MEMORY: &str = "memory";

/// The copying modules of a component, encoded once for each name of a memory.
pub(crate) struct Copying {
    /// The number of the first module.
    first: u32,
    engine: u32,
    modules: Vec<(&'static str, String, Vec<u8>)>,
    /// The instance that writes the engine's memory.
    put: Option<u32>,
}

/// The instances for one memory: they copy into it and out of it, and write it.
pub(crate) struct Copies {
    pub(crate) into: u32,
    pub(crate) out: u32,
    pub(crate) put: u32,
}

impl Copying {
    pub(crate) fn new(first: u32, engine: u32) -> Self {
        Self { first, engine, modules: Vec::new(), put: None }
    }

    /// Adds the instances for a memory that an instance exports.
    pub(crate) fn add(&mut self, instance: u32, memory: &str, made: &mut Instances) -> Result<Copies, LinkError> {
        let engine = self.engine;
        let to_engine = match self.put {
            Some(put) => put,
            None => made.add(self.module(PUT, ENGINE_MEMORY)?, &[("module", engine)]),
        };
        self.put = Some(to_engine);
        let put = made.add(self.module(PUT, memory)?, &[("module", instance)]);
        let into = made.add(self.module(SEND, ENGINE_MEMORY)?, &[("module", engine), ("to", put)]);
        let out = made.add(self.module(SEND, memory)?, &[("module", instance), ("to", to_engine)]);
        Ok(Copies { into, out, put })
    }

    /// Returns the number of a module for memories of a name.
    fn module(&mut self, source: &'static str, memory: &str) -> Result<u32, LinkError> {
        let known = self.modules.iter().position(|(of, name, _)| *of == source && name == memory);
        let index = match known {
            Some(index) => index,
            None => {
                let escaped: String = memory.bytes().map(|byte| format!("\\{byte:02x}")).collect();
                let module = wat::parse_str(source.replace("$MEMORY", &escaped)).map_err(LinkError::engine)?;
                self.modules.push((source, memory.to_owned(), module));
                self.modules.len() - 1
            }
        };
        Ok(self.first + number_of(index))
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = &[u8]> {
        self.modules.iter().map(|(_, _, module)| &**module)
    }

    /// The number of the next module.
    pub(crate) fn next(&self) -> u32 {
        self.first + number_of(self.modules.len())
    }
}
