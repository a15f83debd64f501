//! The methods for `tenon dev`: recent requests, transcripts of them, and pages.

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt;

use super::Runtime;
use crate::config::ms;
use crate::request::pages::Page;
use crate::request::request_id;
use crate::response::ResponseBody;
use crate::telemetry::recent::RecentRequest;
use crate::telemetry::transcript::Secrets;

impl Runtime {
    /// The last 200 requests, oldest first.
    #[must_use]
    pub fn recent_requests(&self) -> Vec<RecentRequest> {
        self.shared.telemetry.recent.all()
    }

    /// For development: records the last 50 requests, each with its headers and bodies, its log and its outbound calls.
    /// Every part is bounded. Transcripts cannot be turned off again.
    pub fn record_requests(&self) {
        self.shared.telemetry.recent.record();
    }

    /// The transcript of a request as JSON, by the number in [`RecentRequest::transcript`]. Credentials and secrets are masked.
    #[must_use]
    pub fn transcript(&self, number: u64) -> Option<String> {
        let registry = &self.shared.registry;
        let mut environment = registry.inherited().environment.clone();
        for (_, slot) in registry.all() {
            environment.extend_from_slice(&slot.shared_state.environment);
        }
        self.shared.telemetry.recent.view(number, &Secrets::of(&environment))
    }

    /// Sends the request of a transcript again, as it came and with another request id.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be sent: not all of it was kept.
    pub async fn send_again(&self, number: u64) -> Result<SentAgain, &'static str> {
        let recent = &self.shared.telemetry.recent;
        let request = recent.transcript(number).ok_or("it is not kept any more")?.request()?;
        let response = self.handle(request).await;
        let id = response.headers().get(request_id::HEADER).and_then(|id| id.to_str().ok());
        let sent = SentAgain { status: response.status(), transcript: id.and_then(|id| recent.newest(id)) };
        // A guest that streams its answer goes on for as long as somebody reads.
        tokio::spawn(tokio::time::timeout(
            ms(self.shared.limits.request_timeout_ms),
            read_to_end(response.into_body()),
        ));
        Ok(sent)
    }

    /// For development: serves `page` at the exact path `path`, before everything else. None takes it away.
    pub fn set_page(&self, path: impl Into<String>, page: Option<Page>) {
        self.shared.pages.set_page(path.into(), page);
    }

    /// For development: records that the newest source of `module` cannot be built. Until the next build, browsers
    /// (`Accept` has `text/html`) get `html` with status 500, and other clients the last good module's answer, or 503
    /// without one.
    pub fn set_build_error(&self, module: impl Into<String>, html: Option<Bytes>) {
        self.shared.pages.set_build_error(module.into(), html);
    }
}

/// A request that was sent again.
#[derive(Clone, Copy, Debug)]
pub struct SentAgain {
    /// The status of the answer.
    pub status: StatusCode,
    /// The number of its own transcript.
    pub transcript: Option<u64>,
}

async fn read_to_end(mut body: ResponseBody) {
    while let Some(Ok(_)) = body.frame().await {}
}
