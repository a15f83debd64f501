//! Dates and times: ISO 8601 in JSON, days or microseconds since 2000 in PostgreSQL.
//!
//! Every value of PostgreSQL has a text, which reads back as the same value: years beyond 9999 have a sign
//! (`+10000-01-01`), and the year 0 is 1 BC, as in ISO 8601. PostgreSQL's own texts are accepted as well.

/// PostgreSQL's "infinity", later than every other.
const INFINITY: i64 = i64::MAX;
const NEGATIVE_INFINITY: i64 = i64::MIN;

const DAY: i64 = 86_400_000_000;

/// PostgreSQL's ranges of dates in days, and of timestamps in microseconds.
const DATES: std::ops::Range<i64> = -2_451_545..2_145_031_949;
const TIMESTAMPS: std::ops::Range<i64> = -211_813_488_000_000_000..9_223_371_331_200_000_000;

pub(crate) fn encode_date(text: &str) -> Option<Vec<u8>> {
    let days = match text {
        "infinity" => i32::MAX,
        "-infinity" => i32::MIN,
        // The date of a timestamp is a date, too.
        _ => i32::try_from(Moment::parse(text)?.days).ok().filter(|days| DATES.contains(&(*days).into()))?,
    };
    Some(days.to_be_bytes().to_vec())
}

pub(crate) fn decode_date(bytes: [u8; 4]) -> String {
    match i32::from_be_bytes(bytes) {
        i32::MAX => "infinity".into(),
        i32::MIN => "-infinity".into(),
        days => write_date(days.into()),
    }
}

pub(crate) fn encode_time(text: &str) -> Option<Vec<u8>> {
    let (micros, rest) = parse_time(text)?;
    rest.is_empty().then(|| micros.to_be_bytes().to_vec())
}

pub(crate) fn decode_time(bytes: [u8; 8]) -> String {
    write_time(i64::from_be_bytes(bytes))
}

/// With a zone, a text without one is in UTC; without a zone, one in the text is ignored, as in PostgreSQL.
pub(crate) fn encode_timestamp(text: &str, zone: bool) -> Option<Vec<u8>> {
    let micros = match text {
        "infinity" => INFINITY,
        "-infinity" => NEGATIVE_INFINITY,
        _ => {
            let moment = Moment::parse(text)?;
            let offset = if zone { moment.offset } else { 0 };
            let micros = moment.days.checked_mul(DAY)?.checked_add(moment.micros)?.checked_sub(offset)?;
            Some(micros).filter(|micros| TIMESTAMPS.contains(micros))?
        }
    };
    Some(micros.to_be_bytes().to_vec())
}

pub(crate) fn decode_timestamp(bytes: [u8; 8], zone: bool) -> String {
    match i64::from_be_bytes(bytes) {
        INFINITY => "infinity".into(),
        NEGATIVE_INFINITY => "-infinity".into(),
        micros => {
            let zone = if zone { "Z" } else { "" };
            format!("{}T{}{zone}", write_date(micros.div_euclid(DAY)), write_time(micros.rem_euclid(DAY)))
        }
    }
}

/// A date with or without a time and a zone.
struct Moment {
    /// Days since 2000-01-01.
    days: i64,
    /// Microseconds since midnight.
    micros: i64,
    /// The zone's offset from UTC, in microseconds.
    offset: i64,
}

impl Moment {
    fn parse(text: &str) -> Option<Self> {
        let (text, before_christ) = match text.strip_suffix(" BC") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (year, rest) = number(digits, 4, 7)?;
        let (month, rest) = number(rest.strip_prefix('-')?, 2, 2)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 2, 2)?;
        let year = match (before_christ, negative) {
            (false, false) => year,
            (false, true) => -year,
            (true, false) if year > 0 => 1 - year,
            (true, _) => return None,
        };
        let days = days_of(year, month, day);
        if date_of(days) != (year, month, day) {
            return None;
        }
        let (mut micros, mut offset) = (0, 0);
        if !rest.is_empty() {
            let (time, rest) = parse_time(rest.strip_prefix(['T', 't', ' '])?)?;
            micros = time;
            offset = parse_zone(rest)?;
        }
        Some(Self { days, micros, offset })
    }
}

/// A number of `min` to `max` digits, and the rest of the text.
fn number(text: &str, min: usize, max: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    ((min..=max).contains(&length)).then_some((digits.parse().ok()?, rest))
}

/// `10:05`, `10:05:30.25` or `24:00:00` in microseconds, and the rest of the text.
fn parse_time(text: &str) -> Option<(i64, &str)> {
    let (hours, rest) = number(text, 2, 2)?;
    let (minutes, mut rest) = number(rest.strip_prefix(':')?, 2, 2)?;
    let (mut seconds, mut micros) = (0, 0);
    if let Some(behind) = rest.strip_prefix(':') {
        (seconds, rest) = number(behind, 2, 2)?;
        if let Some(behind) = rest.strip_prefix('.') {
            let length = behind.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, behind) = behind.split_at(length);
            let fraction: f64 = format!("0.{digits}").parse().ok().filter(|_| length > 0)?;
            #[allow(clippy::cast_possible_truncation, reason = "from 0 to a million")]
            {
                // Rounds half to even, as PostgreSQL does.
                micros = (fraction * 1_000_000.0).round_ties_even() as i64;
            }
            rest = behind;
        }
    }
    let total = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    // A leap second is the next minute's first, as in PostgreSQL.
    (minutes < 60 && seconds <= 60 && total <= DAY).then_some((total, rest))
}

/// `Z`, `+02`, `+0200`, `+02:00` or `+02:00:30` in microseconds; nothing is UTC.
fn parse_zone(text: &str) -> Option<i64> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    if matches!(text, "" | "Z" | "z" | "UTC") {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let fields: Vec<&str> = match text.get(1..)? {
        // Only hours and minutes go without a colon.
        whole if whole.len() == 4 && !whole.contains(':') => vec![whole.get(..2)?, whole.get(2..)?],
        whole => whole.split(':').collect(),
    };
    let (mut seconds, mut unit) = (0, 3600);
    for field in fields {
        let (value, rest) = number(field, 2, 2)?;
        if unit == 0 || value >= 60 || !rest.is_empty() {
            return None;
        }
        seconds += value * unit;
        unit /= 60;
    }
    // PostgreSQL's own limit is just below 16 hours.
    (seconds < 16 * 3600).then_some(sign * seconds * 1_000_000)
}

fn write_date(days: i64) -> String {
    let (year, month, day) = date_of(days);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+05}-{month:02}-{day:02}"),
    }
}

fn write_time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let fraction = match micros % 1_000_000 {
        0 => String::new(),
        rest if rest % 1000 == 0 => format!(".{:03}", rest / 1000),
        rest => format!(".{rest:06}"),
    };
    format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Days from 0000-03-01 to 2000-01-01, in the Gregorian calendar.
const EPOCH: i64 = 730_425;

/// Days in 400 years.
const ERA: i64 = 146_097;

/// The days of a date since 2000-01-01, years counted from March on (Howard Hinnant, "chrono-compatible low-level date
/// algorithms").
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
}

/// Year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let of_era = days.rem_euclid(ERA);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = (shifted + 2) % 12 + 1;
    let year = days.div_euclid(ERA) * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str, zone: bool) -> String {
        decode_timestamp(encode_timestamp(text, zone).unwrap().try_into().unwrap(), zone)
    }

    fn date(text: &str) -> String {
        decode_date(encode_date(text).unwrap().try_into().unwrap())
    }

    #[test]
    fn timestamps() {
        assert_eq!(again("2026-03-01T10:00:00Z", true), "2026-03-01T10:00:00Z");
        assert_eq!(again("2026-03-01T10:00:00.123456+02:00", true), "2026-03-01T08:00:00.123456Z");
        for zone in ["-01:00:30", "-0100", "-01"] {
            assert!(again(&format!("2026-03-01T10:00{zone}"), true).starts_with("2026-03-01T11:00:"), "{zone}");
        }
        assert_eq!(again("1969-12-31 23:59:59.5", true), "1969-12-31T23:59:59.500Z");
        assert_eq!(again("2026-03-01T10:00:00+02:00", false), "2026-03-01T10:00:00");
        assert_eq!(again("2026-03-01", false), "2026-03-01T00:00:00");
        assert_eq!(again("infinity", true), "infinity");
        for wrong in [
            "soon",
            "2026-02-30",
            "2026-13-01",
            "2026-03-01T",
            "2026-03-01T25:00",
            "2026-03-01T10:00+1",
            "2026-03-01T10:00+010203",
            "2026-03-01T10:00+01:0203",
            "2026-03-01T10:00+0102:03",
            "2026-03-01T10:00+01:02:03:04",
            "2026-03-01T10:00+01:",
            "294277-01-01",
        ] {
            assert_eq!(encode_timestamp(wrong, true), None, "{wrong}");
        }
    }

    #[test]
    fn the_texts_of_postgresql() {
        for text in ["2026-03-01 10:00:00+00", "2026-03-01 12:00:00+02", "2026-03-01 06:30:00-03:30", "2026-03-01 1000"]
        {
            let read = encode_timestamp(text, true).map(|bytes| decode_timestamp(bytes.try_into().unwrap(), true));
            let wanted = (!text.ends_with("1000")).then(|| "2026-03-01T10:00:00Z".to_owned());
            assert_eq!(read, wanted, "{text}");
        }
        assert_eq!(again("0044-03-15 12:00:00+00 BC", true), "-0043-03-15T12:00:00Z");
        assert_eq!(again("10000-01-01 00:00:00", false), "+10000-01-01T00:00:00");
        assert_eq!(again("2026-12-31 24:00:00", false), "2027-01-01T00:00:00");
    }

    #[test]
    fn all_dates_come_back() {
        for days in (-2_451_545..2_145_031_948).step_by(1_000_003).chain([-2_451_545, 2_145_031_948, 0, -1, 59, 60]) {
            let text = decode_date(i32::to_be_bytes(days));
            assert_eq!(encode_date(&text).unwrap(), days.to_be_bytes(), "{text}");
        }
        for micros in (-211_813_488_000_000_000..9_223_371_331_199_999_999_i64).step_by(90_000_000_000_000_007) {
            for zone in [false, true] {
                let text = decode_timestamp(micros.to_be_bytes(), zone);
                assert_eq!(encode_timestamp(&text, zone).unwrap(), micros.to_be_bytes(), "{text}");
            }
        }
        assert_eq!(date("5874897-12-31"), "+5874897-12-31");
        assert_eq!(date("-4713-11-24"), "-4713-11-24");
        assert_eq!((encode_date("5874898-01-01"), encode_date("-4713-11-23")), (None, None));
    }

    #[test]
    fn dates_and_times() {
        assert_eq!(date("1999-12-31"), "1999-12-31");
        assert_eq!(date("2000-02-29"), "2000-02-29");
        assert_eq!(date("2026-03-01T10:00:00Z"), "2026-03-01");
        assert_eq!(encode_date("1900-02-29"), None);
        let time = |text: &str| decode_time(encode_time(text).unwrap().try_into().unwrap());
        assert_eq!(time("10:05:30.25"), "10:05:30.250");
        assert_eq!(
            (time("19:18:50.1934765"), time("19:18:50.1934775")),
            ("19:18:50.193476".into(), "19:18:50.193478".into())
        );
        assert_eq!(time("00:00"), "00:00:00");
        assert_eq!(time("24:00:00"), "24:00:00");
        for wrong in ["24:00:01", "10:60", "10:05:61", "10", "10:05:30.", "10:05:30Z"] {
            assert_eq!(encode_time(wrong), None, "{wrong}");
        }
    }
}
