//! `tenon_runtime::RecentRequest` for Node.

use std::time::UNIX_EPOCH;

use napi_derive::napi;

/// A request that was answered.
#[napi(object)]
pub struct RecentRequest {
    /// Its request id.
    pub id: String,
    /// The time of its arrival, in milliseconds since 1970.
    pub time: f64,
    /// The module it was for; left out when it was for the runtime itself.
    pub module: Option<String>,
    /// Its method.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// The status of its answer; 499 when the client did not wait for it.
    pub status: u16,
    /// Milliseconds from the head of the request to that of the response.
    #[napi(js_name = "duration_ms")]
    pub duration_ms: f64,
}

impl From<tenon_runtime::RecentRequest> for RecentRequest {
    fn from(request: tenon_runtime::RecentRequest) -> Self {
        Self {
            id: request.id.to_string(),
            time: request.time.duration_since(UNIX_EPOCH).map_or(0.0, |since| (since.as_secs_f64() * 1000.0).floor()),
            module: request.module.map(|module| module.to_string()),
            method: request.method.to_string(),
            path: request.path,
            status: request.status.as_u16(),
            duration_ms: request.duration.as_secs_f64() * 1000.0,
        }
    }
}
