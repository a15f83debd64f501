//! A private folder of this user inside a shared one. Only Linux has one, because only there a folder can be reached through its
//! descriptor.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Private;
#[cfg(target_os = "linux")]
pub(crate) use linux::Private;
