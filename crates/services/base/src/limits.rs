//! The limits of requests, with all defaults.

use std::time::Duration;

/// Limits of a request and its answer.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request's body; 413 beyond. The same as the runtime's.
    pub max_body_bytes: usize,
    /// Time for the head of a request, and between two requests; the connection is closed beyond. Longer than the
    /// runtime keeps an idle connection, so that the runtime closes first.
    pub header_timeout: Duration,
    /// Time for the body of a request; 408 beyond. The same as the runtime's.
    pub body_timeout: Duration,
    /// Time in which a client reads nothing of its answer; the connection is closed beyond. The same as the runtime's.
    pub write_timeout: Duration,
    /// Connections; further ones wait to be accepted.
    pub max_connections: usize,
    /// Bytes held for clients: request bodies, answers, connections; 503 beyond.
    pub max_buffered_bytes: usize,
    /// Bytes of a key or a storage path; 400 beyond. The same as S3's.
    pub max_key_bytes: usize,
    /// Keys or objects of one page of a list without `limit`.
    pub list_page: usize,
    /// The largest `limit`.
    pub max_list_page: usize,
    /// Statements of a batch.
    pub max_statements: usize,
    /// Parameters of a statement: PostgreSQL's limit; a database with a lower one applies its own.
    pub max_params: usize,
    /// Rows of a result; a larger one is refused, not cut off.
    pub max_rows: usize,
    /// Bytes of the results of one answer as JSON.
    pub max_result_bytes: usize,
    /// Total time of a request's statements.
    pub statement_timeout: Duration,
    /// Time between two statements of a transaction, which is rolled back beyond.
    pub transaction_idle: Duration,
    /// Total time of a transaction, which is rolled back beyond.
    pub transaction_timeout: Duration,
    /// Connections to the database.
    pub pool_size: u32,
    /// Time that a request waits for a connection; 503 beyond.
    pub queue_timeout: Duration,
    /// Bytes of memory of one connection to SQLite; its statement fails beyond.
    pub max_sqlite_memory: usize,
    /// Bytes of memory of all connections to SQLite together; 503 beyond.
    pub max_sqlite_memory_total: usize,
    /// Bytes of all temporary files of SQLite together; a statement that needs more fails.
    pub max_sqlite_temporary: usize,
    /// Time for running requests to finish at the stop.
    pub shutdown_timeout: Duration,
}

impl Limits {
    /// Bytes of a value or a row in SQLite; the statement fails beyond. It is the size of one answer plus one request,
    /// so that requests can change and read every stored row.
    pub fn max_sqlite_bytes(&self) -> usize {
        self.max_result_bytes.saturating_add(self.max_body_bytes)
    }

    /// Bytes of the values of one body's JSON; 413 beyond. Two such bodies fit at the same time, and a thousand usual ones.
    pub fn max_json_bytes(&self) -> usize {
        self.max_buffered_bytes / 3
    }

    /// Transactions that are open between requests: a quarter of the connections remains for other requests.
    pub fn max_transactions(&self) -> usize {
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
            max_sqlite_memory: 192 * 1024 * 1024,
            max_sqlite_memory_total: 512 * 1024 * 1024,
            max_sqlite_temporary: 256 * 1024 * 1024,
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}
