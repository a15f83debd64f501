//! The clock and the priority of a thread, with one file for each system.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::{prefer_others, processor_time};
#[cfg(target_os = "macos")]
pub(crate) use macos::{prefer_others, processor_time};
#[cfg(windows)]
pub(crate) use windows::{prefer_others, processor_time};
