//! URLs (URL Standard, section 6.1) by the crate `url`. `platform.h` documents the functions.
mod corrections;

use alloc::boxed::Box;
use url::{Url, quirks};

use crate::text::scalar_values;
use crate::{Text, bytes};

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
    let input = scalar_values(input);
    let parsed = if against {
        Url::parse(&scalar_values(base)).and_then(|base| base.join(&corrections::authority_slashes(&input, &base)))
    } else {
        Url::parse(&input)
    };
    parsed.ok().map(|url| Box::new(corrections::escape_path(url)))
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_url_part(url: &Url, part: Part) -> Text {
    let text = match part {
        Part::Href => quirks::href(url),
        Part::Protocol => quirks::protocol(url),
        Part::Username => quirks::username(url),
        Part::Password => quirks::password(url),
        Part::Host => quirks::host(url),
        Part::Hostname => quirks::hostname(url),
        Part::Port => quirks::port(url),
        Part::Pathname => quirks::pathname(url),
        Part::Search => quirks::search(url),
        Part::Hash => quirks::hash(url),
    };
    Text::of(text)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_url_assign(url: &mut Url, part: Part, value: *const u8, length: usize) -> bool {
    // SAFETY: the caller passes a readable range.
    let value = scalar_values(unsafe { bytes(value, length) });
    let result = match part {
        Part::Href => Url::parse(&value).map(|parsed| *url = corrections::escape_path(parsed)).map_err(|_| ()),
        Part::Protocol => quirks::set_protocol(url, &value),
        Part::Username => quirks::set_username(url, &value),
        Part::Password => quirks::set_password(url, &value),
        Part::Host => corrections::set_host(url, quirks::set_host, &value),
        Part::Hostname => corrections::set_host(url, quirks::set_hostname, &value),
        Part::Port if corrections::is_blank(&value) => Ok(()),
        Part::Port => quirks::set_port(url, &value),
        Part::Pathname => {
            corrections::set_pathname(url, &value);
            Ok(())
        }
        Part::Search => {
            quirks::set_search(url, &value);
            Ok(())
        }
        Part::Hash => {
            quirks::set_hash(url, &value);
            Ok(())
        }
    };
    result.is_ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_url_free(url: Option<Box<Url>>) {
    drop(url);
}
