//! Brings files from the machines that have them, over [iroh]: connections that are dialled by the key of
//! the other side, through NAT by hole punching, and by a relay where that fails.
//!
//! - [`Location`] is where somebody serves, as it stands on chain: `iroh://ID,…`.
//! - [`Node`] is this machine's endpoint: it connects, and accepts connections within [`Limits`].
//! - A [`Shelf`] says which files are served. A file is a head and parts one after the other, and each part
//!   has the BLAKE3 hash of its bytes. Whoever fetches names the file by a path, is told the hashes
//!   ([`Index`]), and checks them against what it knows of the file before it takes a byte.
//! - [`download()`] takes a file from several sources at once. Every 16 KiB that come are checked against
//!   the hash of their part when they come, so whoever sends something else is found out, and dropped, by
//!   the first of them. What is whole is noted on disk, and not fetched again after a kill.
//! - A stream may also be one of bytes for another protocol ([`Node::open`], [`Incoming`]): the worker
//!   speaks HTTP over it for what is small and checked otherwise.
//!
//! No server of others is asked for anything: no relay and no directory but those that a [`Location`] or
//! [`Options`] names.

#![warn(missing_docs)]

mod deadlines;
mod download;
mod index;
mod location;
mod names;
mod node;
mod pace;
mod protocol;
mod provider;
mod record;
pub mod relay;
mod serve;
mod units;

pub use blake3::Hash;
pub use deadlines::{Deadlines, NoTimes, MOST_TEXT};
pub use download::{download, DownloadError, Fetched, Source, SourceError, Wanted};
pub use index::{Index, PartHash};
pub use iroh::{EndpointId, SecretKey, Signature};
pub use location::{Location, NotALocation, Relay, SCHEME};
pub use node::{Node, NodeError, OpenError, Options, Stream};
pub use pace::Pace;
pub use provider::{Layout, Shelf};
pub use record::path_of as record_of;
pub use serve::{Incoming, Limits, Serving};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
