//! The image for the module that is being instantiated.

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

/// The image that the caller provides, and the memories that start with it.
struct Provided {
    image: Arc<Image>,
    memories: Vec<Live>,
}

/// Runs `instantiate`. Memories of the size that the image's module declares, which no other module has, start with the image,
/// and with its size. The memory is returned, too, if there is exactly one.
pub async fn providing<T>(image: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> (T, Option<Live>) {
    let mut instantiate = pin!(instantiate);
    let mut provided = image.map(|image| Provided { image: Arc::clone(image), memories: Vec::new() });
    // One poll runs on one thread, but the next one may run on another.
    let made = poll_fn(|context| {
        let _providing = Providing::new(&mut provided);
        instantiate.as_mut().poll(context)
    })
    .await;
    let mut memories = provided.map(|provided| provided.memories).unwrap_or_default();
    let memory = memories.pop();
    (made, memory.filter(|_| memories.is_empty()))
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
    PROVIDED.with_borrow(|provided| {
        let image = &provided.as_ref()?.image;
        (image.declared() == declared).then(|| Arc::clone(image))
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
