//! Classes of machines, and what a job may ask of each.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Most bytes of a file of decoded rows besides the rows: a head, the means and deviations of all
/// features, a hash.
pub(super) const ROWS_BESIDE: u64 = MIB;

/// The class of machines that train and verify a job. A job names one in its terms, and may ask no
/// more than its [`Limits`]. A larger class is one more variant and one more row of limits.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MachineClass {
	/// A machine with 8 GiB of memory.
	#[default]
	#[codec(index = 0)]
	Gib8,
	/// A machine with 32 GiB of memory and the processor and line that go with it: for models of some
	/// hundred million parameters.
	#[codec(index = 1)]
	Gib32,
}

/// What a job may ask of a machine of a class, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
	/// Memory of training and replaying, without the rows of the data.
	pub memory: u64,
	/// Rows of the data, decoded. They are kept in a file, and what fits memory is read into it.
	pub rows: u64,
	/// Text of the data, decompressed.
	pub text: u64,
	/// Bytes that a verifier fetches in a round.
	pub download: u64,
	/// Least rate at which they come, in bytes a second: the time for a verdict is counted by it.
	pub bandwidth: u64,
}

impl MachineClass {
	/// Every class, the smallest first.
	pub const ALL: [MachineClass; 2] = [MachineClass::Gib8, MachineClass::Gib32];

	/// Returns the limits of this class.
	///
	/// Of the memory, half is for tensors, a quarter for rows of the data (the rest of them is read from
	/// a file), and a quarter for the system and for what is counted too low. 2 GiB are fetched in
	/// half of the 12 minutes for a verdict at 48 Mbit/s, 32 GiB in 23 minutes at 200 Mbit/s. 12 GiB of
	/// text are decoded in a quarter of 12 minutes, at 14 ns a byte; a larger machine takes no more data.
	pub const fn limits(self) -> Limits {
		let data = Limits { memory: 0, rows: 4 * GIB, text: 12 * GIB, download: 0, bandwidth: 0 };
		match self {
			MachineClass::Gib8 => {
				Limits { memory: 4 * GIB, download: 2 * GIB, bandwidth: 6_000_000, ..data }
			}
			MachineClass::Gib32 => {
				Limits { memory: 16 * GIB, download: 32 * GIB, bandwidth: 25_000_000, ..data }
			}
		}
	}

	/// Returns the most bytes of disk that a seat on a committee can take, for any job of this
	/// class: what is fetched in a round, and the rows in a file. (What may be stored in a rescue is
	/// less than what is fetched.)
	pub const fn most_disk(self) -> u64 {
		let limits = self.limits();
		limits.download.saturating_add(limits.rows).saturating_add(ROWS_BESIDE)
	}

	/// Returns the least rate at which a machine of this class trains and replays, in FLOP/s: clocks
	/// of disputes, and the time for a verdict, are counted by it. Two cores of a server of 2020 with AVX2
	/// compute 60 GFLOP/s.
	pub const fn rate(self) -> u64 {
		match self {
			MachineClass::Gib8 => 2_000_000_000,
			MachineClass::Gib32 => 16_000_000_000,
		}
	}

	/// Returns the name, as it stands in a JOB.toml.
	pub const fn name(self) -> &'static str {
		match self {
			MachineClass::Gib8 => "gib8",
			MachineClass::Gib32 => "gib32",
		}
	}

	/// Returns the class of this name.
	pub fn named(name: &str) -> Option<Self> {
		Self::ALL.into_iter().find(|class| class.name() == name)
	}
}

/// What a job asks of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
	/// Memory of training and replaying.
	Memory,
	/// Rows of the data, decoded.
	Rows,
	/// Text of the data, decompressed.
	Text,
	/// Bytes that a verifier fetches in a round.
	Download,
	/// Bytes of what a trainer may have to store on chain besides states: files and manifest.
	Rescue,
	/// Bytes of the largest content of the decoded rows, which a trainer may have to store as one blob.
	Content,
}

/// What a chain carries of a result that nobody serves, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
	/// Most of all that is stored in a rescue. Of a state that is larger a relay committee decides.
	pub rescue: u64,
	/// Most of one blob.
	pub blob: u64,
}

/// How much a job needs of a resource, beside the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shortage {
	/// Of what.
	pub resource: Resource,
	/// What the job needs, in bytes.
	pub needed: u64,
	/// What it may need, in bytes.
	pub limit: u64,
}

impl Shortage {
	/// Returns whether the job needs more than it may.
	pub fn is_exceeded(&self) -> bool {
		self.needed > self.limit
	}
}

/// The number, the limit and what to do: for a job that needs too much.
impl fmt::Display for Shortage {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let (needed, limit) = (self.needed.div_ceil(MIB), self.limit / MIB);
		match self.resource {
			Resource::Memory => write!(
				f,
				"training or replaying it takes up to {needed} MiB of memory, and a machine of its \
				 class has {limit} MiB for that: name a larger class in terms.machine, or lower \
				 training.batch_size or the widths of the layers"
			),
			Resource::Rows => write!(
				f,
				"its rows are {needed} MiB when they are decoded, and a machine of its class takes \
				 {limit} MiB: give it fewer rows"
			),
			Resource::Text => write!(
				f,
				"its data may be {needed} MiB when they are decompressed, and a machine of its class \
				 decodes {limit} MiB in time: give it fewer rows, or the format npy"
			),
			Resource::Download => write!(
				f,
				"a verifier may have to fetch {needed} MiB in a round, and a machine of its class \
				 fetches {limit} MiB in time: name a larger class in terms.machine, or lower \
				 terms.audit_segments or terms.replicas, or train a smaller model on fewer data"
			),
			Resource::Rescue => write!(
				f,
				"where verifiers cannot fetch its files, {needed} MiB would have to be stored on chain, \
				 and {limit} MiB can be stored in the time for it. States that are larger are asked of a \
				 committee, files cannot be: give it fewer rows, or a smaller initial model"
			),
			Resource::Content => write!(
				f,
				"where verifiers cannot fetch its rows, {needed} MiB of them would have to be stored on \
				 chain as one blob, and a blob has at most {limit} MiB: give it fewer rows, or fewer \
				 inputs a row"
			),
		}
	}
}
