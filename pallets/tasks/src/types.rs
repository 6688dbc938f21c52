//! Tasks, claims and disputes as the pallet keeps them.

use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	weights::Weight,
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_protocol::job::{Balance, BlockNumber};
use trainyard_task::{
	spec::{TaskFault, MAX_MODULE, MAX_REPLICAS, MAX_STATE},
	state::{Call, Fault},
	views::{Phase, Side, Stage},
	Claim, Limits, Nodes, TaskId, TaskSpec, TaskTerms, H256,
};

pub use trainyard_task::spec::{CHALLENGE_PART, MAX_APPLICANTS, MAX_INLINE};

/// Most claims of a task: of each replica, and of an auditor.
pub const MAX_CLAIMS: u32 = MAX_REPLICAS as u32 + 1;
/// How often an auditor is drawn.
pub const MAX_TRIES: u8 = 3;
/// Most disputes of a task that run at once with somebody who challenges.
pub const MAX_CHALLENGES: u32 = 16;
/// Most disputes of a task that run at once.
pub const MAX_DISPUTES: u32 = MAX_CHALLENGES + MAX_CLAIMS / 2;
/// Blocks between two looks at whether outputs are stored.
pub const POLL_BLOCKS: BlockNumber = 5;
/// Blocks until an auditor is drawn again where none was free.
pub const AUDIT_PAUSE: BlockNumber = 30;
/// Part of a deposit that is lost by who does not commit.
pub const SILENCE_PART: Balance = 4;
/// Most chunks of 1 KiB with a record, and what siblings their opening has.
pub const MAX_OPENED: u32 = MAX_STATE + 3 * 1024;
/// Most siblings of an opening.
pub const MAX_SIBLINGS: u32 = 64;

/// The bytes of a module.
pub type ModuleBytes = BoundedVec<u8, ConstU32<MAX_MODULE>>;
/// The bytes of a state.
pub type StateBytes = BoundedVec<u8, ConstU32<MAX_STATE>>;
/// An output that the chain keeps itself.
pub type Inline = BoundedVec<u8, ConstU32<MAX_INLINE>>;

/// What executes one step, or one index, of a task.
pub trait Referee {
	/// Executes it within these limits, of a module that may be anything. `None` where this machine cannot, which
	/// says nothing about the step. A module that may not be executed is a fault.
	fn execute(module: &[u8], limits: &Limits, call: Call<'_>) -> Option<Result<Vec<u8>, Fault>>;
	/// Returns the weight of [`Self::execute`] at worst: hashing and preparing the module, and as much fuel, memory
	/// and state.
	fn weight(limits: &Limits) -> Weight;
}

/// What can be due.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub enum Subject {
	/// A task.
	Task(TaskId),
	/// A dispute of a task.
	Dispute(TaskId, u32),
}

/// One that computes a task.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Replica<AccountId> {
	/// Who.
	pub who: AccountId,
	/// What is held of it; nothing of an auditor, whose bond answers.
	pub deposit: Balance,
	/// To what it committed.
	pub commitment: Option<H256>,
	/// Number of the claim that it showed.
	pub claim: Option<u8>,
}

/// A claim that was shown.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Claimed {
	/// What it says.
	pub claim: Claim,
	/// That it was convicted, or its output not stored.
	pub out: Option<Out>,
}

impl Claimed {
	/// Returns whether it was convicted, or its output was not stored.
	pub fn convicted(&self) -> bool {
		self.out.is_some()
	}
}

/// How a claim came out.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Out {
	/// In which block.
	pub at: BlockNumber,
	/// Whether something else was executed than it says; else its owner was silent, or stored nothing.
	pub proven: bool,
}

/// A task.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Task<AccountId> {
	/// Who posted it.
	pub submitter: AccountId,
	/// What is computed.
	pub spec: TaskSpec,
	/// What is offered.
	pub terms: TaskTerms,
	/// What is held of the submitter for rewards and an audit.
	pub escrow: Balance,
	/// What is held of it for the record.
	pub record: Balance,
	/// Where it stands.
	pub phase: Phase,
	/// Who applied.
	pub applicants: BoundedVec<AccountId, ConstU32<MAX_APPLICANTS>>,
	/// Who computes it.
	pub replicas: BoundedVec<Replica<AccountId>, ConstU32<{ MAX_REPLICAS as u32 }>>,
	/// Who audits it.
	pub auditor: Option<Replica<AccountId>>,
	/// Who was to audit it, and was silent.
	pub silent: BoundedVec<AccountId, ConstU32<{ MAX_TRIES as u32 }>>,
	/// What was claimed.
	pub claims: BoundedVec<Claimed, ConstU32<MAX_CLAIMS>>,
	/// Number of the next dispute.
	pub next_dispute: u32,
	/// Disputes that run.
	pub running: u32,
	/// Those of them with somebody who challenges.
	pub challenges: u32,
}

/// A dispute between two claims.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Dispute<AccountId> {
	/// Both sides. The first is a claim.
	pub sides: [Side<AccountId>; 2],
	/// How far it has come.
	pub stage: Stage,
	/// What was shown of the move that is due.
	pub shown: [Option<Nodes>; 2],
	/// The last block for that, unless the room for moves is full in some.
	pub until: BlockNumber,
	/// When the time for it began.
	pub since: BlockNumber,
	/// How many blocks had had room for moves then.
	pub ticks: u32,
}

/// What somebody sealed who will challenge.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Seal {
	/// To what it is bound.
	pub commitment: H256,
	/// What is held of it.
	pub deposit: Balance,
	/// When that was.
	pub at: BlockNumber,
}

/// The state with which the step in dispute begins, as it is brought.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub enum Brought {
	/// The bytes of module and state.
	Bytes {
		/// The module.
		module: ModuleBytes,
		/// The state.
		state: StateBytes,
	},
	/// A fault, after which nothing is executed.
	Fault(Fault),
}

/// A record of a map, as it is opened, with all that it is computed from.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct OpenedRecord {
	/// Its index.
	pub index: u32,
	/// Content hash of the file of all records.
	pub content: H256,
	/// The chunks of 1 KiB in which it is.
	pub chunks: BoundedVec<u8, ConstU32<MAX_OPENED>>,
	/// What lies beside the ways from these to the content hash.
	pub siblings: BoundedVec<H256, ConstU32<MAX_SIBLINGS>>,
	/// The module.
	pub module: ModuleBytes,
	/// The input.
	pub input: StateBytes,
}

/// Which rule a task breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Broken(pub TaskFault);

impl PalletError for Broken {
	// One byte: `TaskFault` has no fields.
	const MAX_ENCODED_SIZE: usize = 1;
}
