//! What the chain knows of its own finality.
//!
//! A runtime cannot see which of its blocks are final: nodes know it from votes that are no part of
//! any block. So the author of each block may put the height of the latest block that *it* knows to be
//! final into its block, by an inherent ([`Pallet::note_final`]), and [`statements`] makes of what all
//! authorities said last a height that more than two thirds of the weight vouch for, [`Final`].
//!
//! - Whoever has a third of the weight or more can keep [`Final`] from rising, by silence or by
//!   understating: as it can keep blocks from becoming final. Who uses it must be safe where it stays.
//! - To raise it above what any honest author has seen takes more than two thirds of the weight.
//! - It never falls, and it needs no set of GRANDPA: after a forced change it rises again as soon as
//!   nodes see blocks become final.
//! - Where a third or more is silent although blocks become final, root can raise it
//!   ([`Pallet::declare_final`]) to what authorities with more than a third said: root stands for the
//!   votes that are missing, and never for a height that nobody but a third vouches for.
//!
//! A block without the inherent is valid, and no node checks what others say against what it knows
//! itself: nodes learn of finality at different times.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(any(test, feature = "runtime-benchmarks")),
	deny(
		clippy::unwrap_used,
		clippy::expect_used,
		clippy::indexing_slicing,
		clippy::panic,
		clippy::arithmetic_side_effects
	)
)]

extern crate alloc;

#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
#[cfg(test)]
mod mock;
pub mod statements;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod views;
pub mod weights;

use sp_inherents::InherentIdentifier;

pub use pallet::*;
pub use weights::WeightInfo;

/// Under this name a node gives the height, a `u32`, of the latest block that it knows to be final.
pub const INHERENT_IDENTIFIER: InherentIdentifier = *b"trn_finl";

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use frame_support::pallet_prelude::*;
	use frame_system::pallet_prelude::*;
	use sp_inherents::{InherentData, MakeFatalError};
	use trainyard_protocol::job::BlockNumber;
	use trainyard_traits::SessionWeights;

	/// Version of the layout of this pallet's storage.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs from the runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The authorities of the running session and their weights.
		type Authorities: SessionWeights<Self::AccountId>;

		/// Who made the present block, asked while its transactions are executed.
		type Author: Get<Option<Self::AccountId>>;

		/// Most authorities of a session.
		#[pallet::constant]
		type MaxAuthorities: Get<u32>;

		/// Weights of the calls.
		type WeightInfo: WeightInfo;
	}

	/// The greatest height at which a block is final by the word of more than two thirds of the weight
	/// of a session. It never falls.
	#[pallet::storage]
	pub type Final<T> = StorageValue<_, BlockNumber, ValueQuery>;

	/// What authorities said last, ascending by account. Those of earlier sessions are left out as soon
	/// as somebody speaks in the running one.
	#[pallet::storage]
	pub type Statements<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, BlockNumber), T::MaxAuthorities>, ValueQuery>;

	/// The latest block whose author said something.
	#[pallet::storage]
	pub type Noted<T> = StorageValue<_, BlockNumber>;

	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// Root raised what is final.
		FinalDeclared {
			/// What was final before.
			before: BlockNumber,
			/// What is final now.
			height: BlockNumber,
			/// Weight of the authorities that said at least that.
			heard: u64,
			/// Weight of all authorities.
			total: u64,
		},
	}

	#[pallet::error]
	pub enum Error<T> {
		/// The author of this block has said already what is final.
		AlreadyNoted,
		/// A block cannot be final in itself, nor one that comes after it.
		NotBelow,
		/// The author said a greater height in an earlier block. What is final stays final.
		Lowered,
		/// Whoever made this block is no authority of the running session.
		NoAuthority,
		/// The block of this height is final already.
		AlreadyFinal,
		/// Authorities with a third of the weight or less said that the block of this height is final.
		TooFewSaid,
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Says that the block of this height is final, as far as the author of the present block knows.
		/// At most once in a block; nobody but the author can say it.
		#[pallet::call_index(0)]
		#[pallet::weight((T::WeightInfo::note_final(), DispatchClass::Mandatory))]
		pub fn note_final(
			origin: OriginFor<T>,
			#[pallet::compact] height: BlockNumber,
		) -> DispatchResult {
			ensure_none(origin)?;
			let author = Self::speaker(height)?;
			Self::note(&author, height)
		}

		/// Raises what is final to `height`, by root, where authorities with more than a third of the
		/// weight of the running session said at least that. For a chain whose bonds stay locked since a
		/// third or more is silent about what is final, also after `grandpa.noteStalled` or a hard fork
		/// gave the chain another set. Sessions that it overtakes are settled `UnbondingBlocks` later, and
		/// until then their authorities answer for them.
		#[pallet::call_index(1)]
		#[pallet::weight((T::WeightInfo::declare_final(), DispatchClass::Operational))]
		pub fn declare_final(
			origin: OriginFor<T>,
			#[pallet::compact] height: BlockNumber,
		) -> DispatchResult {
			ensure_root(origin)?;
			Self::declare(height)
		}
	}

	#[pallet::inherent]
	impl<T: Config> ProvideInherent for Pallet<T> {
		type Call = Call<T>;
		type Error = MakeFatalError<()>;

		const INHERENT_IDENTIFIER: InherentIdentifier = super::INHERENT_IDENTIFIER;

		/// Says what the node knows, where it can be said: a node whose database is younger than its
		/// earlier statements makes blocks without one.
		fn create_inherent(data: &InherentData) -> Option<Self::Call> {
			let height = data.get_data::<BlockNumber>(&super::INHERENT_IDENTIFIER).ok()??;
			Self::speaker(height).ok()?;
			Some(Call::note_final { height })
		}

		fn is_inherent(call: &Self::Call) -> bool {
			matches!(call, Call::note_final { .. })
		}
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn integrity_test() {
			assert!(T::MaxAuthorities::get() > 0, "MaxAuthorities: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}
}
