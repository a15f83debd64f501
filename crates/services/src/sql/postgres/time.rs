//! Dates and times: ISO 8601 in JSON, days or microseconds since 2000 in PostgreSQL.

use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

/// PostgreSQL's "infinity", later than every other.
const INFINITY: i64 = i64::MAX;
const NEGATIVE_INFINITY: i64 = i64::MIN;

fn epoch() -> NaiveDateTime {
    DateTime::from_timestamp(946_684_800, 0).unwrap_or_default().naive_utc()
}

pub(crate) fn encode_date(text: &str) -> Option<Vec<u8>> {
    let days = match text {
        "infinity" => i32::MAX,
        "-infinity" => i32::MIN,
        _ => {
            // The date of a timestamp is a date, too.
            let date = text.split(['T', ' ']).next().unwrap_or(text).parse::<NaiveDate>().ok()?;
            i32::try_from(date.signed_duration_since(epoch().date()).num_days()).ok()?
        }
    };
    Some(days.to_be_bytes().to_vec())
}

pub(crate) fn decode_date(bytes: [u8; 4]) -> String {
    match i32::from_be_bytes(bytes) {
        i32::MAX => "infinity".into(),
        i32::MIN => "-infinity".into(),
        days => {
            let distance = Days::new(days.unsigned_abs().into());
            let date = epoch().date();
            let date = if days < 0 { date.checked_sub_days(distance) } else { date.checked_add_days(distance) };
            date.map_or_else(|| format!("2000-01-01 plus {days} days"), |date| date.to_string())
        }
    }
}

pub(crate) fn encode_time(text: &str) -> Option<Vec<u8>> {
    let time = text.parse::<NaiveTime>().ok()?;
    let micros = i64::from(time.num_seconds_from_midnight()) * 1_000_000 + i64::from(time.nanosecond() / 1000);
    Some(micros.to_be_bytes().to_vec())
}

pub(crate) fn decode_time(bytes: [u8; 8]) -> String {
    let micros = i64::from_be_bytes(bytes);
    let time = NaiveTime::MIN.overflowing_add_signed(TimeDelta::microseconds(micros)).0;
    // The end of a day is a time of its own.
    if micros == 86_400_000_000 {
        "24:00:00".into()
    } else {
        format!("{}{}", time.format("%H:%M:%S"), fraction(micros))
    }
}

/// With a zone, a text without one is in UTC; without one, what a text says of a zone is left out, as PostgreSQL does.
pub(crate) fn encode_timestamp(text: &str, zone: bool) -> Option<Vec<u8>> {
    let micros = match text {
        "infinity" => INFINITY,
        "-infinity" => NEGATIVE_INFINITY,
        _ => {
            let text = text.replacen(' ', "T", 1);
            let time = match DateTime::parse_from_rfc3339(&text) {
                Ok(time) if zone => time.naive_utc(),
                Ok(time) => time.naive_local(),
                Err(_) => naive(&text)?,
            };
            time.signed_duration_since(epoch()).num_microseconds()?
        }
    };
    Some(micros.to_be_bytes().to_vec())
}

fn naive(text: &str) -> Option<NaiveDateTime> {
    let short = || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").ok();
    text.parse().ok().or_else(short).or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0))
}

pub(crate) fn decode_timestamp(bytes: [u8; 8], zone: bool) -> String {
    match i64::from_be_bytes(bytes) {
        INFINITY => "infinity".into(),
        NEGATIVE_INFINITY => "-infinity".into(),
        micros => match epoch().checked_add_signed(TimeDelta::microseconds(micros)) {
            Some(time) => {
                let zone = if zone { "Z" } else { "" };
                format!("{}{}{zone}", time.format("%Y-%m-%dT%H:%M:%S"), fraction(micros))
            }
            None => format!("2000-01-01 plus {micros} microseconds"),
        },
    }
}

/// The microseconds, as far as there are any.
fn fraction(micros: i64) -> String {
    match micros.rem_euclid(1_000_000) {
        0 => String::new(),
        rest if rest % 1000 == 0 => format!(".{:03}", rest / 1000),
        rest => format!(".{rest:06}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str, zone: bool) -> String {
        decode_timestamp(encode_timestamp(text, zone).unwrap().try_into().unwrap(), zone)
    }

    #[test]
    fn timestamps() {
        assert_eq!(again("2026-03-01T10:00:00Z", true), "2026-03-01T10:00:00Z");
        assert_eq!(again("2026-03-01T10:00:00.123456+02:00", true), "2026-03-01T08:00:00.123456Z");
        assert_eq!(again("1969-12-31 23:59:59.5", true), "1969-12-31T23:59:59.500Z");
        assert_eq!(again("2026-03-01T10:00:00+02:00", false), "2026-03-01T10:00:00");
        assert_eq!(again("2026-03-01", false), "2026-03-01T00:00:00");
        assert_eq!(again("infinity", true), "infinity");
        assert_eq!(encode_timestamp("soon", true), None);
        assert_eq!(encode_timestamp("2026-02-30", true), None);
    }

    #[test]
    fn dates_and_times() {
        let date = |text: &str| decode_date(encode_date(text).unwrap().try_into().unwrap());
        assert_eq!(date("1999-12-31"), "1999-12-31");
        assert_eq!(date("2026-03-01T10:00:00Z"), "2026-03-01");
        let time = |text: &str| decode_time(encode_time(text).unwrap().try_into().unwrap());
        assert_eq!(time("10:05:30.25"), "10:05:30.250");
        assert_eq!(time("00:00"), "00:00:00");
    }
}
