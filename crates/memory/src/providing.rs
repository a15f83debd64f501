//! The image for the module that is being instantiated.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::Arc;

use crate::image::Image;
use crate::memories::Live;

thread_local! {
    static PROVIDED: RefCell<Provided> = const { RefCell::new(Provided::Nothing) };
}

/// The image that the caller provides, then the memory that it gets.
#[derive(Default)]
enum Provided {
    #[default]
    Nothing,
    Image(Arc<Image>),
    Memory(Live),
}

/// Runs `instantiate`; its first memory of the size that the image's module declares is backed by the image. That memory
/// starts with the image's own size. It is returned too.
pub async fn providing<T>(image: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> (T, Option<Live>) {
    let mut instantiate = pin!(instantiate);
    let mut provided = image.cloned().map_or(Provided::Nothing, Provided::Image);
    // One poll runs on one thread, but the next one may run on another.
    poll_fn(move |context| {
        let polled = {
            let _providing = Providing::new(&mut provided);
            instantiate.as_mut().poll(context)
        };
        polled.map(|made| match mem::take(&mut provided) {
            Provided::Memory(memory) => (made, Some(memory)),
            _ => (made, None),
        })
    })
    .await
}

/// Provides a value on this thread during its lifetime, then stores what is left of it in its place.
struct Providing<'a>(&'a mut Provided);

impl<'a> Providing<'a> {
    fn new(left: &'a mut Provided) -> Self {
        PROVIDED.set(mem::take(left));
        Self(left)
    }
}

impl Drop for Providing<'_> {
    fn drop(&mut self) {
        *self.0 = PROVIDED.take();
    }
}

/// Takes the image for a memory with this declared initial size.
pub(crate) fn take(declared: usize) -> Option<Arc<Image>> {
    PROVIDED.with_borrow_mut(|provided| match mem::take(provided) {
        Provided::Image(image) if image.declared() == declared => Some(image),
        other => {
            *provided = other;
            None
        }
    })
}

/// Stores the memory that starts with the image.
pub(crate) fn made(memory: Live) {
    PROVIDED.set(Provided::Memory(memory));
}
