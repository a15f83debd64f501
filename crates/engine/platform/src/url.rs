//! URLs (URL Standard), of which `platform.h` documents the functions.
//!
//! The parser is ours, because that of the crate `url` follows an earlier edition: it fails 76 of the Web Platform Tests.
//! Internationalized domains are the crate `idna`'s.
mod host;
mod parser;
mod percent;
mod record;
mod setters;

use alloc::boxed::Box;
use alloc::string::String;

use crate::text::scalar_values;
use crate::{Text, bytes};
use record::Record;

/// The input is not a URL, or not a valid value of a setter.
struct Invalid;

/// A serialized URL, with the places of its components. It is ASCII.
#[derive(Default)]
pub struct Url {
    href: String,
    protocol_end: usize,
    username_end: usize,
    password_end: usize,
    host_start: usize,
    hostname_end: usize,
    host_end: usize,
    path_start: usize,
    path_end: usize,
    query_end: usize,
    has_host: bool,
    has_opaque_path: bool,
}

/// A component that has a getter and a setter, numbered as `enum tenon_url_part`.
#[repr(u32)]
#[derive(Clone, Copy)]
#[expect(dead_code, reason = "C makes the values")]
pub enum Part {
    Href,
    Protocol,
    Username,
    Password,
    Host,
    Hostname,
    Port,
    Pathname,
    Search,
    Hash,
}

impl Url {
    fn part(&self, part: Part) -> &str {
        // A component without content is the same as none.
        let unless_alone = |start: usize, end: usize| if end - start > 1 { &self.href[start..end] } else { "" };
        match part {
            Part::Href => &self.href,
            Part::Protocol => &self.href[..self.protocol_end],
            Part::Username if self.has_host => &self.href[self.protocol_end + 2..self.username_end],
            Part::Username => "",
            Part::Password => unless_alone(self.username_end, self.password_end).get(1..).unwrap_or(""),
            Part::Host => &self.href[self.host_start..self.host_end],
            Part::Hostname => &self.href[self.host_start..self.hostname_end],
            Part::Port => unless_alone(self.hostname_end, self.host_end).get(1..).unwrap_or(""),
            Part::Pathname => &self.href[self.path_start..self.path_end],
            Part::Search => unless_alone(self.path_end, self.query_end),
            Part::Hash => unless_alone(self.query_end, self.href.len()),
        }
    }

    fn record(&self) -> Record {
        let own = |part| String::from(self.part(part));
        Record {
            scheme: String::from(&self.href[..self.protocol_end - 1]),
            username: own(Part::Username),
            password: own(Part::Password),
            host: self.has_host.then(|| own(Part::Hostname)),
            port: self.part(Part::Port).parse().ok(),
            path: own(Part::Pathname),
            has_opaque_path: self.has_opaque_path,
            query: self.href[self.path_end..self.query_end].strip_prefix('?').map(String::from),
            fragment: self.href[self.query_end..].strip_prefix('#').map(String::from),
        }
    }

    fn assign(&mut self, part: Part, value: &str) -> Result<(), Invalid> {
        if let Part::Href = part {
            *self = parser::parse(value, None)?.serialize();
            return Ok(());
        }
        let mut record = self.record();
        match part {
            Part::Href => {}
            Part::Protocol => setters::set_protocol(&mut record, value)?,
            Part::Username => setters::set_username(&mut record, value)?,
            Part::Password => setters::set_password(&mut record, value)?,
            Part::Host => setters::set_host(&mut record, value, true)?,
            Part::Hostname => setters::set_host(&mut record, value, false)?,
            Part::Port => setters::set_port(&mut record, value)?,
            Part::Pathname => setters::set_pathname(&mut record, value)?,
            Part::Search => setters::set_search(&mut record, value),
            Part::Hash => setters::set_hash(&mut record, value),
        }
        *self = record.serialize();
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_url_parse(
    input: *const u8,
    length: usize,
    base: *const u8,
    base_length: usize,
    against: bool,
) -> Option<Box<Url>> {
    // SAFETY: the caller passes two readable ranges.
    let (input, base) = unsafe { (bytes(input, length), bytes(base, base_length)) };
    let base = if against { Some(parser::parse(&scalar_values(base), None).ok()?) } else { None };
    let record = parser::parse(&scalar_values(input), base.as_ref()).ok()?;
    Some(Box::new(record.serialize()))
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_url_part(url: &Url, part: Part) -> Text {
    Text::of(url.part(part))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_url_assign(url: &mut Url, part: Part, value: *const u8, length: usize) -> bool {
    // SAFETY: the caller passes a readable range.
    let value = scalar_values(unsafe { bytes(value, length) });
    url.assign(part, &value).is_ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_url_free(url: Option<Box<Url>>) {
    drop(url);
}
