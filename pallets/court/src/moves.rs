//! The moves: those of the [game](trainyard_court::game), with what was said in storage.
//!
//! A move names the place that it is for. What a defendant says binds it in all disputes, so a post that
//! was meant for another place must not count here; and what was said already need not be said again.
//! What the game refuses changes nothing.

use crate::{
	clocks::Clocks, costs::Used, Burden, Call, CommittedBy, Config, DefendantOf, Dispute,
	DisputeOf, Disputes, Ending, Error, Event, Opened, Opening, Pallet, Posts, Side, Standings,
	Suits, WeightInfo,
};
use core::marker::PhantomData;
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_court::{
	game::{
		self, Entry, Game, Level, Moved, Next, Outcome, Place, Roots, Said, Stage, Subject, Target,
		Turn, Witness,
	},
	referee::Openings,
	Refused as PieceRefused,
};
use trainyard_protocol::{forced::Forced, job::BlockNumber, H256};
use trainyard_traits::{Accusation, Accused, Charged, Defendant, DisputeId};

/// Blocks after which a challenger brings the openings of a piece, and anybody those that convict, at the
/// earliest. So whoever is overtaken on the last steps comes to the same piece, and is its finder if its
/// dispute is older.
pub const JUDGE_AFTER: BlockNumber = 10;

/// What a defendant has said, in storage.
pub(crate) struct Kept<'a, T: Config>(pub &'a DefendantOf<T>, pub PhantomData<T>);

impl<T: Config> Said for Kept<'_, T> {
	fn posted(&self, place: &Place) -> Option<Roots> {
		Posts::<T>::get((self.0.job(), self.0, place))
	}

	fn opened(&self, place: &Place) -> Option<game::Opened> {
		Opened::<T>::get((self.0.job(), self.0, place))
	}

	fn forced(&self, index: u32) -> Option<Forced> {
		T::Accused::forced(self.0, index)
	}
}

/// Returns the error that names why a move is refused.
pub(crate) fn refused<T: Config>(why: game::Refused) -> DispatchError {
	use game::Refused as Why;
	match why {
		Why::NoSuchTarget => Error::<T>::NoSuchTarget,
		Why::WrongLeaves => Error::<T>::WrongLeaves,
		Why::NothingDenied => Error::<T>::NothingDenied,
		Why::NotNow => Error::<T>::NotYourTurn,
		Why::WrongPlace => Error::<T>::WrongPlace,
		Why::AlreadySaid => Error::<T>::AlreadySaid,
		Why::WrongCount { .. } => Error::<T>::WrongCount,
		Why::WrongRoots => Error::<T>::WrongRoots,
		Why::WrongOpening => Error::<T>::WrongOpening,
		Why::NoSuchClaim => Error::<T>::NoSuchClaim,
		Why::NoSuchWitness => Error::<T>::NoSuchWitness,
		Why::Unsaid => Error::<T>::Unsaid,
		Why::Computation(_) => Error::<T>::NoSuchComputation,
		Why::Piece(why) => piece_refused(why),
	}
	.into()
}

/// Returns the error that names why the referee does not decide.
fn piece_refused<T: Config>(why: PieceRefused) -> Error<T> {
	match why {
		PieceRefused::NoSuchPiece => Error::<T>::NoSuchPiece,
		PieceRefused::Missing { .. } => Error::<T>::Missing,
		PieceRefused::TooLong => Error::<T>::TooLong,
		PieceRefused::LeftOver => Error::<T>::LeftOver,
		PieceRefused::Twice => Error::<T>::Twice,
		PieceRefused::WrongOpening => Error::<T>::WrongOpenings,
		PieceRefused::Chunks(_) => Error::<T>::WrongChunks,
		PieceRefused::NotCanonical => Error::<T>::NotCanonical,
		PieceRefused::Part(_) => Error::<T>::NotComputable,
	}
}

impl<T: Config> Pallet<T> {
	/// Calls the game about what `defendant` claims. Returns also how many results its computations
	/// have.
	fn play<R>(
		defendant: &DefendantOf<T>,
		play: impl FnOnce(Game<'_, Kept<'_, T>>) -> Result<R, game::Refused>,
	) -> Result<(R, u32), DispatchError> {
		let Charged { case, result, results } =
			T::Accused::case(defendant).ok_or(Error::<T>::NoSuchDefendant)?;
		let said = Kept(defendant, PhantomData);
		let game = Game { case: &case, result: &result, said: &said };
		Ok((play(game).map_err(refused::<T>)?, results))
	}

	/// Begins a dispute. Returns the weight of what that took.
	pub(crate) fn begin(
		id: DisputeId,
		opening: Opening<T::AccountId>,
		accusation: Accusation<T::AccountId>,
	) -> Result<Weight, DispatchError> {
		let Opening { challenger, committed_at, deposit, stake } = opening;
		let Accusation { defendant, target, claimed, leaves } = accusation;
		ensure!(challenger != *defendant.who(), Error::<T>::Oneself);
		let revealed = match (&defendant, target) {
			(Defendant::Seat { .. }, Target::Evidence(segment)) => {
				let revealed = T::Accused::evidence(&defendant, segment);
				Some(revealed.ok_or(Error::<T>::NoSuchTarget)?)
			}
			(Defendant::Trainer { .. }, Target::Rescue { blob, state }) => {
				let is_stored = T::Accused::stored(&defendant, &blob, state);
				ensure!(is_stored, Error::<T>::NoSuchTarget);
				None
			}
			(Defendant::Trainer { .. }, _) => None,
			(Defendant::Seat { .. }, _) => return Err(Error::<T>::NoSuchTarget.into()),
		};
		let (Moved { next, said }, results) = Self::play(&defendant, |game| {
			game.begin(target, &claimed, &leaves, revealed.as_ref())
		})?;
		let suit = || (&defendant, &challenger, target);
		ensure!(!Suits::<T>::contains_key(suit()), Error::<T>::AlreadyAccused);
		Suits::<T>::insert(suit(), id);
		let terms = T::Accused::clock(&defendant, &target);
		let ticks = terms.ticks.max(1);
		let nowhere = Stage {
			subject: Subject { target, begin: H256::zero(), end: None },
			level: Level::Ends,
			turn: Turn::Defender,
		};
		let mut dispute = Dispute {
			challenger: challenger.clone(),
			defendant: defendant.clone(),
			claimed,
			stage: nowhere,
			deposit,
			stake,
			committed_at,
			clocks: Clocks::new(ticks),
			burden: Burden::new(&terms),
			moved_at: Self::now(),
			awake: committed_at,
			aside: false,
			moves: 0,
		};
		Standings::<T>::mutate(defendant.job(), |standing| {
			standing.disputes = standing.disputes.saturating_add(1);
		});
		Self::deposit_event(Event::Challenged {
			id,
			challenger,
			defendant: defendant.clone(),
			target,
			claimed,
			deposit,
			rank: Self::rank(id, &dispute),
			clock: ticks,
		});
		Self::keep(id, &defendant, said);
		let weight = Self::moved_weight(T::WeightInfo::challenge(), results);
		Ok(match next {
			Next::Stage(stage) => {
				dispute.stage = stage;
				Self::enter(id, dispute);
				T::Accused::moved(defendant.job());
				weight
			}
			// What a leaf says is such that no true result has it.
			Next::Ended(outcome) => {
				Self::end(id, dispute, ending(outcome));
				weight.saturating_add(T::Accused::convict_weight())
			}
		})
	}

	/// Returns a dispute in which `who` is to move, for `side`.
	fn in_turn(
		who: &T::AccountId,
		id: DisputeId,
		side: Side,
	) -> Result<DisputeOf<T>, DispatchError> {
		let dispute = Self::running(id)?;
		match side {
			Side::Challenger => ensure!(dispute.challenger == *who, Error::<T>::NotChallenger),
			Side::Defender => ensure!(dispute.defendant.who() == who, Error::<T>::NotDefender),
		}
		let turn = match side {
			Side::Challenger => Turn::Challenger,
			Side::Defender => Turn::Defender,
		};
		ensure!(dispute.stage.turn == turn, Error::<T>::NotYourTurn);
		ensure!(!Self::is_over(&dispute), Error::<T>::TooLate);
		Ok(dispute)
	}

	/// Goes on from a move.
	fn go_on(id: DisputeId, mut dispute: DisputeOf<T>, moved: Moved) {
		let Moved { next, said } = moved;
		Self::keep(id, &dispute.defendant, said);
		dispute.moves = dispute.moves.saturating_add(1);
		dispute.touch(Self::now(), T::RevealBlocks::get());
		match next {
			Next::Stage(stage) => Self::stand(id, dispute, stage),
			Next::Ended(outcome) => Self::end(id, dispute, ending(outcome)),
		}
	}

	/// Keeps what a defendant said, for all disputes with it.
	fn keep(id: DisputeId, defendant: &DefendantOf<T>, said: alloc::vec::Vec<Entry>) {
		let job = defendant.job();
		for entry in said {
			match entry {
				Entry::Posted(place, roots) => {
					Posts::<T>::insert((job, defendant, place), &roots);
					Self::deposit_event(Event::Posted { id, place, roots });
				}
				Entry::Opened(place, opened) => {
					Opened::<T>::insert((job, defendant, place), &opened);
					Self::deposit_event(Event::Opened { id, place, opened });
				}
			}
		}
	}

	/// Returns where a dispute stands by what the defender has said in others since, if that is further.
	pub(crate) fn said_since(dispute: &DisputeOf<T>) -> Option<Stage> {
		if dispute.stage.turn != Turn::Defender {
			return None;
		}
		let played = Self::play(&dispute.defendant, |game| game.advance(&dispute.stage));
		let (stage, _) = played.ok()?;
		(stage != dispute.stage).then_some(stage)
	}

	/// Ends the defender's turn, since what it is asked for stands already.
	pub(crate) fn pass(id: DisputeId, mut dispute: DisputeOf<T>, stage: Stage) {
		Self::deposit_event(Event::Passed { id });
		// Where that leads to a piece, others have as much time to follow as after a move.
		dispute.touch(Self::now(), T::RevealBlocks::get());
		Self::stand(id, dispute, stage);
	}

	/// Keeps where a dispute stands, or ends it where the defendant now says what was claimed.
	fn stand(id: DisputeId, dispute: DisputeOf<T>, stage: Stage) {
		match stage.grants(&dispute.claimed) {
			true => Self::end(id, dispute, Ending::Forced),
			false => Self::store_moved(id, dispute, stage),
		}
	}

	pub(crate) fn do_post(
		who: T::AccountId,
		id: DisputeId,
		place: Place,
		roots: Roots,
	) -> Result<u32, DispatchError> {
		let dispute = Self::in_turn(&who, id, Side::Defender)?;
		let (moved, results) =
			Self::play(&dispute.defendant, |game| game.post(&dispute.stage, &place, &roots))?;
		Self::go_on(id, dispute, moved);
		Ok(results)
	}

	pub(crate) fn do_open(
		who: T::AccountId,
		id: DisputeId,
		place: Place,
		opening: game::Opening,
	) -> Result<u32, DispatchError> {
		let dispute = Self::in_turn(&who, id, Side::Defender)?;
		let (moved, results) =
			Self::play(&dispute.defendant, |game| game.open(&dispute.stage, &place, &opening))?;
		Self::go_on(id, dispute, moved);
		Ok(results)
	}

	pub(crate) fn do_deny(
		who: T::AccountId,
		id: DisputeId,
		place: Place,
		at: u32,
	) -> Result<u32, DispatchError> {
		let dispute = Self::in_turn(&who, id, Side::Challenger)?;
		let (moved, results) =
			Self::play(&dispute.defendant, |game| game.deny(&dispute.stage, &place, at))?;
		Self::deposit_event(Event::Denied { id, place, at });
		Self::go_on(id, dispute, moved);
		Ok(results)
	}

	pub(crate) fn do_show(
		who: T::AccountId,
		id: DisputeId,
		place: Place,
		witness: Witness,
	) -> Result<u32, DispatchError> {
		let dispute = Self::in_turn(&who, id, Side::Challenger)?;
		let (moved, results) =
			Self::play(&dispute.defendant, |game| game.show(&dispute.stage, &place, &witness))?;
		Self::deposit_event(Event::Shown { id, place, witness });
		Self::go_on(id, dispute, moved);
		Ok(results)
	}

	pub(crate) fn do_judge(
		who: T::AccountId,
		id: DisputeId,
		openings: &[u8],
	) -> Result<Used, DispatchError> {
		let dispute = Self::running(id)?;
		let is_a_side = dispute.challenger == who || *dispute.defendant.who() == who;
		ensure!(is_a_side, Error::<T>::NotASide);
		let Level::Judge { piece } = dispute.stage.level else {
			return Err(Error::<T>::NotYourTurn.into());
		};
		// Others who come to this piece have time to follow, see `finder`: also where it is the
		// defendant that convicts itself, for a friend. It clears itself whenever it can.
		let is_early = Self::now().saturating_sub(dispute.moved_at) < JUDGE_AFTER;
		ensure!(*dispute.defendant.who() == who || !is_early, Error::<T>::TooEarly);
		ensure!(!Self::is_over(&dispute), Error::<T>::TooLate);
		let openings = Openings::from_bytes(openings).map_err(piece_refused::<T>)?;
		let ((moved, judgement, used), results) = Self::play(&dispute.defendant, |game| {
			let used = Used::of(game.case, game.result, &piece);
			let (moved, judgement) = game.judge(&dispute.stage, &openings)?;
			Ok((moved, judgement, used))
		})?;
		ensure!(!is_early || judgement.is_same(), Error::<T>::TooEarly);
		Self::deposit_event(Event::Judged { id, by: who, piece, judgement });
		Self::go_on(id, dispute, moved);
		Ok(Used { results: used.results.min(results), ..used })
	}

	/// Returns whether it is the turn of `who` in a dispute.
	pub fn awaits(who: &T::AccountId, id: DisputeId) -> bool {
		let Some(dispute) = Disputes::<T>::get(id) else { return false };
		let (challenger, defender) = (dispute.challenger == *who, dispute.defendant.who() == who);
		match dispute.stage.turn {
			Turn::Challenger => challenger,
			Turn::Defender => defender,
			Turn::Piece => challenger || defender,
		}
	}

	/// Returns whether blocks keep room for this call of `who`: whether a clock of its own runs until
	/// then. It reads one record.
	pub fn is_urgent(who: &T::AccountId, call: &Call<T>) -> bool {
		match call {
			Call::challenge { accusation, .. } => {
				CommittedBy::<T>::contains_key(accusation.defendant.job(), who)
			}
			Call::post { id, .. }
			| Call::open { id, .. }
			| Call::deny { id, .. }
			| Call::judge { id, .. }
			| Call::show { id, .. } => Self::awaits(who, *id),
			_ => false,
		}
	}
}

fn ending(outcome: Outcome) -> Ending {
	match outcome {
		Outcome::Convicted => Ending::Convicted { by_clock: false },
		Outcome::Acquitted => Ending::Acquitted { by_clock: false },
	}
}
