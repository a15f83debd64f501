//! When a job runs: five fields (minute, hour, day, month, weekday), or six with seconds in front, in UTC.

use chrono::{DateTime, Utc};
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Year};

/// Reads an expression; `@hourly` and its like are expressions too. One that never fires is an error.
pub(crate) fn parse(expression: &str) -> Result<Cron, String> {
    // croner has all of the usual names but this one.
    let expression = if expression.eq_ignore_ascii_case("@midnight") { "@daily" } else { expression };
    let parser = CronParser::builder().year(Year::Disallowed).build();
    let cron = parser.parse(expression).map_err(|error| match error {
        CronError::EmptyPattern => "`schedule` must not be empty".to_string(),
        // What croner says repeats what it was given.
        _ => "`schedule` is no cron expression: five fields (minute hour day month weekday), or six with seconds in front"
            .to_string(),
    })?;
    match next(&cron, Utc::now()) {
        Some(_) => Ok(cron),
        None => Err("`schedule` never fires".to_string()),
    }
}

/// The first time after `from`. Schedules know whole seconds only, and within one croner stands still.
pub(crate) fn next(cron: &Cron, from: DateTime<Utc>) -> Option<DateTime<Utc>> {
    cron.find_next_occurrence(&DateTime::from_timestamp(from.timestamp(), 0)?, false).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let from = "2026-03-01T10:00:30Z".parse().unwrap();
        for (expression, at) in [
            ("*/5 * * * *", "2026-03-01T10:05:00Z"),
            ("*/10 * * * * *", "2026-03-01T10:00:40Z"),
            ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
            ("@daily", "2026-03-02T00:00:00Z"),
            ("@midnight", "2026-03-02T00:00:00Z"),
            ("30 9 * * MON-FRI", "2026-03-02T09:30:00Z"),
        ] {
            assert_eq!(next(&parse(expression).unwrap(), from), Some(at.parse().unwrap()), "{expression}");
        }
    }

    #[test]
    fn fractions_of_a_second_are_passed() {
        let from = "2026-03-01T10:00:30.7Z".parse().unwrap();
        assert_eq!(next(&parse("* * * * * *").unwrap(), from), Some("2026-03-01T10:00:31Z".parse().unwrap()));
    }

    #[test]
    fn what_never_fires_is_refused() {
        for expression in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
            assert_eq!(parse(expression).unwrap_err(), "`schedule` never fires", "{expression}");
        }
        for expression in ["", "* * * *", "60 * * * *", "hunter2", "* * * * * * *", "*/0 * * * *"] {
            let said = parse(expression).unwrap_err();
            assert!(!said.contains("hunter2") && said != "`schedule` never fires", "{expression}: {said}");
        }
    }
}
