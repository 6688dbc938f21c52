//! How much is pledged for what is asked for on chain while results stand, and for how many pieces at a time.
//!
//! Places are bounded, and whoever pledges more for one displaces who pledged least. Beside that each further
//! piece of a result asks for a larger pledge, the more of it were stored before. So a [`Bid`] begins with
//! many pieces and no pledge. Where the chain finds the pledge too small fewer pieces are asked for, down to
//! one, and what is left when those have come. Only then, and where there is no room, the pledge is doubled,
//! as far as the owner allows.
//!
//! A pledge returns where the result is lost, and but for a quarter where what was asked for is stored.

use trainyard_client::{amount, TxError};
use trainyard_protocol::{
	job::{Balance, WorkResult},
	pieces::{Piece, PieceSizes, FREE_PIECES},
};

/// The largest pledge where the owner names none, in deposits of a challenge of the job. A quarter of a
/// pledge is what a place costs at most: no more than what a challenge puts at stake.
const MOST_DEPOSITS: Balance = 4;
/// The first pledge is the largest divided by this.
const FIRST_PART: Balance = 16;
/// Pieces that are asked for at a time: as many as are asked for without a pledge where nobody else asks.
const AT_ONCE: usize = FREE_PIECES as usize;
/// What the chain answers where so many pieces ask for a larger pledge.
const TOO_SMALL: &str = "Verification::PledgeTooSmall";
/// What it answers where there is no room beside others who pledged as much, or the list is long.
const NO_ROOM: [&str; 3] =
	["Verification::TooManyClaims", "Verification::TooManyPieces", "Verification::TooManyBytes"];
/// What it answers where the account has less than is held.
const POOR: &str = "Token error: Funds are unavailable";

/// Options of what is pledged.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct PledgeArgs {
	/// What nobody gives of a result that stands is asked for on chain. Pledge up to this for a place among
	/// those who ask (in TRY), as far as others pledge or had much of it stored; 0 for nothing. It returns
	/// where the result is lost, and but for a quarter where what was asked for is stored [default: four
	/// times the deposit of a challenge of the job, which are 24 for a small job]
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	pub max_pledge: Option<Balance>,
}

/// Returns the largest pledge of an owner that `named` one or none, where a challenge of the job puts this at
/// stake.
pub fn most(named: Option<Balance>, challenge: Balance) -> Balance {
	named.unwrap_or_else(|| challenge.saturating_mul(MOST_DEPOSITS))
}

/// Returns the pledge that follows after `pledge` where `most` is the largest; `None` after that.
pub fn raised(pledge: Balance, most: Balance) -> Option<Balance> {
	let more = match pledge {
		0 => most.div_ceil(FIRST_PART),
		_ => pledge.saturating_mul(2),
	};
	(pledge < most).then(|| more.min(most))
}

/// Why the chain does not take what is asked for by a pledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
	/// The pledge is too small for so many pieces.
	TooSmall,
	/// There is no room beside others.
	NoRoom,
	/// The account has less than the pledge.
	Poor,
}

impl Refusal {
	/// Returns why a claim with this pledge was refused, where `error` is such a refusal.
	pub fn of(error: &TxError, pledge: Balance) -> Option<Self> {
		let failed_with = |name: &str| error.failed_with(name);
		if failed_with(TOO_SMALL) {
			return Some(Self::TooSmall);
		}
		if NO_ROOM.into_iter().any(failed_with) {
			return Some(Self::NoRoom);
		}
		// Without a pledge it lacks what the bytes cost.
		(pledge > 0 && failed_with(POOR)).then_some(Self::Poor)
	}

	/// Returns what is said where nothing follows after a refusal of this pledge.
	pub fn in_words(self, pledge: Balance) -> String {
		let pledge = amount::format(pledge);
		let why = match self {
			Self::TooSmall => format!("a further piece asks for a larger pledge than {pledge}"),
			Self::NoRoom => format!("there is no room, and others pledge as much as {pledge}"),
			Self::Poor => format!("this account has no {pledge} to pledge"),
		};
		format!("what nobody gives is not asked for on chain for now: {why} (--max-pledge)")
	}
}

/// What is asked for of a result at a time, and what is pledged for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
	/// Pieces at most, beside those that everybody reads.
	pub pieces: usize,
	/// What is pledged.
	pub pledge: Balance,
}

impl Bid {
	/// Returns the first bid with this pledge.
	pub fn new(pledge: Balance) -> Self {
		Self { pieces: AT_ONCE, pledge }
	}

	/// Returns what is tried after the chain refused this, which names as many pieces as it may; `None` where
	/// one piece with a pledge of `most` was refused.
	pub fn after(self, refusal: Refusal, most: Balance) -> Option<Self> {
		let fewer = (self.pieces > 1).then(|| Self { pieces: self.pieces / 2, ..self });
		let more = raised(self.pledge, most).map(|pledge| Self { pledge, ..self });
		match refusal {
			Refusal::TooSmall => fewer.or(more),
			// Who pledges for fewer pieces pledges more for each.
			Refusal::NoRoom => more.or(fewer),
			Refusal::Poor => None,
		}
	}
}

/// Returns how many of these pieces take a place: those that not everybody reads.
pub fn places(pieces: &[Piece], (sizes, result): (&PieceSizes, &WorkResult)) -> usize {
	pieces.iter().filter(|piece| !sizes.is_common(piece, result)).count()
}

/// Returns the first of these pieces that are asked for together: no more `bytes` than that, and as many as
/// `most` beside those that everybody reads.
pub fn that_fit(
	pieces: &[Piece],
	(sizes, result): (&PieceSizes, &WorkResult),
	bytes: u64,
	most: usize,
) -> Vec<Piece> {
	let (mut taken, mut count) = (0u64, 0usize);
	let fits = |piece: &&Piece| {
		let all = taken.saturating_add(sizes.of(piece, result, &[]));
		let counted = count + usize::from(!sizes.is_common(piece, result));
		let fits = all <= bytes && counted <= most;
		if fits {
			(taken, count) = (all, counted);
		}
		fits
	};
	pieces.iter().filter(fits).copied().collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::H256;

	#[test]
	fn a_pledge_is_doubled_up_to_four_deposits_or_what_the_owner_names() {
		assert_eq!([most(None, 6), most(Some(9), 6), most(Some(0), 6)], [24, 9, 0]);
		let all = |most: Balance| {
			let mut pledges = vec![0];
			while let Some(more) = raised(*pledges.last().unwrap(), most) {
				pledges.push(more);
			}
			pledges
		};
		assert_eq!(all(24), [0, 2, 4, 8, 16, 24]);
		assert_eq!((all(0), all(3)), (vec![0], vec![0, 1, 2, 3]));
	}

	#[test]
	fn fewer_pieces_are_asked_for_before_more_is_pledged() {
		let bids = |refusal, most| {
			let mut bids = vec![(5, 0)];
			let mut bid = Bid { pieces: 5, pledge: 0 };
			while let Some(next) = bid.after(refusal, most) {
				bid = next;
				bids.push((bid.pieces, bid.pledge));
			}
			bids
		};
		let fewer = [(5, 0), (2, 0), (1, 0), (1, 1), (1, 2), (1, 4), (1, 6)];
		assert_eq!(bids(Refusal::TooSmall, 6), fewer);
		assert_eq!(bids(Refusal::TooSmall, 0), fewer[..3]);
		let dearer = [(5, 0), (5, 1), (5, 2), (5, 4), (5, 6), (2, 6), (1, 6)];
		assert_eq!(bids(Refusal::NoRoom, 6), dearer);
		assert_eq!(bids(Refusal::Poor, 6), [(5, 0)]);
	}

	#[test]
	fn what_everybody_reads_takes_no_place() {
		let root = H256::zero();
		let result = WorkResult {
			bundle_root: root,
			true_root: root,
			model_root: root,
			segments: 30,
			diverged: false,
		};
		let sizes = PieceSizes { state: 10, ..PieceSizes::default() };
		let of = (&sizes, &result);
		let all: Vec<Piece> =
			[Piece::Leaves].into_iter().chain([1, 2, 3, 30].map(Piece::State)).collect();
		assert_eq!(places(&all, of), 3);
		let states = |pieces: &[Piece]| -> Vec<u32> {
			let index = |piece: &Piece| match piece {
				Piece::State(index) => Some(*index),
				_ => None,
			};
			pieces.iter().filter_map(index).collect()
		};
		assert_eq!(states(&that_fit(&all, of, u64::MAX, 16)), [1, 2, 3, 30]);
		assert_eq!(states(&that_fit(&all, of, u64::MAX, 1)), [1, 30]);
		let leaves = sizes.of(&Piece::Leaves, &result, &[]);
		assert_eq!(states(&that_fit(&all, of, leaves + 25, 16)), [1, 2]);
	}
}
