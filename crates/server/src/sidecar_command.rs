//! The commands `sidecar sql`, `sidecar kv` and so on, from the table of kinds in `crates/services/src/kinds.rs`.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, value_parser};
use serde_json::{Map, Value};
use tenon_services::{Flag, FlagValue, Kind, sidecar_kinds};

use crate::command::SidecarOptions;

/// A sidecar to serve.
pub(crate) struct SidecarCommand {
    pub(crate) kind: &'static Kind,
    /// The options that all kinds have.
    pub(crate) common: SidecarOptions,
    /// The given options of the kind, by their keys in the settings.
    pub(crate) options: Map<String, Value>,
}

impl Subcommand for SidecarCommand {
    fn augment_subcommands(command: Command) -> Command {
        sidecar_kinds().fold(command, |command, kind| {
            let plain = Command::new(kind.name).about(format!("Serve {}", kind.summary));
            command.subcommand(SidecarOptions::augment_args(plain).args(kind.flags.iter().map(argument)))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        sidecar_kinds().any(|kind| kind.name == name)
    }
}

impl FromArgMatches for SidecarCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let (name, matches) = matches.subcommand().ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let kind = sidecar_kinds().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| Error::new(ErrorKind::InvalidSubcommand))?;
        let given = kind.flags.iter().filter_map(|flag| Some((flag.key.to_owned(), value(flag, matches)?)));
        Ok(Self { kind, common: SidecarOptions::from_arg_matches(matches)?, options: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(flag: &Flag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).help(flag.help);
    match flag.value {
        FlagValue::Switch => argument.action(ArgAction::SetTrue),
        FlagValue::Text => argument,
        FlagValue::Number(from) => argument.value_parser(value_parser!(u32).range(i64::from(from)..)),
        FlagValue::Names => argument.value_delimiter(','),
        FlagValue::Texts => argument.action(ArgAction::Append),
        FlagValue::Pairs => argument.action(ArgAction::Append).value_name("NAME=FILE").value_parser(pair),
    }
}

fn pair(text: &str) -> Result<(String, String), &'static str> {
    let filled = |(name, value): &(&str, &str)| !name.is_empty() && !value.is_empty();
    let (name, value) =
        text.split_once('=').filter(filled).ok_or("write a name and a file: authorization=/run/secrets/key")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The given value of an option, as the settings have it.
fn value(flag: &Flag, matches: &ArgMatches) -> Option<Value> {
    let text = |name: &String| Value::from(name.trim().to_lowercase());
    match flag.value {
        FlagValue::Switch => matches.get_flag(flag.name).then_some(Value::Bool(true)),
        FlagValue::Text => matches.get_one::<String>(flag.name).map(|text| text.as_str().into()),
        FlagValue::Number(_) => matches.get_one::<u32>(flag.name).map(|number| (*number).into()),
        FlagValue::Names => matches.get_many::<String>(flag.name).map(|names| names.map(text).collect()),
        FlagValue::Texts => matches.get_many::<String>(flag.name).map(|texts| texts.map(String::as_str).collect()),
        FlagValue::Pairs => matches
            .get_many::<(String, String)>(flag.name)
            .map(|pairs| Value::Object(pairs.map(|(name, value)| (name.clone(), value.as_str().into())).collect())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::command::{Arguments, Command as Given, Sidecars};

    fn given(line: &str) -> Result<SidecarCommand, Error> {
        let words = "tenon-server sidecar".split(' ').chain(line.split(' '));
        match Arguments::try_parse_from(words)?.command {
            Given::Sidecar(Sidecars::Serve(command)) => Ok(command),
            _ => panic!("another command"),
        }
    }

    #[test]
    fn options_are_those_of_the_kind() {
        let sql = given("sql --listen 127.0.0.1:0 --read-only --tables a,App.B --max-rows 7 --max-body 9").unwrap();
        assert_eq!(Value::Object(sql.options), json!({ "readOnly": true, "tables": ["a", "app.b"], "maxRows": 7 }));
        assert_eq!((sql.kind.name, sql.common.max_body), ("sql", Some(9)));
        let kv = given("kv --listen unix:///a.sock --prefix a:").unwrap();
        assert_eq!(Value::Object(kv.options), json!({ "prefix": "a:" }));
        let http =
            given("http --listen 127.0.0.1:0 --header-file a=/b --header-file c=/d --allow x --retries 0").unwrap();
        let expected = json!({ "headerFiles": { "a": "/b", "c": "/d" }, "allow": ["x"], "retries": 0 });
        assert_eq!(Value::Object(http.options), expected);
        for wrong in [
            "http --listen 127.0.0.1:0 --header-file a",
            "kv --listen 127.0.0.1:0 --read-only",
            "sql --listen 127.0.0.1:0 --max-rows 0",
            "mail",
            "kv",
        ] {
            assert!(given(wrong).is_err(), "{wrong}");
        }
    }
}
