//! The events of a request, in the order in which they happened.

/// A header's name and its value.
pub type Field = (String, Vec<u8>);

/// The beginning of the method of a request whose body comes in pieces; the client's method follows.
pub const BEGIN: &str = ":begin ";
/// A piece of that body, or none yet.
pub const PIECE: &str = ":piece";
/// The end of that body.
pub const END: &str = ":end";
/// The end of that body before its end.
pub const BROKEN: &str = ":broken";
/// Asks for the next piece of a streamed response.
pub const NEXT: &str = ":next";
/// Ends a streamed response.
pub const CANCEL: &str = ":cancel";

/// A request as the guest gets it (`sdk:core/handler`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method; one that begins with a colon is a function of `sdk:core/streams`.
    pub method: String,
    /// The path and the query.
    pub path: String,
    /// The headers in their order.
    pub headers: Vec<Field>,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// A response as the guest gives it, or as an outbound call returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers in their order.
    pub headers: Vec<Field>,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// The request of an outbound call (`sdk:core/calls`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The URL, or `sidecar:<name>/<path>`.
    pub url: String,
    /// The headers in their order.
    pub headers: Vec<Field>,
    /// The body, or the beginning of a streamed one.
    pub body: Option<Vec<u8>>,
    /// The time limit that the guest asked for, in milliseconds.
    pub timeout_ms: u32,
    /// The limit of the response's body that the guest asked for.
    pub max_bytes: u32,
    /// None for a whole call; else whether the guest writes more of the body.
    pub streamed: Option<bool>,
}

/// Kinds of failed calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The destination is not allowed, or nobody listens there.
    Refused,
    /// The destination cannot be reached.
    Unreachable,
    /// The call took too long.
    Timeout,
    /// The response is too large.
    TooLarge,
    /// The request is not valid.
    Invalid,
    /// The response broke off.
    Broken,
}

impl Reason {
    /// All kinds, by their numbers in a file.
    pub const ALL: [Self; 6] =
        [Self::Refused, Self::Unreachable, Self::Timeout, Self::TooLarge, Self::Invalid, Self::Broken];
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub reason: Reason,
    /// A sentence for the log.
    pub detail: String,
}

/// The outcome of reading from a streamed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the body.
    Bytes(Vec<u8>),
    /// Nothing has come since.
    Later,
    /// The end of the body.
    End,
    /// The body broke off.
    Failed(Failure),
}

/// A variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value; for a secret, a placeholder of the same length.
    pub value: String,
    /// True for a reference to a secret.
    pub is_secret: bool,
}

/// Something that passed between a guest and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The host called the guest with a request.
    Enter(Request),
    /// The guest returned from that call.
    Leave(Response),
    /// The guest trapped; the text names the trap.
    Trap(String),
    /// The monotonic clock, in nanoseconds since the request began.
    Monotonic(u64),
    /// The wall clock, in nanoseconds since 1970.
    Wall(u64),
    /// Random bytes.
    RandomBytes(Vec<u8>),
    /// A random number.
    RandomNumber(u64),
    /// The environment.
    Environment(Vec<Variable>),
    /// A call was started; the host gave it a number.
    Start(u32, Call),
    /// The guest waited, so many microseconds at most, and learned whether there is something to take.
    Wait(u32, bool),
    /// The guest took a call that had ended.
    Take(Option<(u32, Result<Response, Failure>)>),
    /// The guest took the number of a streamed call.
    Ready(Option<u32>),
    /// The guest read from a streamed call.
    Read(u32, Piece),
    /// The guest wrote to a streamed call; the host took so many bytes.
    Write(u32, Option<Vec<u8>>, Option<u32>),
    /// The guest ended a call.
    Cancel(u32),
    /// The guest wrote to its log; true for errors.
    Log(bool, Vec<u8>),
    /// The host ended the guest in the function that it called next; the text has the reason.
    Refused(String),
}

impl Event {
    /// Its kind, in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Enter(_) => "request",
            Self::Leave(_) => "answer",
            Self::Trap(_) => "trap",
            Self::Monotonic(_) => "monotonic time",
            Self::Wall(_) => "time",
            Self::RandomBytes(_) => "random bytes",
            Self::RandomNumber(_) => "random number",
            Self::Environment(_) => "environment",
            Self::Start(..) => "call",
            Self::Wait(..) => "wait",
            Self::Take(Some(_)) => "result of a call",
            Self::Take(None) => "no result yet",
            Self::Ready(_) => "ready stream",
            Self::Read(..) => "read",
            Self::Write(..) => "write",
            Self::Cancel(_) => "cancelled call",
            Self::Log(..) => "log",
            Self::Refused(_) => "end by the host",
        }
    }
}
