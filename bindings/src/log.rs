//! Log records for functions of JavaScript.

use std::collections::HashMap;

use napi::bindgen_prelude::{Either3, Function};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Result};
use napi_derive::napi;
use tenon_log::{Listener, LogRecord, Value};

/// A record of the log.
#[napi(object, object_from_js = false)]
pub struct NativeLogRecord {
    /// Milliseconds since 1970.
    pub time: f64,
    /// `error`, `warn`, `info` or `debug`.
    pub level: String,
    /// `module` for a line that a module writes, `access` for a request, otherwise a part of Tenon.
    pub target: String,
    pub message: String,
    pub module: Option<String>,
    pub request_id: Option<String>,
    /// All other fields.
    pub fields: HashMap<String, Either3<String, f64, bool>>,
}

impl From<LogRecord> for NativeLogRecord {
    fn from(LogRecord { time, level, target, message, module, request_id, fields }: LogRecord) -> Self {
        let value = |value| match value {
            Value::Text(text) => Either3::A(text),
            Value::Number(number) => Either3::B(number),
            Value::Bool(bool) => Either3::C(bool),
        };
        let fields = fields.into_iter().map(|(name, content)| (name, value(content))).collect();
        Self { time, level, target, message, module, request_id, fields }
    }
}

/// The log of this process for a function of JavaScript, until it is closed.
#[napi]
pub struct Log {
    listener: Option<Listener>,
}

#[napi]
impl Log {
    /// `wake` is called on Node's thread when records wait. Throws for a level that does not exist.
    #[napi(constructor)]
    pub fn new(level: String, #[napi(ts_arg_type = "() => void")] wake: Function<'_, (), ()>) -> Result<Self> {
        let wake = wake.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>();
        let wake = wake.max_queue_size::<1>().build_callback(|_| Ok(()))?;
        // The call fails when Node's thread has ended. Then nothing needs the records.
        let wake = move || {
            let _ = wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let listener = tenon_log::listen(&level, wake).map_err(|error| Error::from_reason(error.to_string()))?;
        Ok(Self { listener: Some(listener) })
    }

    /// Takes the waiting records. If some were dropped, the last record has their number.
    #[napi]
    pub fn take(&self) -> Vec<NativeLogRecord> {
        self.listener.iter().flat_map(Listener::take).map(NativeLogRecord::from).collect()
    }

    /// Ends the log. Waiting records are lost.
    #[napi]
    pub fn close(&mut self) {
        self.listener = None;
    }
}
