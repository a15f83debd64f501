//! Which image the memory of the module that is being instantiated starts with.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use crate::image::Image;

thread_local! {
    static PROVIDED: RefCell<Option<Arc<Image>>> = const { RefCell::new(None) };
}

/// Does what instantiates a module: the first memory of the image's size that is made meanwhile starts with the image.
pub async fn providing<T>(image: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> T {
    let mut instantiate = pin!(instantiate);
    let mut left = image.cloned();
    // Whoever polls is on one thread until it is pending, and may be on another the next time.
    poll_fn(move |context| {
        let _providing = Providing::new(&mut left);
        instantiate.as_mut().poll(context)
    })
    .await
}

/// What is provided while this lives; then what is left of it, back where it was.
struct Providing<'a>(&'a mut Option<Arc<Image>>);

impl<'a> Providing<'a> {
    fn new(left: &'a mut Option<Arc<Image>>) -> Self {
        PROVIDED.replace(left.take());
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
    PROVIDED.with_borrow_mut(|provided| provided.take_if(|image| image.size() == size))
}
