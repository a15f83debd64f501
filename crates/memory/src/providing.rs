//! Which image the memory of the module that is being instantiated starts with.

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

/// What whoever instantiates a module provides, and gets.
#[derive(Default)]
enum Provided {
    #[default]
    Nothing,
    Image(Arc<Image>),
    Memory(Live),
}

/// Does what instantiates a module: the first memory of the image's size that is made meanwhile starts with the image, and
/// is what is returned besides.
pub async fn providing<T>(image: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> (T, Option<Live>) {
    let mut instantiate = pin!(instantiate);
    let mut provided = image.cloned().map_or(Provided::Nothing, Provided::Image);
    // Whoever polls is on one thread until it is pending, and may be on another the next time.
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

/// What is provided while this lives; then what is left of it, back where it was.
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

/// The image of a memory that starts with so many bytes.
pub(crate) fn take(size: usize) -> Option<Arc<Image>> {
    PROVIDED.with_borrow_mut(|provided| match mem::take(provided) {
        Provided::Image(image) if image.size() == size => Some(image),
        other => {
            *provided = other;
            None
        }
    })
}

/// Takes note of the memory that starts with the image.
pub(crate) fn made(memory: Live) {
    PROVIDED.set(Provided::Memory(memory));
}
