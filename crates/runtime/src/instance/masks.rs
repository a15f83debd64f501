//! The values of secrets, which log lines show by the secrets' names.

use std::borrow::Cow;

use crate::config::environment::SECRET_PREFIX;

/// The shortest value that is masked: shorter ones occur in ordinary words.
const MIN_BYTES: usize = 8;

/// Replaces the values of secrets in texts by `[secret NAME]`.
#[derive(Default)]
pub(crate) struct Masks(Vec<Mask>);

struct Mask {
    value: String,
    shown: String,
}

impl Masks {
    /// The masks of the secrets in an environment. A value of several lines, such as a key in PEM, is masked line by line.
    pub(crate) fn of(environment: &[(String, String)]) -> Self {
        let secrets = environment.iter().filter_map(|(name, value)| Some((name.strip_prefix(SECRET_PREFIX)?, value)));
        let mut masks: Vec<_> = secrets
            .flat_map(|(name, value)| value.lines().map(move |line| (name, line)))
            .filter(|(_, line)| line.len() >= MIN_BYTES)
            .map(|(name, line)| Mask { value: line.to_string(), shown: format!("[secret {name}]") })
            .collect();
        // A value may contain another one.
        masks.sort_by_key(|mask| std::cmp::Reverse(mask.value.len()));
        Self(masks)
    }

    /// A text without the values.
    pub(crate) fn apply<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        self.0.iter().fold(text, |text, Mask { value, shown }| {
            if text.contains(value.as_str()) { Cow::Owned(text.replace(value.as_str(), shown)) } else { text }
        })
    }

    /// How many bytes at the end of a part of a line may be the beginning of a value.
    pub(crate) fn begun(&self, part: &[u8]) -> usize {
        let begun = |mask: &Mask| {
            let value = mask.value.as_bytes();
            let longest = part.len().min(value.len().saturating_sub(1));
            (1..=longest).rev().find(|length| part.ends_with(&value[..*length])).unwrap_or(0)
        };
        self.0.iter().map(begun).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(secrets: &[(&str, &str)]) -> Masks {
        let own = secrets.iter().map(|(name, value)| (format!("{SECRET_PREFIX}{name}"), (*value).to_string()));
        Masks::of(&own.chain([("MODE".to_string(), "production".to_string())]).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_shown_by_their_names_and_other_variables_as_they_are() {
        let masks = masks(&[("KEY", "12345678"), ("LONG", "a-12345678-b"), ("SHORT", "1234567")]);
        let shown = |text: &'static str| masks.apply(Cow::Borrowed(text)).into_owned();
        assert_eq!(shown("{ key: '12345678', twice: 12345678 }"), "{ key: '[secret KEY]', twice: [secret KEY] }");
        assert_eq!(shown("a-12345678-b"), "[secret LONG]");
        assert_eq!(shown("1234567 in production"), "1234567 in production");
    }

    #[test]
    fn each_line_of_a_value_is_masked() {
        let masks = masks(&[("PEM", "-----BEGIN-----\nabcdefgh\r\nshort\n")]);
        assert_eq!(masks.apply(Cow::Borrowed("abcdefgh")), "[secret PEM]");
        assert_eq!(masks.apply(Cow::Borrowed("short")), "short");
    }

    #[test]
    fn the_beginning_of_a_value_is_found_at_the_end_of_a_part() {
        let masks = masks(&[("A", "aabaabaab"), ("B", "ab-cdefgh")]);
        for (part, begun) in
            [("", 0), ("x", 0), ("xa", 1), ("xaabaab", 6), ("xab-c", 4), ("ab-cdefgh", 0), ("aabaabaab", 6)]
        {
            assert_eq!(masks.begun(part.as_bytes()), begun, "{part}");
        }
        assert_eq!(Masks::default().begun(b"abc"), 0);
    }
}
