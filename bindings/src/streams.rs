//! The bodies of streamed responses that JavaScript reads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::BodyExt;
use tenon_runtime::ResponseBody;
use tokio::sync::Notify;

use crate::failure::Failure;

/// Bodies by their numbers.
#[derive(Default)]
pub(crate) struct Streams(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u32,
    streams: HashMap<u32, Arc<Stream>>,
}

struct Stream {
    body: tokio::sync::Mutex<Option<ResponseBody>>,
    ended: Notify,
}

impl Streams {
    /// Keeps a body, and returns its number.
    pub(crate) fn add(&self, body: ResponseBody) -> u32 {
        let mut numbered = self.numbered();
        numbered.last = numbered.last.wrapping_add(1);
        let (number, body) = (numbered.last, tokio::sync::Mutex::new(Some(body)));
        numbered.streams.insert(number, Arc::new(Stream { body, ended: Notify::new() }));
        number
    }

    /// The next piece of a body; none at its end, after which its number is forgotten.
    pub(crate) async fn piece(&self, number: u32) -> Result<Option<Bytes>, Failure> {
        let Some(stream) = self.numbered().streams.get(&number).map(Arc::clone) else { return Ok(None) };
        let next = async {
            let mut body = stream.body.lock().await;
            let piece = match body.as_mut() {
                Some(body) => next_piece(body).await,
                None => Ok(None),
            };
            if !matches!(piece, Ok(Some(_))) {
                *body = None;
            }
            piece
        };
        let piece = tokio::select! {
            piece = next => piece,
            () = stream.ended.notified() => Ok(None),
        };
        if !matches!(piece, Ok(Some(_))) {
            self.numbered().streams.remove(&number);
        }
        piece
    }

    /// Ends a stream before its end, if it goes on.
    pub(crate) fn end(&self, number: u32) {
        let stream = self.numbered().streams.remove(&number);
        if let Some(stream) = stream {
            // One that waits for a piece drops the body with the last reference.
            stream.ended.notify_one();
        }
    }

    fn numbered(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next bytes of a body. Trailers have none.
async fn next_piece(body: &mut ResponseBody) -> Result<Option<Bytes>, Failure> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::new("RESPONSE", error.to_string()))?;
        if let Ok(data) = frame.into_data()
            && !data.is_empty()
        {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
