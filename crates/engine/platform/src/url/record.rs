//! The record of a URL while it is parsed or changed (URL Standard, section 4.1).
use alloc::string::String;

use super::Url;
use super::host::push_decimal;

#[derive(Clone, Default)]
pub struct Record {
    pub scheme: String,
    pub username: String,
    pub password: String,
    /// Serialized. A URL of the form `scheme:path` has none.
    pub host: Option<String>,
    pub port: Option<u16>,
    /// Each segment after a slash; an opaque path as it is.
    pub path: String,
    pub has_opaque_path: bool,
    pub query: Option<String>,
    pub fragment: Option<String>,
}

pub fn is_special_scheme(scheme: &str) -> bool {
    matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp" | "file")
}

pub fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

/// A letter, and a colon or a bar.
pub fn is_drive_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

impl Record {
    pub fn is_special(&self) -> bool {
        is_special_scheme(&self.scheme)
    }

    pub fn is_file(&self) -> bool {
        self.scheme == "file"
    }

    pub fn includes_credentials(&self) -> bool {
        !self.username.is_empty() || !self.password.is_empty()
    }

    pub fn cannot_have_credentials_or_port(&self) -> bool {
        self.is_file() || self.host.as_ref().is_none_or(String::is_empty)
    }

    /// The first segment of a file's path, if it is a drive letter.
    pub fn drive(&self) -> Option<&str> {
        let first = self.path.strip_prefix('/')?.split('/').next()?;
        (is_drive_letter(first) && first.ends_with(':')).then_some(first)
    }

    /// Removes the last segment, but not the drive letter of a file.
    pub fn shorten_path(&mut self) {
        if self.is_file() && self.path.len() == 3 && self.drive().is_some() {
            return;
        }
        self.path.truncate(self.path.rfind('/').unwrap_or(0));
    }

    /// Sets the port, which is not kept if it is the scheme's default.
    pub fn set_port(&mut self, port: u16) {
        self.port = Some(port).filter(|&port| default_port(&self.scheme) != Some(port));
    }

    pub fn serialize(&self) -> Url {
        let length = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() + 1);
        let credentials = self.username.len() + self.password.len() + 4;
        let rest = self.path.len() + length(&self.query) + length(&self.fragment);
        let mut href = String::with_capacity(self.scheme.len() + credentials + length(&self.host) + rest + 8);
        href.push_str(&self.scheme);
        href.push(':');
        let mut url = Url { has_host: self.host.is_some(), has_opaque_path: self.has_opaque_path, ..Url::default() };
        url.protocol_end = href.len();
        if let Some(host) = &self.host {
            href.push_str("//");
            href.push_str(&self.username);
            url.username_end = href.len();
            if !self.password.is_empty() {
                href.push(':');
                href.push_str(&self.password);
            }
            url.password_end = href.len();
            if self.includes_credentials() {
                href.push('@');
            }
            url.host_start = href.len();
            href.push_str(host);
            url.hostname_end = href.len();
            if let Some(port) = self.port {
                href.push(':');
                push_decimal(u64::from(port), &mut href);
            }
        } else {
            url.username_end = href.len();
            url.password_end = href.len();
            url.host_start = href.len();
            url.hostname_end = href.len();
        }
        url.host_end = href.len();
        // Otherwise the path would be read as a host.
        if self.host.is_none() && !self.has_opaque_path && self.path.starts_with("//") {
            href.push_str("/.");
        }
        url.path_start = href.len();
        href.push_str(&self.path);
        url.path_end = href.len();
        if let Some(query) = &self.query {
            href.push('?');
            href.push_str(query);
        }
        url.query_end = href.len();
        if let Some(fragment) = &self.fragment {
            href.push('#');
            href.push_str(fragment);
        }
        url.href = href;
        url
    }
}
