//! Talks to the chain as a worker does: it reads views from the runtime API, and sends
//! transactions.
//!
//! - [`Chain`] is a connection that repairs itself: it connects again when the node restarts, and
//!   refuses to go on with a different chain or protocol. `queries.rs` has its requests.
//! - [`calls`] are the extrinsics, with the types that `trainyard-protocol` defines.
//! - [`Transactor`] signs and sends them, several in a row if need be, and says in words
//!   why the chain refused one.
//! - [`blobs`] stores files on chain and reads them back, checked against their roots.
//! - [`books`] are what moved on an account, and what is held of it.
//! - [`court`] are the disputes, their clocks and their moves.
//! - [`keys`] turns `--suri` or a key file into a key, and [`VrfKey`] derives from it the one by which
//!   a verifier draws for itself.
//!
//! No code is generated from metadata: the bytes are SCALE of our own types, and the indices of
//! pallets and calls are looked up by name in the metadata of the connected node.
//!
//! # Example
//!
#![doc = "```rust,no_run"]
#![doc = include_str!("../examples/submit_job.rs")]
#![doc = "```"]

pub mod amount;
mod babe;
pub mod bets;
pub mod blobs;
pub mod books;
pub mod calls;
pub mod claims;
mod client;
pub mod court;
mod error;
#[cfg(any(test, feature = "testing"))]
pub mod fake;
pub mod federation;
mod forced;
pub mod keys;
pub mod pools;
mod queries;
pub mod seat;
pub mod sets;
pub mod swarm;
pub mod tasks;
mod transact;
mod vrf;

pub use calls::Call;
pub use client::{Chain, Head, Link};
pub use error::ChainError;
pub use federation::{FederationView, ProposalView};
pub use forced::ForcedKey;
pub use queries::Account;
pub use sets::SetView;
pub use tasks::TaskView;
pub use transact::{Form, Included, Pending, Refusal, Transactor, TxError, MORTALITY};
pub use vrf::VrfKey;

pub use subxt::utils::AccountId32;
use trainyard_protocol::{audit, drill, relay, stint, views};

/// A job, its parties named by account.
pub type JobView = views::JobView<AccountId32>;
/// A replica of a job.
pub type ReplicaView = views::ReplicaView<AccountId32>;
/// The audit of a job.
pub type AuditView = views::AuditView<AccountId32>;
/// One distinct result under audit.
pub type GroupView = views::GroupView<AccountId32>;
/// One member of a committee.
pub type MemberView = views::MemberView<AccountId32>;
/// A segment of somebody's evidence that another seat replays.
pub type RecheckView = views::RecheckView<AccountId32>;
/// A settled job whose accepted results can still be challenged.
pub type LateView = views::LateView<AccountId32>;
/// A trainer whose result was accepted and can still be challenged.
pub type LockedView = views::LockedView<AccountId32>;
pub use trainyard_protocol::views::RescuedView;
/// A verifier's verdicts on all distinct results of a job.
pub type Findings = audit::Findings<AccountId32>;
/// A verifier's verdict on one of them.
pub type GroupVerdict = audit::GroupVerdict<AccountId32>;
/// What a verifier accuses a trainer of.
pub type Rejection = audit::Rejection<AccountId32>;
/// A trainer.
pub type TrainerView = views::TrainerView<AccountId32>;
/// What the chain knows of its own finality.
pub type FinalityView = views::FinalityView<AccountId32>;
/// A piece that is asked of a committee because it is too large for the chain.
pub type RelayView = relay::RelayView<AccountId32>;
/// A seat of such a committee.
pub type RelaySeatView = relay::RelaySeatView<AccountId32>;
/// A trainer's offer.
pub type ListingView = views::ListingView<AccountId32>;
/// A blob on chain.
pub type BlobView = views::BlobView<AccountId32>;
/// A blob as it stands in the list of all.
pub type StoredView = views::StoredView<AccountId32>;
/// A blob as a version of others.
pub type VersionView = views::VersionView<AccountId32>;
/// A project of drilling.
pub type ProjectView = drill::ProjectView<AccountId32>;
/// A unit of drilling in the hands of drillers, or of verifiers.
pub type AssignmentView = drill::AssignmentView<AccountId32>;
/// A report of a stint that is not settled.
pub type ReportView = stint::ReportView<AccountId32>;
