//! Why a certificate is refused, or cannot be made.

use trainyard_protocol::{job::BlockNumber, JobId, H256};

/// What is wrong with a certificate. Nothing in it is to be believed then.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
	/// The file is no certificate.
	#[error("this is no certificate: {0}")]
	Form(String),
	/// It is of another chain.
	#[error(
		"the certificate is of the chain with genesis {found:?}, and you named {wanted:?}: take the \
		 genesis hash from somebody you trust, not from the certificate"
	)]
	OtherGenesis {
		/// The hash of the genesis header in the certificate.
		found: H256,
		/// The one that was named.
		wanted: H256,
	},
	/// It is of another job.
	#[error("the certificate is of job {found}, and you named {wanted}")]
	OtherJob {
		/// The job that it names.
		found: JobId,
		/// The one that was named.
		wanted: JobId,
	},
	/// A value does not follow from a root.
	#[error("{what} is not proven: {reason}")]
	NotProven {
		/// Of what.
		what: String,
		/// Why.
		reason: String,
	},
	/// A proof has more than is needed: somebody put it there.
	#[error("the proof of {what} has {nodes} nodes that prove nothing")]
	Surplus {
		/// Of what.
		what: &'static str,
		/// How many.
		nodes: usize,
	},
	/// A proven value is not what this program knows under its name.
	#[error("{what} is proven, but unreadable: {reason}")]
	Unreadable {
		/// Which value.
		what: String,
		/// What does not fit.
		reason: String,
	},
	/// No block is proven to be final.
	#[error("the certificate names no final block")]
	NoFinalBlock,
	/// The blocks of the chain of authority sets do not rise.
	#[error("the proof of finality goes from block {from} to block {to}: it must rise")]
	NotRising {
		/// The height before.
		from: BlockNumber,
		/// The one that follows.
		to: BlockNumber,
	},
	/// The chain of authority sets is broken: a set follows that nothing announced.
	#[error(
		"block {number} announces no authorities, and the proof of finality goes on behind it: a part of \
		 the chain of authority sets is missing"
	)]
	NoChange {
		/// Which block.
		number: BlockNumber,
	},
	/// The authorities were changed by root, not by those before.
	#[error(
		"block {number} changed the authorities by force, since finality had stalled: those before did not \
		 agree, so nothing behind it follows from genesis. Certificates of this chain begin to end here"
	)]
	Forced {
		/// Which block.
		number: BlockNumber,
	},
	/// A set that begins later than it is announced.
	#[error("the authorities that block {number} announces begin {delay} blocks later, which is not supported")]
	Delayed {
		/// Which block.
		number: BlockNumber,
		/// How many blocks later.
		delay: BlockNumber,
	},
	/// A list of authorities that cannot vote.
	#[error("authority set {set} is empty, or its weights are too large")]
	BadSet {
		/// Which set.
		set: u64,
	},
	/// A justification is not one.
	#[error("block {number} is not shown to be final by authority set {set}: {fault}")]
	NotFinal {
		/// Which block.
		number: BlockNumber,
		/// By which set.
		set: u64,
		/// What is wrong with its justification.
		fault: Fault,
	},
	/// The state is that of a runtime whose layout this program does not know.
	#[error(
		"the block was made by the runtime {name} {version}, whose records this program does not know: it \
		 knows those of trainyard {known}. Take a newer trainyard"
	)]
	OtherRuntime {
		/// Name of the runtime.
		name: String,
		/// Its version.
		version: u32,
		/// Those that are known.
		known: String,
	},
	/// The job is not on record.
	#[error(
		"block {block} has no job {job}: it was never posted, or its records were removed, which happens a \
		 month after its end. A certificate must be made before; the chain does not have what it needs any \
		 more"
	)]
	NoJob {
		/// Which job.
		job: JobId,
		/// At which block.
		block: BlockNumber,
	},
	/// The job still runs.
	#[error("job {job} has not ended at block {block}: it is {state}")]
	NotEnded {
		/// Which job.
		job: JobId,
		/// At which block.
		block: BlockNumber,
		/// Where it stands.
		state: String,
	},
	/// The job has no result that counts.
	#[error(
		"job {job} ended as {ending}, with no result that counts: there is nothing to certify"
	)]
	NoResult {
		/// Which job.
		job: JobId,
		/// How it ended.
		ending: String,
	},
	/// The readable part says something else than what is proven.
	#[error("{at} is {said}, and what is proven is {proven}")]
	Differs {
		/// The field.
		at: String,
		/// What the file says.
		said: String,
		/// What follows from the evidence.
		proven: String,
	},
	/// A chain specification that has no state, or another chain's.
	#[error("the chain specification cannot be used: {0}")]
	Specification(String),
}

/// What is wrong with a justification.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
	/// It cannot be read.
	#[error("the justification cannot be decoded: {0}")]
	Undecodable(String),
	/// It is of another block.
	#[error("the justification is of block {number}, {hash:?}")]
	OtherBlock {
		/// Height of that block.
		number: BlockNumber,
		/// Its hash.
		hash: H256,
	},
	/// Somebody voted who is not in the set.
	#[error("{0} voted, and is no authority")]
	Stranger(String),
	/// A vote counts once.
	#[error("the vote of {0} is there more than once")]
	Doubled(String),
	/// The signature under a vote is not its voter's.
	#[error("the signature of {0} is not right")]
	Signature(String),
	/// Those who voted have too little weight.
	#[error(
		"those who voted have {weight} of {total} parts of the weight, and {needed} are needed"
	)]
	TooLittleWeight {
		/// Their weight.
		weight: u64,
		/// That of all.
		total: u64,
		/// The least that is enough.
		needed: u64,
	},
	/// A vote is for a block that does not descend from the one that is to be final.
	#[error("{0} voted for a block that is not shown to descend from this one")]
	Ancestry(String),
	/// The votes do not make this block final.
	#[error("the votes do not agree in this block")]
	NoCommit,
	/// Headers that lead from no vote to the block.
	#[error("it has {0} headers that no vote needs")]
	Surplus(usize),
}
