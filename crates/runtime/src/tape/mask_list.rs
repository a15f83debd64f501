//! The headers, members and parameters whose values are masked.

use std::collections::BTreeSet;

use super::json::Pointer;

/// Headers that are masked in any case.
const ALWAYS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "set-cookie"];

/// The headers and values to mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskList {
    /// Headers of the operator's list, in small letters.
    headers: BTreeSet<String>,
    /// Parameters of queries, in small letters.
    parameters: BTreeSet<String>,
    pub(super) pointers: Vec<Pointer>,
    /// The pointers as they were written.
    pub(super) names: Vec<String>,
}

impl MaskList {
    /// Reads names of headers, JSON pointers after a `#`, and parameters after a `?`. The error is the entry that is none.
    pub(crate) fn parse(entries: &[String]) -> Result<Self, String> {
        let mut list =
            Self { headers: BTreeSet::new(), parameters: BTreeSet::new(), pointers: Vec::new(), names: Vec::new() };
        for entry in entries {
            // As in `cli/src/project/config/masks.ts`.
            let parameter = entry.strip_prefix('?').filter(|name| !name.is_empty() && !name.contains(['&', '=', '#']));
            if let Some(name) = parameter {
                list.parameters.insert(name.to_lowercase());
                continue;
            }
            match entry.strip_prefix('#') {
                Some(pointer) => {
                    list.pointers.push(Pointer::parse(pointer).ok_or_else(|| entry.clone())?);
                    list.names.push(entry.clone());
                }
                None => {
                    let name = http::HeaderName::try_from(entry.as_str()).map_err(|_| entry.clone())?;
                    list.headers.insert(name.as_str().to_string());
                }
            }
        }
        Ok(list)
    }

    /// Returns whether a header is masked. Its name is in small letters.
    pub(super) fn has_header(&self, name: &str) -> bool {
        ALWAYS.contains(&name) || self.names_header(name)
    }

    /// Returns whether the operator's list has a header, so that nothing of its value stays.
    pub(super) fn names_header(&self, name: &str) -> bool {
        self.headers.contains(name)
    }

    pub(super) fn has_parameters(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Returns whether a parameter is masked. Frameworks differ in the letters that they accept, so capital and small letters are the same.
    pub(super) fn has_parameter(&self, name: &str) -> bool {
        self.parameters.contains(&name.to_lowercase())
    }
}
