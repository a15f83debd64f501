//! PostgreSQL's errors as texts for the log and for the start.

use sqlx::postgres::PgConnectOptions;

/// The reason of an error, without the line of PostgreSQL's own source that sqlx adds to its messages.
pub fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        other => other.to_string(),
    }
}

/// The reason why there is no connection; names the server when the system reports it.
pub fn reason_at(address: &str, error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => format!("no connection to {address}: {error}"),
        other => reason(other),
    }
}

/// The server's address: host and port, or the folder of its socket.
pub fn address_of(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None if options.get_host().starts_with('/') => options.get_host().to_owned(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_connection_names_the_server() {
        let refused = || sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        for (url, place) in [
            ("postgres://app:secret@db.example:6432/a", "db.example:6432"),
            ("postgres://app@127.0.0.1/a", "127.0.0.1:5432"),
            ("postgres://app@%2Frun%2Fpostgres/a", "/run/postgres"),
        ] {
            let address = address_of(&url.parse().unwrap());
            let text = reason_at(&address, &refused());
            assert_eq!(text, format!("no connection to {place}: connection refused"));
        }
        assert_eq!(reason_at("db:5432", &sqlx::Error::RowNotFound), sqlx::Error::RowNotFound.to_string());
    }
}
