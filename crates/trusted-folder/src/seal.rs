//! Records that a file's digest was verified. Only Linux has one, because a record needs a time of change that no program can set,
//! and a sign that the machine has restarted. Without a record, each process reads each file once.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Seal;
#[cfg(target_os = "linux")]
pub(crate) use linux::Seal;
