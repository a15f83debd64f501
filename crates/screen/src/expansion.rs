//! The size of a component once its instances are expanded.
//!
//! A compiler copies the definitions of a component into each place that instantiates it. Thirty components that each
//! instantiate the one before twice are a kilobyte of file and a billion definitions. So each component gets a weight:
//! its own definitions, and the weight of each component that it instantiates.

use crate::Refused;

/// The components that one component can name, by index.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Own definitions and those of instances, so far.
    weight: u64,
    /// The weight of each component in the index space; none for a component from elsewhere.
    components: Vec<Option<u64>>,
}

impl Scope {
    /// Counts definitions of the component itself.
    pub(crate) fn define(&mut self, count: u64) {
        self.weight = self.weight.saturating_add(count);
    }

    /// Adds a component to the index space.
    pub(crate) fn add(&mut self, weight: Option<u64>) {
        self.components.push(weight);
    }

    /// Returns the weight of the component at an index. None when it comes from elsewhere or does not exist.
    pub(crate) fn component(&self, index: u32) -> Option<u64> {
        self.components.get(index as usize).copied().flatten()
    }

    /// Counts an instance of the component at an index.
    pub(crate) fn instantiate(&mut self, index: u32) -> Result<(), Refused> {
        match self.components.get(index as usize) {
            Some(Some(weight)) => self.define(*weight),
            Some(None) => return Err(Refused::ForeignComponent),
            // The validator reports the missing index.
            None => {}
        }
        Ok(())
    }

    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }
}
