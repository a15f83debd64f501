//! The bounds that requests are held to. Every default stands here and nowhere else.

use std::time::Duration;

/// What a request and its answer may come to.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request's body; 413 beyond. As the runtime has it.
    pub max_body_bytes: usize,
    /// How long a client may take for the head of a request, or to begin the next one; the connection is closed beyond. Longer than
    /// the runtime keeps a connection that it does not use: it is not the sidecar that closes first.
    pub header_timeout: Duration,
    /// How long a client may take for the body of a request; 408 beyond. As the runtime has it.
    pub body_timeout: Duration,
    /// How long a client that is being answered may take nothing at all; the connection is closed beyond. As the runtime has it.
    pub write_timeout: Duration,
    /// Connections; one more waits to be accepted.
    pub max_connections: usize,
    /// Bytes that are held for clients: bodies that are read, answers that are sent, connections; 503 beyond.
    pub max_buffered_bytes: usize,
    /// Bytes of a key or a storage path; 400 beyond. What S3 allows.
    pub max_key_bytes: usize,
    /// Keys or objects of one page of a list, when `limit` does not say.
    pub list_page: usize,
    /// The most that `limit` may ask for.
    pub max_list_page: usize,
    /// Statements of a batch.
    pub max_statements: usize,
    /// Parameters of a statement: as many as PostgreSQL takes, and fewer for a database that takes fewer.
    pub max_params: usize,
    /// Rows of one result; more is refused, not cut off.
    pub max_rows: usize,
    /// Bytes of the results of one answer as JSON.
    pub max_result_bytes: usize,
    /// Time that a request's statements may take in all.
    pub statement_timeout: Duration,
    /// Time between two statements of a transaction; it is rolled back beyond.
    pub transaction_idle: Duration,
    /// Time of a transaction in all; it is rolled back beyond.
    pub transaction_timeout: Duration,
    /// Connections to the database.
    pub pool_size: u32,
    /// How long a request waits for a connection; 503 beyond.
    pub queue_timeout: Duration,
    /// How long running requests may take to finish once the server is told to stop.
    pub shutdown_timeout: Duration,
}

impl Limits {
    /// Bytes of a value or a row inside of SQLite, whatever becomes of it; the statement fails beyond. A row that one answer
    /// has room for, and what one request adds to it: all that is stored by requests can be changed and read by them.
    pub(crate) fn max_sqlite_bytes(&self) -> usize {
        self.max_result_bytes.saturating_add(self.max_body_bytes)
    }

    /// Transactions that are open between requests: a quarter of the connections stays for other requests.
    pub(crate) fn max_transactions(&self) -> usize {
        (self.pool_size - self.pool_size.div_ceil(4)).max(1) as usize
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 10 * 1024 * 1024,
            header_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_connections: 1024,
            max_buffered_bytes: 256 * 1024 * 1024,
            max_key_bytes: 1024,
            list_page: 100,
            max_list_page: 1000,
            max_statements: 100,
            max_params: 65_535,
            max_rows: 10_000,
            max_result_bytes: 10 * 1024 * 1024,
            statement_timeout: Duration::from_secs(10),
            transaction_idle: Duration::from_secs(5),
            transaction_timeout: Duration::from_secs(30),
            pool_size: 8,
            queue_timeout: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}
