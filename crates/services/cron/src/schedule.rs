//! The times of a job: five fields (minute, hour, day, month, weekday), or six with seconds in front, in a time zone.
//!
//! Daylight saving follows `croner`, like most crons. A time of day (`30 2 * * *`) that a day lacks is due right after
//! the gap, and one that a day has twice is due at the first. A pattern (`*/10 * * * *`) follows local time: nothing in
//! the missing hour, and both of the repeated hours.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Year};

use super::invalid_job::InvalidJob;

/// Limit in bytes of an expression.
const MAX_BYTES: usize = 255;

/// A schedule in its time zone. Times are milliseconds since 1970.
pub(crate) struct Schedule {
    cron: Cron,
    zone: Tz,
}

impl Schedule {
    /// Parses an expression, including `@hourly` and the like. One that never fires is an error.
    pub(crate) fn parse(expression: &str, timezone: &str) -> Result<Self, InvalidJob> {
        let zone =
            timezone.parse().map_err(|_| InvalidJob::new("`timezone` must be an IANA name such as Europe/Berlin"))?;
        // croner lacks only this one of the usual names.
        let expression = if expression.eq_ignore_ascii_case("@midnight") { "@daily" } else { expression };
        if expression.len() > MAX_BYTES {
            return Err(InvalidJob::new(format!("`schedule` must not be longer than {MAX_BYTES} bytes")));
        }
        let parser = CronParser::builder().year(Year::Disallowed).build();
        let cron = parser.parse(expression).map_err(|error| match error {
            CronError::EmptyPattern => InvalidJob::new("`schedule` must not be empty"),
            // croner's error repeats the expression, so it is dropped.
            _ => InvalidJob::new(
                "`schedule` must be a cron expression: five fields (minute hour day month weekday), or six with seconds in front",
            ),
        })?;
        let schedule = Self { cron, zone };
        match schedule.next(Utc::now().timestamp_millis()) {
            Some(_) => Ok(schedule),
            None => Err(InvalidJob::new("`schedule` never fires")),
        }
    }

    /// Returns the first time after `from`.
    pub(crate) fn next(&self, from: i64) -> Option<i64> {
        let time = self.cron.find_next_occurrence(&self.local(from)?, false).ok()?;
        Some(time.timestamp_millis())
    }

    /// Returns the last time until `until`, which is included.
    pub(crate) fn latest(&self, until: i64) -> Option<i64> {
        let time = self.cron.find_previous_occurrence(&self.local(until)?, true).ok()?;
        Some(time.timestamp_millis())
    }

    /// Drops the milliseconds, because croner makes no progress within a second.
    fn local(&self, millis: i64) -> Option<DateTime<Tz>> {
        Some(DateTime::from_timestamp(millis.div_euclid(1000), 0)?.with_timezone(&self.zone))
    }
}

/// Returns the error of an expression and a time zone; none when they are valid. No value is repeated.
#[must_use]
pub fn schedule_problem(expression: &str, timezone: &str) -> Option<String> {
    Schedule::parse(expression, timezone).err().map(|invalid| invalid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenon_service::lease::iso;

    fn millis(time: &str) -> i64 {
        time.parse::<DateTime<Utc>>().unwrap().timestamp_millis()
    }

    fn times(expression: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let schedule = Schedule::parse(expression, zone).unwrap();
        let mut time = millis(from);
        let next = std::iter::from_fn(|| {
            time = schedule.next(time)?;
            Some(iso(time).replace(".000Z", "Z"))
        });
        next.take(count).collect()
    }

    #[test]
    fn expressions() {
        for (expression, at) in [
            ("*/5 * * * *", "2026-03-01T10:05:00Z"),
            ("*/10 * * * * *", "2026-03-01T10:00:40Z"),
            ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
            ("@daily", "2026-03-02T00:00:00Z"),
            ("@midnight", "2026-03-02T00:00:00Z"),
            ("30 9 * * MON-FRI", "2026-03-02T09:30:00Z"),
        ] {
            assert_eq!(times(expression, "UTC", "2026-03-01T10:00:30Z", 1), [at], "{expression}");
        }
    }

    #[test]
    fn fractions_of_a_second_are_passed() {
        assert_eq!(times("* * * * * *", "UTC", "2026-03-01T10:00:30.7Z", 1), ["2026-03-01T10:00:31Z"]);
    }

    #[test]
    fn schedules_that_never_fire_are_refused() {
        for expression in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
            assert_eq!(schedule_problem(expression, "UTC").unwrap(), "`schedule` never fires", "{expression}");
        }
        let long = "1,".repeat(200);
        for expression in ["", "* * * *", "60 * * * *", "hunter2", "* * * * * * *", "*/0 * * * *", &long] {
            let said = schedule_problem(expression, "UTC").unwrap();
            assert!(!said.contains("hunter2") && said != "`schedule` never fires", "{expression}: {said}");
        }
        assert!(schedule_problem("@daily", "Mars/Olympus").unwrap().starts_with("`timezone`"));
        assert_eq!(schedule_problem("@daily", "Europe/Berlin"), None);
    }

    /// In Berlin, 02:00 to 03:00 is missing on 29 March 2026, and repeated on 25 October.
    #[test]
    fn a_time_of_the_day_is_due_once_on_days_of_23_and_of_25_hours() {
        assert_eq!(
            times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
            ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
        );
        assert_eq!(
            times("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", 3),
            ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
        );
    }

    #[test]
    fn a_pattern_follows_the_clock_on_the_wall() {
        assert_eq!(
            times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3),
            ["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"]
        );
        assert_eq!(
            times("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 6),
            [
                "2026-10-25T00:00:00Z",
                "2026-10-25T00:30:00Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25T01:30:00Z",
                "2026-10-25T02:00:00Z",
                "2026-10-25T02:30:00Z"
            ]
        );
    }

    /// The two directions agree: no time lies between the latest one and now, and none is skipped.
    #[test]
    fn the_latest_time_is_the_one_before_the_next() {
        let expressions = ["30 2 * * *", "0 2 29 3 *", "*/10 * * * *", "15 1-3 * * *", "0 0 3 * * *", "@hourly"];
        for zone in ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] {
            for expression in expressions {
                let schedule = Schedule::parse(expression, zone).unwrap();
                for start in
                    ["2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2026-04-04T12:00:00Z", "2026-11-01T02:00:00Z"]
                {
                    for step in 0..60 {
                        let now = millis(start) + step * 499_000;
                        let latest = schedule.latest(now).unwrap();
                        let said = format!("{expression} in {zone} at {}: {}", iso(now), iso(latest));
                        assert!(latest <= now && schedule.next(now).unwrap() > now, "{said}");
                        assert_eq!(schedule.next(latest - 1000), Some(latest), "{said}");
                        assert!(schedule.next(latest).unwrap() > now - now % 1000, "{said}");
                    }
                }
            }
        }
    }
}
