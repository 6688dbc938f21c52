//! Relays as they are played: a pool that is large enough, a piece that is too large, and what seats say.

use super::*;
use crate::{Relay, Relays};
use trainyard_protocol::{
	job::WorkResult,
	pieces::Piece,
	relay::{Chunk, ChunkOpening, RelayId, RelayStage, RelayView, StateChunk},
};
use trainyard_traits::{AuditRequest, PieceChunks};

/// What a seat of a relay earns.
pub const RELAY_FEE: u128 = 10;
/// What a chunk costs that is asked of a seat.
pub const ASK: u128 = 2;
/// Blocks of a period.
pub const HOUR: u32 = 12;
/// Chunks of every piece.
pub const CHUNKS: u64 = 1_000;
/// What is asked for in these tests.
pub const PIECE: Piece = Piece::State(3);
/// Who asks, without a seat anywhere.
pub const ASKER: AccountId = 50;
/// Who doubts an answer.
pub const DOUBTER: AccountId = 51;
/// Verifiers beside [`VERIFIERS`].
pub const CROWD: std::ops::Range<AccountId> = 100..240;

/// Chunks that are their piece and number.
pub struct FakeChunks;
impl PieceChunks for FakeChunks {
	fn chunks(job: JobId, _: &WorkResult, piece: Piece) -> u64 {
		match piece {
			Piece::State(_) if job == JOB => CHUNKS,
			Piece::Samples if job == JOB => CHUNKS,
			rows if job == JOB && rows == SIZES.all_rows() => CHUNKS,
			_ => 0,
		}
	}
	fn opens(
		job: JobId,
		result: &WorkResult,
		(piece, places): (Piece, &H256),
		number: u64,
		opening: &ChunkOpening,
	) -> bool {
		let own = match piece {
			Piece::Samples => sample_of(result, *places, number),
			_ => chunk_of(result, piece, number),
		};
		job == JOB && *opening == own
	}
	fn weight() -> Weight {
		Weight::from_parts(1, 1)
	}
}

/// What opens a chunk in these tests.
pub fn chunk_of(result: &WorkResult, piece: Piece, number: u64) -> ChunkOpening {
	let bytes = (piece, number).encode().try_into().unwrap();
	let chunk = Chunk { bytes, siblings: Default::default() };
	let Piece::State(index) = piece else {
		return ChunkOpening::Rows { contents: Default::default(), chunk };
	};
	// By the bundle of whoever delivered what the first one trained.
	let own = |who: &AccountId| bundle_by(TRAINERS[0], *who) == result.bundle_root;
	let whose = TRAINERS.into_iter().find(own).unwrap_or(TRAINERS[0]);
	let (leaf, content) = (leaf_by(TRAINERS[0], whose, index), result.bundle_root);
	ChunkOpening::State(StateChunk { leaf, content, path: Default::default(), chunk })
}

/// What opens a chunk of samples in these tests, which are read at these places.
pub fn sample_of(result: &WorkResult, places: H256, number: u64) -> ChunkOpening {
	let ChunkOpening::State(mut opening) = chunk_of(result, PIECE, number) else { unreachable!() };
	opening.content = places;
	ChunkOpening::State(opening)
}

/// A result of the first trainer that stands after seats said this, of which only samples are not carried by a
/// block, and a pool that is large enough for two committees. Returns the committee.
pub fn sampled_of(request: AuditRequest<AccountId>, says: &[Say]) -> Vec<AccountId> {
	let acts: Vec<Act> = says.iter().map(|say| speak(*say)).collect();
	sampled_after(request, &acts)
}

/// The same after seats did this.
pub fn sampled_after(request: AuditRequest<AccountId>, acts: &[Act]) -> Vec<AccountId> {
	after_acts(AuditRequest { sizes: SAMPLED, ..request }, acts)
}

/// A result of the first trainer that stands, accepted by three seats, with a state that is too large for
/// the chain, and a pool that is large enough for two committees.
pub fn large_state() {
	large_state_after(&[Say::Yes; 3], STORAGE);
}

/// The same after seats said this, with an escrow of `storage` for what they pay. Returns the committee.
pub fn large_state_after(says: &[Say], storage: u128) -> Vec<AccountId> {
	let seats = u32::try_from(says.len()).unwrap();
	large_state_of(AuditRequest { storage, ..request(1, seats) }, says)
}

/// The same in such an audit.
pub fn large_state_of(request: AuditRequest<AccountId>, says: &[Say]) -> Vec<AccountId> {
	MaxRescue::set(SIZES.state - 1);
	after_saying(request, says)
}

/// A result that stands after seats said this, all rows of which are too large for the chain, and a pool that
/// is large enough for two committees. Returns the committee.
pub fn large_rows_of(request: AuditRequest<AccountId>, says: &[Say]) -> Vec<AccountId> {
	MaxRescue::set(request.sizes.contents().iter().sum::<u64>() - 1);
	after_saying(request, says)
}

fn after_saying(request: AuditRequest<AccountId>, says: &[Say]) -> Vec<AccountId> {
	let acts: Vec<Act> = says.iter().map(|say| speak(*say)).collect();
	after_acts(request, &acts)
}

fn after_acts(request: AuditRequest<AccountId>, acts: &[Act]) -> Vec<AccountId> {
	MaxPool::set(256);
	let before = Balances::total_issuance();
	filled(CROWD, BOND);
	Minted::set(Balances::total_issuance() - before);
	mint(ASKER, ENDOWMENT);
	mint(DOUBTER, ENDOWMENT);
	open_with(request);
	let committee = round(acts);
	assert!(is_standing(&view().phase));
	committee
}

pub fn mint(who: AccountId, amount: u128) {
	Balances::mint_into(&who, amount).unwrap();
	Minted::mutate(|minted| *minted += amount);
}

/// Somebody asks for [`PIECE`].
pub fn ask_relay(who: AccountId) -> DispatchResult {
	ask_relay_of(who, PIECE, u128::MAX)
}

/// Somebody asks for a state, and would pay `most`.
pub fn ask_relay_of(who: AccountId, piece: Piece, most: u128) -> DispatchResult {
	Verification::request_relay(RuntimeOrigin::signed(who), JOB, 0, piece, most)
}

pub fn relay_of(id: RelayId) -> Relay<AccountId> {
	Relays::<Test>::get(id).expect("it runs")
}

pub fn relay_view(id: RelayId) -> RelayView<AccountId> {
	Verification::relays(JOB).into_iter().find(|relay| relay.id == id).expect("it runs")
}

/// The seats of a relay.
pub fn relay_seats(id: RelayId) -> Vec<AccountId> {
	relay_of(id).seats.into_iter().map(|seat| seat.who).collect()
}

/// Ticks until a relay is in a stage that `wanted` accepts, or has ended.
pub fn relay_until(id: RelayId, wanted: impl Fn(&RelayStage) -> bool) {
	for _ in 0..400 {
		match Relays::<Test>::get(id) {
			Some(relay) if !wanted(&relay.stage) => tick(),
			_ => return,
		}
	}
	panic!("still {:?} after 400 blocks", relay_of(id).stage);
}

/// Ticks until a relay has ended.
pub fn relay_over(id: RelayId) {
	relay_until(id, |_| false);
	assert!(Relays::<Test>::get(id).is_none());
}

pub fn is_saying(stage: &RelayStage) -> bool {
	matches!(stage, RelayStage::Saying { .. })
}
pub fn is_showing(stage: &RelayStage) -> bool {
	matches!(stage, RelayStage::Showing { .. })
}
pub fn is_serving(stage: &RelayStage) -> bool {
	matches!(stage, RelayStage::Serving { .. })
}
pub fn is_held(stage: &RelayStage) -> bool {
	matches!(stage, RelayStage::Held { .. })
}
pub fn is_lacking(stage: &RelayStage) -> bool {
	matches!(stage, RelayStage::Lacking { .. })
}

pub fn say_of(who: AccountId, id: RelayId, has: bool) -> DispatchResult {
	Verification::say(RuntimeOrigin::signed(who), id, has)
}

/// `who` opens the chunk of this number.
pub fn show_number(who: AccountId, id: RelayId, number: u64) -> DispatchResult {
	show_by(TRAINERS[0], who, id, number)
}

/// The same in the bundle of `of`, who delivered what the first trainer trained.
pub fn show_by(of: AccountId, who: AccountId, id: RelayId, number: u64) -> DispatchResult {
	let bundle_root = bundle_by(TRAINERS[0], of);
	let result = WorkResult { bundle_root, ..result_of(TRAINERS[0]) };
	let Relay { piece, places, .. } = relay_of(id);
	let opening = match piece {
		Piece::Samples => sample_of(&result, places.unwrap(), number),
		_ => chunk_of(&result, piece, number),
	};
	Verification::show_chunk(RuntimeOrigin::signed(who), id, opening)
}

/// The chunk that `who` must open now.
pub fn due_of(who: AccountId, id: RelayId) -> Option<u64> {
	relay_view(id).seats.into_iter().find(|seat| seat.who == who).unwrap().due
}

/// `who` opens what it must.
pub fn show_due(who: AccountId, id: RelayId) -> DispatchResult {
	let number = due_of(who, id).unwrap_or(0);
	show_number(who, id, number)
}

/// The first seats of a vote say that they have the piece, and open their chunks; the others say that they
/// do not.
pub fn vote(id: RelayId, having: usize) {
	relay_until(id, is_saying);
	let seats = relay_seats(id);
	for (at, who) in seats.iter().enumerate() {
		let seat = &relay_of(id).seats[at];
		if !seat.shown && !seat.lost {
			say_of(*who, id, at < having).unwrap();
		}
	}
	if relay_of(id).seats.iter().any(|seat| seat.owes()) {
		relay_until(id, is_showing);
		for who in &seats {
			if due_of(*who, id).is_some() {
				show_due(*who, id).unwrap();
			}
		}
	}
	relay_until(id, |stage| is_held(stage) || is_serving(stage) || is_lacking(stage));
}

/// What `who` has on hold for relays.
pub fn for_relays(who: AccountId) -> u128 {
	use frame_support::traits::fungible::InspectHold;
	Balances::balance_on_hold(&HoldReason::Relay.into(), &who)
}
