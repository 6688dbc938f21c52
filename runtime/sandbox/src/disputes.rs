//! Disputes as both sides play them: each by its own record, through calls.

use codec::Encode;
use pallet_court::{Call, Disputes, Opened, Posts, JUDGE_AFTER};
use trainyard_court::{
	game::{
		self,
		player::{Denial, Player},
		Due, Game, Level, Piece, Place, Roots, Said, Turn,
	},
	referee::Openings,
	testing::run::Run,
	Case,
};
use trainyard_protocol::forced::Forced;
use trainyard_runtime::{court::Defendants, AccountId, Runtime, RuntimeCall, System};
use trainyard_traits::{Accused, Defendant, DisputeId};

/// What a defendant said, as the chain has it.
pub struct Kept(pub Defendant<AccountId>);

impl Said for Kept {
	fn posted(&self, place: &Place) -> Option<Roots> {
		Posts::<Runtime>::get((self.0.job(), &self.0, place))
	}

	fn opened(&self, place: &Place) -> Option<game::Opened> {
		Opened::<Runtime>::get((self.0.job(), &self.0, place))
	}

	fn forced(&self, index: u32) -> Option<Forced> {
		Defendants::forced(&self.0, index)
	}
}

/// Returns the move that is due in a dispute and who makes it, in the present state. `challenger` and
/// `defender` are the records of the two sides, where they play: `None` where whoever is to move does not,
/// has nothing to say, or has to wait.
pub fn next_move(
	id: DisputeId,
	challenger: Option<&Run>,
	defender: Option<&Run>,
) -> Option<(AccountId, RuntimeCall)> {
	let dispute = Disputes::<Runtime>::get(id)?;
	let charged = Defendants::case(&dispute.defendant)?;
	let (case, result, stage) = (&charged.case, &charged.result, &dispute.stage);
	let said = Kept(dispute.defendant.clone());
	let game = Game { case, result, said: &said };
	let (accuser, accused) = (dispute.challenger.clone(), dispute.defendant.who().clone());
	fn player<'a>(case: &'a Case, record: &'a Run) -> Player<'a, Run> {
		Player { case, record }
	}
	let (who, call) = match stage.turn {
		Turn::Defender => {
			let own = player(case, defender?);
			let place = stage.place()?;
			// What it said in another dispute it need not say again, but its clock runs until somebody
			// shows that to the court.
			let call = match (game.advance(stage).ok()? != *stage, game.due(stage).ok()?) {
				(true, _) => Call::poke { id },
				(_, Due::Opening) => Call::open { id, place, opening: own.open(game, stage)? },
				_ => Call::post { id, place, roots: own.post(game, stage)? },
			};
			(accused, call)
		}
		Turn::Challenger => {
			let place = stage.place()?;
			let call = match player(case, challenger?).deny(game, stage)? {
				Denial::Deny(at) => Call::deny { id, place, at },
				Denial::Show(witness) => Call::show { id, place, witness },
			};
			(accuser, call)
		}
		Turn::Piece => {
			// The challenger has to wait, and nobody convicts itself.
			let waited = System::block_number() > dispute.moved_at + JUDGE_AFTER;
			let clears = |openings: &Openings| {
				game.judge(stage, openings).is_ok_and(|(_, judgement)| judgement.is_same())
			};
			let of = |run: Option<&Run>| player(case, run?).openings(stage);
			let own = of(defender).filter(clears);
			// The checkpoints of a result are in its manifest, which everybody can read.
			let theirs = match stage.level {
				Level::Judge { piece: Piece::Stop(_) } => of(defender).or_else(|| of(challenger)),
				_ => of(challenger),
			};
			let theirs = theirs.filter(|_| waited).map(|openings| (accuser, openings));
			let (who, openings) = own.map(|openings| (accused, openings)).or(theirs)?;
			(who, Call::judge { id, openings: openings.encode().try_into().ok()? })
		}
	};
	Some((who, call.into()))
}
