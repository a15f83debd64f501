//! The image for the module that is being instantiated.
//!
//! Wasmtime's `MemoryCreator` gets sizes only: neither the store nor the module, and a component cannot import a core memory. So the
//! image cannot be passed to it as an argument. It is a thread-local during each poll of the instantiation, and the module is known
//! by its declared size, which rewriting makes unique in its component (`tenon_rewrite::Apart`). The caller is told whether a memory
//! has used the image.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::Arc;

use crate::Live;
use crate::image::Image;

thread_local! {
    static PROVIDED: RefCell<Option<Provided>> = const { RefCell::new(None) };
}

/// The image that the caller provides, and its uses.
struct Provided {
    image: Arc<Image>,
    is_used: bool,
    memories: Vec<Live>,
}

/// The use of an image.
#[derive(Default)]
pub struct Started {
    /// True when a memory starts with it.
    pub is_used: bool,
    /// That memory, if there is exactly one.
    pub memory: Option<Live>,
}

/// Runs `instantiate`. Memories of the size that the image's module declares, which no other module has, start with the image,
/// and with its size.
pub async fn providing<T>(image: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> (T, Started) {
    let mut instantiate = pin!(instantiate);
    let mut provided = image.map(|image| Provided { image: Arc::clone(image), is_used: false, memories: Vec::new() });
    // One poll runs on one thread, but the next one may run on another.
    let made = poll_fn(|context| {
        let _providing = Providing::new(&mut provided);
        instantiate.as_mut().poll(context)
    })
    .await;
    let started = provided.map(|Provided { is_used, mut memories, .. }| {
        let memory = memories.pop();
        Started { is_used, memory: memory.filter(|_| memories.is_empty()) }
    });
    (made, started.unwrap_or_default())
}

/// Provides a value on this thread during its lifetime, then stores what is left of it in its place.
struct Providing<'a>(&'a mut Option<Provided>);

impl<'a> Providing<'a> {
    fn new(left: &'a mut Option<Provided>) -> Self {
        PROVIDED.set(mem::take(left));
        Self(left)
    }
}

impl Drop for Providing<'_> {
    fn drop(&mut self) {
        *self.0 = PROVIDED.take();
    }
}

/// Returns the image for a memory with this declared initial size.
pub(crate) fn image(declared: usize) -> Option<Arc<Image>> {
    PROVIDED.with_borrow_mut(|provided| {
        let provided = provided.as_mut().filter(|provided| provided.image.declared() == declared)?;
        provided.is_used = true;
        Some(Arc::clone(&provided.image))
    })
}

/// Stores a memory that starts with the image.
pub(crate) fn made(memory: Live) {
    PROVIDED.with_borrow_mut(|provided| {
        if let Some(provided) = provided {
            provided.memories.push(memory);
        }
    });
}
