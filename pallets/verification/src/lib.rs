//! Verifiers, and the audits that they carry out.
//!
//! - Verifiers [`Pallet::register`] with a bond and what they have room for. Each seat on a committee
//!   locks a fixed stake of the bond, which answers for what is said in it; committees are drawn in
//!   proportion to the seats that are free. Leaving takes an unbonding period, and returning none.
//! - Each names by [`Pallet::set_vrf_key`] the key of its own draws, without which it has no place.
//! - The [`pool`] changes slowly, so that nobody buys it: [`Config::TurnoverBlocks`].
//! - An audit says of every *distinct* result of a job ("group") whether it is accepted. Its owner (the
//!   task market) opens it, calls `Audits::advance` at the height that the audit returned, and again
//!   when `JobObserver::progressed` reports that something is done: this pallet has no clock of its own.
//! - A round: `committee` draws verifiers from randomness of blocks after the opening. Each draws
//!   segments for itself, by a verifiable random function; it replays and [`Pallet::commit`]s; when all
//!   have, or the time is up, they [`Pallet::reveal`] evidence of just these segments, or an accusation.
//!   `rounds` takes an audit from phase to phase, `verdicts` checks what is revealed.
//! - Nobody decides by a majority that a result is false: a rejection is a dispute that the court hears
//!   (`accusing`). While results *stand* anybody can challenge them and the evidence (`standing`). A
//!   result is accepted at the end of that if it was not convicted, no other one stands, and more than
//!   half of the seats revealed evidence that was not convicted either.
//! - Whoever lacks a state or the data names it by [`Pallet::request`] and prepays its bytes. What
//!   nobody gives it the trainers store on chain and [`Pallet::rescue`], or lose; see `claims`. How much
//!   somebody can ask for is in `shares` and `places`, and what it costs to say that something is not to be
//!   had and to ask for nothing in `unasked`.
//! - What is larger than blocks can carry a committee that is drawn for it has, or nobody; see `relay`.
//! - Where half of the seats or fewer give evidence, another committee is drawn. An audit has at most
//!   `MAX_AUDIT_ROUNDS` rounds, and each phase has a deadline, so it ends even if participants vanish.
//!   Where no committee can be drawn it waits, until its owner gives it up.
//! - A verifier that revealed has earned a fee, which the owner of the audit pays; one that did not
//!   loses a few fees to the jackpot, see `bonds`. Whose evidence is convicted, or who loses an
//!   accusation, loses a stake. Who is absent too often is paused.
//! - Other pallets draw from the same pool for recomputations of their own, see `recompute`.

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

mod accusing;
#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
mod bonds;
mod claims;
mod committee;
mod entry;
mod errors;
mod events;
mod forced;
mod forfeits;
mod known;
#[cfg(test)]
mod mock;
mod pieces;
mod places;
pub mod pool;
mod recompute;
mod rejections;
mod relay;
mod rescue;
mod rounds;
mod seats;
mod shares;
mod stakes;
mod standing;
mod storage;
#[cfg(test)]
mod tests;
mod tickets;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
mod unasked;
pub mod verdicts;
mod views;
pub mod weights;

use frame_support::pallet_macros::import_section;

pub use entry::{Entry, Tariff, REMEMBERED, SETTLING};
pub use pallet::*;
pub use pool::{PoolOf, Room};
pub use relay::{
	Appeal, Asking, Relay, RelaySeat, RelaySeats, SeatNumbers, MAX_RELAYS, MAX_RELAY_DRAWS,
};
pub use types::*;
pub use weights::WeightInfo;

#[import_section(events::events)]
#[import_section(errors::errors)]
#[import_section(storage::storage)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use alloc::vec::Vec;
	use frame_support::{
		pallet_prelude::*,
		traits::fungible::{Inspect, Mutate, MutateHold},
	};
	use frame_system::pallet_prelude::*;
	use sp_core::sr25519::Public;
	use sp_runtime::{Permill, SaturatedConversion};
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		accusation::LeafContent,
		audit::{Decision, Findings, Paths},
		forced::{AllForced, Opening, Secret},
		job::{Balance, BlockNumber},
		pieces::{Answers, BundleLeaves, Piece, Pieces},
		relay::{ChunkOpening, RelayId, RelayView},
		seats::Resources,
		views::{AuditView, Standing, VerifierView},
		JobId, Text,
	};
	use trainyard_traits::{
		Accusation, AwaitedBlobs, Beacon, Court, DisputeId, JobDeeds, JobObserver, PieceChunks,
		Specs,
	};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(2);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// Weights of this pallet's calls.
		type WeightInfo: WeightInfo;

		/// The currency of bonds.
		type Currency: Inspect<Self::AccountId, Balance = Balance>
			+ Mutate<Self::AccountId>
			+ MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's overarching hold reason.
		type RuntimeHoldReason: From<HoldReason>;

		/// Randomness of blocks that did not exist when the results were revealed.
		type Beacon: Beacon;

		/// Called when everyone in a phase of an audit is done.
		type Observer: JobObserver;

		/// Who hears what seats accuse others of.
		type Court: Court<Self::AccountId>;

		/// What is remembered of seats.
		type Deeds: JobDeeds<Self::AccountId>;

		/// The specifications of the jobs.
		type Specs: Specs;

		/// Where rescued states are stored.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// What pieces consist of that are too large for the chain.
		type Chunks: PieceChunks;

		/// What a seat of a relay earns for a piece of up to 4 GiB. A chunk that is asked of it costs a
		/// fifth of that.
		#[pallet::constant]
		type RelayFee: Get<Balance>;

		/// Blocks of each period of a relay of a piece of up to 4 GiB: in which a committee fetches it and
		/// says so, opens chunks, is served, or serves.
		type RelayHour: Get<BlockNumber>;

		/// The account that slashed bonds go to. It must exist (hold the existential deposit),
		/// or small slashes cannot be moved to it.
		type Jackpot: Get<Self::AccountId>;

		/// Least bond of a verifier that enters the pool. It is several [`Config::SeatStake`]s, so
		/// that whoever lost a little goes on.
		#[pallet::constant]
		type MinBond: Get<Balance>;

		/// What a seat locks of a bond at least.
		#[pallet::constant]
		type SeatStake: Get<Balance>;

		/// Least room of a verifier: what a seat can need at most. If some could not take every
		/// audit, whoever makes one larger would be judged by the others alone.
		#[pallet::constant]
		type LeastRoom: Get<Resources>;

		/// Blocks from leaving the pool until the bond can be withdrawn.
		#[pallet::constant]
		type UnbondingBlocks: Get<BlockNumber>;

		/// Blocks of a turn: a day. At its end the pool changes.
		#[pallet::constant]
		type TurnoverBlocks: Get<BlockNumber>;

		/// Part of what counts in the pool that can come in, and that can be displaced, in a turn.
		#[pallet::constant]
		type TurnoverShare: Get<Permill>;

		/// What can come in or be displaced in any turn, however small the pool is.
		#[pallet::constant]
		type FreeInflow: Get<Balance>;

		/// Places in the pool.
		#[pallet::constant]
		type MaxPool: Get<u32>;

		/// Fewest seats of a committee. With fewer eligible verifiers nobody is seated.
		#[pallet::constant]
		type MinSeats: Get<u32>;

		/// Least blocks for replaying and committing. Verifiers declare what they can replay in them.
		type CommitBlocks: Get<BlockNumber>;

		/// Blocks for revealing.
		type RevealBlocks: Get<BlockNumber>;

		/// Blocks in which trainers open what they forced: for as long as machines may be away. They are over
		/// as soon as all have.
		type OpeningBlocks: Get<BlockNumber>;

		/// Blocks in which seats and trainers can give somebody what it asked for.
		type RelayBlocks: Get<BlockNumber>;

		/// Most blocks for storing what somebody still lacks.
		type RescueBlocks: Get<BlockNumber>;

		/// Most bytes of a result that can be asked for at a time: what the blocks of that time can
		/// carry, and the largest blob.
		#[pallet::constant]
		type MaxRescue: Get<u64>;

		/// Most blocks for which an audit waits before it looks for a committee again.
		#[pallet::constant]
		type MaxWaitBlocks: Get<BlockNumber>;

		/// How many fees a member of a committee without a verdict loses, at most its stake.
		#[pallet::constant]
		type AbsenceFees: Get<u32>;

		/// Part of the stake lost by who contradicted what was decided in a recomputation.
		#[pallet::constant]
		type ContrarySlash: Get<Permill>;

		/// A verifier without a verdict in this many of its last [`REMEMBERED`] seats is paused.
		#[pallet::constant]
		type MaxAbsences: Get<u32>;
	}

	/// What this pallet holds of somebody's balance.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Bond of a verifier.
		VerifierBond,
		/// What somebody prepays for bytes that it asks for.
		Claim,
		/// What somebody prepays for a relay, a doubt in its answer, or chunks that it asks of its seats.
		Relay,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn on_initialize(now: BlockNumberFor<T>) -> Weight {
			let now: BlockNumber = now.saturated_into();
			let served = Self::serve(now, Self::relays_weight());
			if !now.is_multiple_of(T::TurnoverBlocks::get()) {
				return served;
			}
			Self::turn(now);
			served.saturating_add(T::WeightInfo::turn())
		}

		#[cfg(feature = "std")]
		fn integrity_test() {
			assert!(T::CommitBlocks::get() > 0, "no time to commit");
			assert!(T::RevealBlocks::get() > 0, "no time to reveal");
			assert!(T::OpeningBlocks::get() > 0, "no time to open what was forced");
			assert!(T::RescueBlocks::get() > 0, "no time to rescue");
			assert!(
				T::UnbondingBlocks::get()
					> T::CommitBlocks::get()
						.max(trainyard_protocol::duties::MAX_COMMIT_BLOCKS)
						.saturating_add(T::RevealBlocks::get()),
				"a bond could be withdrawn before the round it answers for is over"
			);
			assert!(
				SETTLING > T::Beacon::horizon(),
				"the pool ({SETTLING}) must remember for longer than seeds are given ({})",
				T::Beacon::horizon()
			);
			assert!(
				T::UnbondingBlocks::get() > SETTLING,
				"a bond could be withdrawn while its owner can still be drawn"
			);
			assert!(T::TurnoverBlocks::get() > SETTLING, "a turn could be aimed at a draw");
			assert!(T::MinSeats::get() % 2 == 1, "an even committee can be split");
			assert!(T::SeatStake::get() > 0, "seats without a stake");
			assert!(
				T::MinBond::get() >= T::SeatStake::get().saturating_mul(2),
				"a verifier with the least bond could lose its last seat by one absence"
			);
			assert!((1..=REMEMBERED).contains(&T::MaxAbsences::get()), "never or always paused");
			assert!(T::MaxWaitBlocks::get() > 0, "no time to wait");
			assert!(T::RelayHour::get() > 0, "no time to relay");
			let least = trainyard_protocol::relay::SAMPLES_PART;
			assert!(T::RelayFee::get() >= least, "seats of relays earn nothing");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Enters the pool of verifiers with `bond` of the caller on hold, and says what the caller
		/// has room for. Whoever is paused or left returns with at least this bond. A newcomer waits
		/// until it has set a key, see `set_vrf_key`. Where the pool is full the caller waits for a
		/// place: at the end of a turn the largest bonds displace those of which they are 1.25 times.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(
			origin: OriginFor<T>,
			bond: Balance,
			capacity: Resources,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(who, bond, capacity)
		}

		/// Leaves the pool. Who waits for a place gets the bond back at once; others after the
		/// unbonding period, and until then they can `resume`.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::deregister())]
		pub fn deregister(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_deregister(who)
		}

		/// Takes back what running seats do not lock of the bond, an unbonding period after leaving.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::withdraw())]
		pub fn withdraw(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw(who)
		}

		/// Commits the caller's findings in the running round of `job`'s audit, in the place of what
		/// it committed to before:
		/// `commitment::verdict(genesis, job, round, caller, findings, salt)`.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(origin: OriginFor<T>, job: JobId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_commit(who, job, commitment)
		}

		/// Reveals the findings that the caller committed: one verdict for each group, in the audit's
		/// order. Of a group of which it found nothing false that is evidence of exactly those segments
		/// that it must replay, with the paths to the revealed root; a rejection is an accusation, for
		/// which it puts a stake at risk. The verdict on a group that is decided is not looked at;
		/// `Unavailable` is the shortest to put there.
		#[pallet::call_index(4)]
		#[pallet::weight(Pallet::<T>::reveal_weight(findings))]
		pub fn reveal(
			origin: OriginFor<T>,
			job: JobId,
			findings: Findings<T::AccountId>,
			paths: Paths,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_reveal(who, job, findings, paths, salt)
		}

		/// Answers with pieces that others lack of `group`, which the caller delivered. What an answer shows
		/// leads to the revealed root, or to the rows root of the specification. A blob of which not all
		/// is stored that was asked for is announced: blocks keep room for its chunks, and the call is made
		/// again when it is. Answers that were counted already are passed over.
		#[pallet::call_index(5)]
		#[pallet::weight(Pallet::<T>::rescue_weight(answers))]
		pub fn rescue(
			origin: OriginFor<T>,
			job: JobId,
			group: u32,
			answers: Answers,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_rescue(who, job, group, &answers)
		}

		/// Adds `amount` to the bond of the caller, wherever it stands. It counts in draws as far as
		/// the turn has room for it, and the rest in later turns.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::bond_extra())]
		pub fn bond_extra(origin: OriginFor<T>, amount: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_bond_extra(who, amount)
		}

		/// Says what the caller has room for, from the next draws on.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::set_capacity())]
		pub fn set_capacity(origin: OriginFor<T>, capacity: Resources) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_set_capacity(who, capacity)
		}

		/// Ends the caller's pause, or takes back that it left. It is drawn again at once, or waits
		/// where it left and its place is taken.
		#[pallet::call_index(8)]
		#[pallet::weight(T::WeightInfo::resume())]
		pub fn resume(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_resume(who)
		}

		/// Asks for pieces of `group` that the caller lacks, and holds the price of their bytes. While
		/// the committee commits a member of it can, up to its share of the list of that group, and anybody
		/// while results stand. Then it also holds
		/// `pledge`, which may be 0: where there is no room, who pledged least is displaced by who
		/// pledges more. A quarter of it is lost, unless the caller is displaced or the result is lost.
		#[pallet::call_index(9)]
		#[pallet::weight(
			T::WeightInfo::request()
				.saturating_add(T::Court::standing_weight())
				.saturating_add(T::Specs::tensors_weight())
		)]
		pub fn request(
			origin: OriginFor<T>,
			job: JobId,
			group: u32,
			pieces: Pieces,
			pledge: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_request(who, job, group, pieces, pledge)
		}

		/// Says that the caller has what it asked for of `group`. What it prepaid returns, and three
		/// quarters of what it pledged.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::withdraw_request())]
		pub fn withdraw_request(origin: OriginFor<T>, job: JobId, group: u32) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw_request(who, job, group)
		}

		/// Says where the caller serves to other seats what it fetched for an audit, or that it does
		/// not.
		#[pallet::call_index(11)]
		#[pallet::weight(T::WeightInfo::set_location())]
		pub fn set_location(origin: OriginFor<T>, location: Option<Text>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			ensure!(Pool::<T>::get().contains_key(&who), Error::<T>::NotVerifier);
			Locations::<T>::set(&who, location);
			Ok(())
		}

		/// Sets the key of the draws that the caller makes for itself, by a verifiable random function.
		/// A draw is made by the key that was there at its height, so a change does not count in those
		/// whose seed somebody may know. With its first key a verifier takes a place, or waits for one.
		#[pallet::call_index(12)]
		#[pallet::weight(T::WeightInfo::set_vrf_key())]
		pub fn set_vrf_key(origin: OriginFor<T>, key: Public) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_set_vrf_key(who, key)
		}

		/// Accuses a trainer of its result, or another seat of its evidence, with a stake in the place of
		/// a deposit. A seat that revealed can, while results stand: it found something in what it
		/// replayed again.
		#[pallet::call_index(13)]
		#[pallet::weight(
			T::WeightInfo::accuse()
				.saturating_add(T::Court::standing_weight())
				.saturating_add(T::Court::accuse_weight())
		)]
		pub fn accuse(
			origin: OriginFor<T>,
			accusation: Accusation<T::AccountId>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_accuse(who, accusation)
		}

		/// Asks a committee for a piece of `group` that is too large for the chain, while results stand,
		/// and holds the fees of its seats. Each earlier relay of that result whose answer was that the
		/// piece is held makes it dearer by as much, and so does each that runs. Where that is more than
		/// `most` nobody is asked.
		#[pallet::call_index(14)]
		#[pallet::weight(
			T::WeightInfo::request_relay()
				.saturating_add(T::Court::standing_weight())
				.saturating_add(T::Chunks::weight())
		)]
		pub fn request_relay(
			origin: OriginFor<T>,
			job: JobId,
			group: u32,
			piece: Piece,
			most: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_request_relay(who, job, group, piece, most)
		}

		/// Says whether the caller, a seat of that relay, has the piece. Who has it must open a chunk of it
		/// that is drawn after that, and serve it while the relay runs.
		#[pallet::call_index(15)]
		#[pallet::weight(T::WeightInfo::say())]
		pub fn say(origin: OriginFor<T>, relay: RelayId, has: bool) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_say(who, relay, has)
		}

		/// Opens the chunk that is drawn for the caller, a seat of that relay: because it said that it has
		/// the piece, or because somebody asked it for one.
		#[pallet::call_index(16)]
		#[pallet::weight(T::WeightInfo::show_chunk().saturating_add(T::Chunks::weight()))]
		pub fn show_chunk(
			origin: OriginFor<T>,
			relay: RelayId,
			opening: ChunkOpening,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_show_chunk(who, relay, opening)
		}

		/// Asks these seats of a relay for a chunk each, which a later seed draws, while its piece is held.
		/// Each has the price of it when it brings it, and loses its stake when it does not.
		#[pallet::call_index(17)]
		#[pallet::weight(T::WeightInfo::ask_seats())]
		pub fn ask_seats(
			origin: OriginFor<T>,
			relay: RelayId,
			seats: SeatNumbers,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_ask_seats(who, relay, seats)
		}

		/// Doubts the answer of a relay, and asks for a larger committee, whose seats it prepays. Its answer
		/// stands.
		#[pallet::call_index(18)]
		#[pallet::weight(T::WeightInfo::appeal())]
		pub fn appeal(origin: OriginFor<T>, relay: RelayId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_appeal(who, relay)
		}

		/// Opens the leaves that the caller forced to be false in its bundle: the secret to which it is
		/// bound since it applied, and these leaves as they were computed. It must be called before
		/// `Opening` is over, or the caller loses its deposit as if it had revealed nothing; and it can be
		/// from the first reveals of a committee on, so that nobody convicts it for such a leaf.
		#[pallet::call_index(19)]
		#[pallet::weight(T::WeightInfo::open_forced().saturating_add(T::Court::standing_weight()))]
		pub fn open_forced(
			origin: OriginFor<T>,
			job: JobId,
			secret: Secret,
			opening: Opening,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_open_forced(who, job, secret, opening)
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the audit of `job`, while it runs and until it is forgotten.
		pub fn audit_view(job: JobId) -> Option<AuditView<T::AccountId>> {
			Self::view(job)
		}

		/// Returns the relays of `job` that run.
		pub fn relays(job: JobId) -> Vec<RelayView<T::AccountId>> {
			Self::relays_view(job)
		}

		/// Returns the verifiers that can be drawn and their bonds, by account.
		pub fn verifiers() -> Vec<(T::AccountId, Balance)> {
			Self::active()
		}

		/// Returns the leaves of its bundle that `trainer` brought because they were asked for, from the
		/// first on; none when the audit is over.
		pub fn leaves(job: JobId, trainer: T::AccountId) -> Vec<LeafContent> {
			ShownLeaves::<T>::get(job, trainer).into_inner()
		}

		/// Returns where `who` stands as a verifier, while its bond is here.
		pub fn verifier(who: T::AccountId) -> Option<VerifierView> {
			Self::verifier_of(&who)
		}
	}
}
