//! Challenges of counts, and refutations of files.
//!
//! What a model gets right is measured by an ordinary job of the market: it begins with the model, validates by
//! the slice, and trains one segment, so its committee replays all of it. The first leaf of the result that its
//! audit accepted has the count. Nothing new decides about what is true; whoever is wrong pays for it.
//!
//! What the market did not measure is not paid: whoever could keep trainers away, or makes a model that none of
//! them takes, one with a number that is not finite or a file with a false header, would be paid for any count
//! otherwise. But a single failure decides nothing while there is time for another challenge, also by the
//! claimant itself: a count that is proven stands. A challenger that stops its own job, or keeps to itself what
//! it counted, loses the deposit, and others have their time again.
//!
//! A job names its initial model by the root of the file and by the state hash of the parameters, and these do
//! not follow from one another. So a claimant says the values of pieces of the tensors, from which the state
//! hash follows, and each can be refuted by the bytes of the file, as those of the aggregates of federations
//! are. And the mean of two files is refuted by one chunk of all three.

use crate::{
	Challenge, Claim, Claims, Config, Doubt, Doubts, Error, Event, HoldReason, MeanOpenings,
	Mixing, Pallet, SaidPieces, Spoken, Swarm, Swarms, Templates, Which,
};
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::{FileRef, InitialModel, ON_CHAIN};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	content::CHUNK_BYTES,
	federation,
	job::{Balance, Terms},
	merkle,
	swarm::{Count, Model, Stage, SwarmId, MAX_CLAIMS, MAX_FAILURES},
	Text, H256,
};
use trainyard_traits::{JobEnd, PostedJobs};

/// A swarm in which something is challenged, and the number of its slice.
type Challengeable<T> = (Swarm<<T as frame_system::Config>::AccountId>, u32);
/// A claim, and what was said of it.
type Found<T> =
	(Claim<<T as frame_system::Config>::AccountId>, Spoken<<T as frame_system::Config>::AccountId>);

impl<T: Config> Pallet<T> {
	/// Returns a swarm in which claims can be challenged, as far as its stage decides.
	fn challengeable(id: SwarmId) -> Result<Challengeable<T>, Error<T>> {
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		match swarm.stage {
			Stage::Challenging { slice, .. } => Ok((swarm, slice)),
			_ => Err(Error::NotChallenging),
		}
	}

	/// Returns whether a claim of the round says what this model gets right.
	fn is_said(id: SwarmId, swarm: &Swarm<T::AccountId>, model: &Model) -> bool {
		let claims =
			(0..swarm.claims.min(MAX_CLAIMS)).filter_map(|claim| Claims::<T>::get(id, claim));
		claims.filter_map(|claim| claim.said).any(|spoken| {
			let base = spoken.base_model(swarm.compared);
			spoken.model == *model || base == *model
		})
	}

	pub(crate) fn do_challenge(
		who: T::AccountId,
		id: SwarmId,
		model: Model,
		audit_fee: Balance,
	) -> DispatchResult {
		let (swarm, slice) = Self::challengeable(id)?;
		if let Stage::Challenging { until, .. } = swarm.stage {
			let last = Self::later(&swarm, until, swarm.plan.stages.challenge);
			ensure!(Self::now() <= last, Error::<T>::NotChallenging);
		}
		ensure!(Self::is_said(id, &swarm, &model), Error::<T>::NothingSaid);
		let mut doubts = Doubts::<T>::get(id);
		let at = match doubts.iter().position(|doubt| doubt.model == model) {
			Some(at) => at,
			None => {
				let doubt = Doubt { model, challenge: None, failures: 0, proven: None };
				doubts.try_push(doubt).map_err(|_| Error::<T>::TooManyDoubts)?;
				doubts.len().saturating_sub(1)
			}
		};
		let doubt = doubts.get_mut(at).ok_or(Error::<T>::TooManyDoubts)?;
		let free = doubt.challenge.is_none() && doubt.proven.is_none();
		ensure!(free, Error::<T>::IsChallenged);
		ensure!(doubt.failures < MAX_FAILURES, Error::<T>::IsUnmeasurable);
		let template = Templates::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let data = Self::slice(id, slice)?.data;
		let location = Text::new(ON_CHAIN).unwrap_or_default();
		let file = FileRef { content_hash: model.root, bytes: swarm.size, location };
		let initial = InitialModel { file, parameters: model.parameters };
		let spec = Self::spec_of(&template, &data, &initial)?;
		// What an audit must pay at least moves with the market.
		let terms = Terms { audit_fee, ..swarm.plan.appeal.clone() };
		let job = T::Jobs::post(&who, spec, terms, swarm.plan.max_fee_per_ut)?;
		let deposit = T::ChallengeDeposit::get().max(swarm.plan.reward.stake / 4);
		Self::hold(HoldReason::Challenge, &who, deposit)?;
		let (challenger, answered, excused) = (who.clone(), None, false);
		doubt.challenge = Some(Challenge { challenger, deposit, job, answered, excused });
		Doubts::<T>::insert(id, doubts);
		// From now on the job is looked at.
		Self::hasten(id);
		let model = model.root;
		Self::deposit_event(Event::Challenged { swarm: id, challenger: who, model, job });
		Ok(())
	}

	pub(crate) fn do_testify(id: SwarmId, model: Model, leaf: &Leaf) -> DispatchResult {
		let (swarm, _) = Self::challengeable(id)?;
		let mut doubts = Doubts::<T>::get(id);
		let doubt = doubts.iter_mut().find(|doubt| doubt.model == model);
		let doubt = doubt.ok_or(Error::<T>::NotChallenged)?;
		let challenge = doubt.challenge.clone().ok_or(Error::<T>::NotChallenged)?;
		let Some(JobEnd::Accepted(result)) = T::Jobs::ended(challenge.job) else {
			return Err(Error::<T>::NoResult.into());
		};
		// Forced errors are in traces alone: what its leaves say of evaluations is true.
		let (root, hash) = (&result.bundle_root, leaf.content.leaf());
		let shows = merkle::verify(root, &hash, 0, result.leaves(), &leaf.path);
		let LeafContent::Checkpoint(start) = leaf.content else {
			return Err(Error::<T>::BadLeaf.into());
		};
		ensure!(shows, Error::<T>::BadLeaf);
		let count = Count::of(&start.evaluation, swarm.labels);
		doubt.challenge = None;
		doubt.proven = Some(count);
		// Where it was tried before in vain, whoever measures it does what is wanted.
		let useful = doubt.failures > 0 || challenge.excused;
		Doubts::<T>::insert(id, doubts);
		let upheld = Self::contradict(id, &swarm, &model, &count, &challenge.challenger);
		Self::end_challenge(&challenge, upheld || useful);
		Self::hasten(id);
		let model = model.root;
		Self::deposit_event(Event::Proven { swarm: id, model, count, upheld });
		Ok(())
	}

	/// Marks the claims as false that say another count of a model. Returns whether there are any.
	pub(crate) fn contradict(
		id: SwarmId,
		swarm: &Swarm<T::AccountId>,
		model: &Model,
		count: &Count,
		challenger: &T::AccountId,
	) -> bool {
		let mut any = false;
		for number in 0..swarm.claims.min(MAX_CLAIMS) {
			let Some(mut claim) = Claims::<T>::get(id, number) else { continue };
			let Some(spoken) = &claim.said else { continue };
			let base = spoken.base_model(swarm.compared);
			let said = [(spoken.model, spoken.new), (base, spoken.base)];
			if said.iter().any(|(of, said)| of == model && said != count) {
				any = true;
				if claim.refuter.is_none() {
					claim.refuter = Some(challenger.clone());
					Claims::<T>::insert(id, number, claim);
				}
			}
		}
		any
	}

	/// Returns the deposit of a challenge, or burns it.
	pub(crate) fn end_challenge(challenge: &Challenge<T::AccountId>, back: bool) {
		let Challenge { challenger, deposit, .. } = challenge;
		match back {
			true => Self::give_back(HoldReason::Challenge, challenger, *deposit),
			false => Self::burn(HoldReason::Challenge, challenger, *deposit),
		}
	}

	/// Returns a claim of which something was said.
	fn spoken(id: SwarmId, number: u32) -> Result<Found<T>, Error<T>> {
		let claim = Claims::<T>::get(id, number).ok_or(Error::<T>::NoSuchClaim)?;
		ensure!(claim.refuter.is_none(), Error::<T>::IsRefuted);
		let spoken = claim.said.clone().ok_or(Error::<T>::NoSuchClaim)?;
		Ok((claim, spoken))
	}

	pub(crate) fn do_refute_piece(
		who: T::AccountId,
		id: SwarmId,
		number: u32,
		which: Which,
		piece: u32,
		bytes: &[u8],
		siblings: &[H256],
	) -> DispatchResult {
		let (swarm, slice) = Self::challengeable(id)?;
		let (claim, spoken) = Self::spoken(id, number)?;
		let content = match (which, &spoken.mixing) {
			(Which::New, _) => spoken.content,
			(Which::Own, Some(mixing)) => mixing.own_content,
			(Which::Own, None) => return Err(Error::<T>::NoTicket.into()),
		};
		let said = SaidPieces::<T>::get(id, (number, which)).ok_or(Error::<T>::NoSuchClaim)?;
		let said = said.get(piece as usize).ok_or(Error::<T>::NoSuchPiece)?;
		let layout = Self::layout(id, &Self::slice(id, slice)?.data)?;
		let pieces = federation::pieces(&layout);
		let piece = pieces.get(piece as usize).ok_or(Error::<T>::NoSuchPiece)?;
		let found = piece.opened(&content, swarm.size, bytes, siblings);
		ensure!(found.map_err(|_| Error::<T>::BadOpening)? != *said, Error::<T>::NotRefuted);
		Self::convict(who, id, &swarm, slice, number, claim);
		Ok(())
	}

	pub(crate) fn do_refute_mean(
		who: T::AccountId,
		id: SwarmId,
		number: u32,
		chunk: u64,
		openings: &MeanOpenings,
	) -> DispatchResult {
		let (swarm, slice) = Self::challengeable(id)?;
		let (claim, spoken) = Self::spoken(id, number)?;
		let Some(Mixing { own, remote, .. }) = &spoken.mixing else {
			return Err(Error::<T>::NoTicket.into());
		};
		let [new, mine, other] = openings;
		for (opening, root) in [(new, &spoken.model.root), (mine, &own.root), (other, remote)] {
			let shows = opening.verify(root, swarm.size, chunk);
			shows.map_err(|_| Error::<T>::BadOpening)?;
		}
		let layout = Self::layout(id, &Self::slice(id, slice)?.data)?;
		let weights = federation::weights(&[1, 1]);
		let begin = chunk.saturating_mul(CHUNK_BYTES);
		let made = federation::aggregate(&layout, &weights, begin, &[&mine.bytes, &other.bytes]);
		let made = made.ok_or(Error::<T>::BadOpening)?;
		ensure!(made != new.bytes.as_slice(), Error::<T>::NotRefuted);
		Self::convict(who, id, &swarm, slice, number, claim);
		Ok(())
	}

	/// Takes a claim out of the round that was refuted, and shares its stake out. Who challenged a count of it
	/// meanwhile loses nothing by that.
	fn convict(
		refuter: T::AccountId,
		id: SwarmId,
		swarm: &Swarm<T::AccountId>,
		slice: u32,
		number: u32,
		mut claim: Claim<T::AccountId>,
	) {
		let slice = Self::slice(id, slice).ok();
		Self::take_fee(&mut claim, swarm.plan.claim_fee, slice.as_ref());
		Self::drop_claim(id, number, &claim);
		let own = claim.said.as_ref().map(|spoken| {
			let base = spoken.base_model(swarm.compared);
			[spoken.model, base]
		});
		Doubts::<T>::mutate(id, |doubts| {
			for doubt in doubts.iter_mut() {
				let about = own.is_some_and(|own| own.contains(&doubt.model));
				if let Some(challenge) = doubt.challenge.as_mut().filter(|_| about) {
					challenge.excused = true;
				}
			}
		});
		let reward = Self::take_stake(&claim, &refuter);
		let claimant = claim.claimant;
		Self::deposit_event(Event::Refuted { swarm: id, claim: number, claimant, refuter, reward });
	}
}
