//! Proposals of the aggregate of a round, and their refutation.
//!
//! Proposals stand beside one another in order, each with a window of its own. The first in order that
//! outlasts its window is the model. So a false one that came first holds a round up only until somebody
//! refutes it, one that came after a true one not at all, and a proposal never begins to wait again. Whoever
//! has the models of the round, which are on chain, can say of every proposal whether it is true, and show
//! in one call that a false one is not.

use crate::{
	Config, Error, Event, Federation, Federations, HoldReason, Openings, Pallet, Proposal,
	ProposedPieces, Rounds, Templates,
};
use alloc::vec::Vec;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::InitialModel;
use trainyard_protocol::{
	blob,
	content::CHUNK_BYTES,
	federation::{
		self, FederationEnding, FederationId, Pieces, Proposed, Round, Stage, MAX_PROPOSALS,
	},
	job::{Balance, BlockNumber},
	model_file::Layout,
	H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// A federation, and one of its proposals.
type Found<T> = (
	Federation<<T as frame_system::Config>::AccountId>,
	Proposal<<T as frame_system::Config>::AccountId>,
);

impl<T: Config> Pallet<T> {
	/// Returns the layout of the model's file.
	fn layout(id: FederationId, initial: &InitialModel) -> Result<Layout, Error<T>> {
		let template = Templates::<T>::get(id).ok_or(Error::<T>::NoSuchFederation)?;
		let first = template.parts.first().ok_or(Error::<T>::BadParts)?;
		Ok(Layout::of(&Self::spec_of(&template.spec, first, initial)?))
	}

	/// Returns the weight and the root of each result of the running round, in the order of the parts.
	fn answers(
		id: FederationId,
		federation: &Federation<T::AccountId>,
	) -> Result<Vec<(f32, H256)>, Error<T>> {
		let template = Templates::<T>::get(id).ok_or(Error::<T>::NoSuchFederation)?;
		let answered = federation.parts.iter().zip(&template.parts);
		let answered = answered.filter_map(|(part, data)| Some((data.train_rows, part.answer?)));
		let (rows, roots): (Vec<u32>, Vec<H256>) = answered.unzip();
		Ok(federation::weights(&rows).into_iter().zip(roots).collect())
	}

	pub(crate) fn do_propose(
		who: T::AccountId,
		id: FederationId,
		content: H256,
		pieces: Pieces,
	) -> DispatchResult {
		let mut federation = Federations::<T>::get(id).ok_or(Error::<T>::NoSuchFederation)?;
		ensure!(federation.stage == Stage::Aggregating, Error::<T>::NotAggregating);
		let root = blob::root_of(federation.size, &content);
		ensure!(T::Blobs::is_complete(&root), Error::<T>::BlobMissing);
		let full = federation.proposals.len() >= MAX_PROPOSALS as usize;
		ensure!(!full, Error::<T>::TooManyProposals);
		let layout = Self::layout(id, &federation.initial)?;
		let parameters =
			federation::parameters(&layout, &pieces).map_err(|_| Error::<T>::BadPieces)?;
		let same = |other: &Proposal<T::AccountId>| {
			(other.content, other.parameters) == (content, parameters)
		};
		ensure!(!federation.proposals.iter().any(same), Error::<T>::AlreadyProposed);

		let bytes = Balance::try_from(pieces.len()).unwrap_or(Balance::MAX).saturating_mul(32);
		let deposit = T::RecordByte::get().saturating_mul(bytes);
		let deposit = T::ProposalDeposit::get().saturating_add(deposit);
		Self::hold(HoldReason::Proposal, &who, deposit)?;
		T::Blobs::expect(&root);
		let number = federation.next_proposal;
		federation.next_proposal = number.saturating_add(1);
		let until = Self::now().saturating_add(T::Window::get());
		let (proposer, round) = (who.clone(), federation.round);
		let proposal = Proposal { number, proposer, deposit, content, root, parameters, until };
		if federation.proposals.is_empty() {
			let at = until.saturating_add(1);
			Self::schedule(id, Self::next_poll(&federation, Self::now(), at));
		}
		federation.proposals.try_push(proposal).map_err(|_| Error::<T>::TooManyProposals)?;
		ProposedPieces::<T>::insert(id, number, pieces);
		Federations::<T>::insert(id, federation);
		Self::deposit_event(Event::Proposed {
			federation: id,
			round,
			proposal: number,
			proposer: who,
			model: root,
			until,
		});
		Ok(())
	}

	/// Returns a federation and the proposal of this number.
	fn proposal(id: FederationId, number: u32) -> Result<Found<T>, Error<T>> {
		let federation = Federations::<T>::get(id).ok_or(Error::<T>::NoSuchFederation)?;
		let found = federation.proposals.iter().find(|proposal| proposal.number == number);
		let proposal = found.cloned().ok_or(Error::<T>::NoSuchProposal)?;
		Ok((federation, proposal))
	}

	pub(crate) fn do_refute(
		who: T::AccountId,
		id: FederationId,
		number: u32,
		chunk: u64,
		openings: &Openings,
	) -> DispatchResult {
		let (federation, proposal) = Self::proposal(id, number)?;
		let answers = Self::answers(id, &federation)?;
		let (shown, parts) = openings.split_first().ok_or(Error::<T>::WrongOpenings)?;
		ensure!(parts.len() == answers.len(), Error::<T>::WrongOpenings);
		let roots = core::iter::once(&proposal.root).chain(answers.iter().map(|(_, root)| root));
		for (opening, root) in openings.iter().zip(roots) {
			let shows = opening.verify(root, federation.size, chunk);
			shows.map_err(|_| Error::<T>::BadOpening)?;
		}
		let layout = Self::layout(id, &federation.initial)?;
		let weights: Vec<f32> = answers.iter().map(|(weight, _)| *weight).collect();
		let bytes: Vec<&[u8]> = parts.iter().map(|opening| opening.bytes.as_slice()).collect();
		let begin = chunk.saturating_mul(CHUNK_BYTES);
		let made = federation::aggregate(&layout, &weights, begin, &bytes);
		let made = made.ok_or(Error::<T>::WrongOpenings)?;
		ensure!(made != shown.bytes.as_slice(), Error::<T>::NotRefuted);
		Self::convict(who, id, federation, &proposal);
		Ok(())
	}

	pub(crate) fn do_refute_piece(
		who: T::AccountId,
		id: FederationId,
		number: u32,
		piece: u32,
		bytes: &[u8],
		siblings: &[H256],
	) -> DispatchResult {
		let (federation, proposal) = Self::proposal(id, number)?;
		let said = ProposedPieces::<T>::get(id, number).ok_or(Error::<T>::NoSuchProposal)?;
		let said = said.get(piece as usize).ok_or(Error::<T>::NoSuchPiece)?;
		let layout = Self::layout(id, &federation.initial)?;
		let pieces = federation::pieces(&layout);
		let piece = pieces.get(piece as usize).ok_or(Error::<T>::NoSuchPiece)?;
		let found = piece.opened(&proposal.content, federation.size, bytes, siblings);
		let found = found.map_err(|_| Error::<T>::BadOpening)?;
		ensure!(found != *said, Error::<T>::NotRefuted);
		Self::convict(who, id, federation, &proposal);
		Ok(())
	}

	/// Takes a proposal out of the order that was refuted, and shares its deposit out.
	fn convict(
		refuter: T::AccountId,
		id: FederationId,
		mut federation: Federation<T::AccountId>,
		proposal: &Proposal<T::AccountId>,
	) {
		federation.proposals.retain(|other| other.number != proposal.number);
		Self::drop_proposal(id, proposal);
		let half = proposal.deposit / 2;
		let proposer = &proposal.proposer;
		let paid = Self::pay(HoldReason::Proposal, proposer, &refuter, half);
		let reward = if paid { half } else { 0 };
		let burned = proposal.deposit.saturating_sub(reward);
		Self::burn(HoldReason::Proposal, proposer, burned);
		let now = Self::now();
		let next = match federation.proposals.first() {
			Some(first) => first.until.saturating_add(1),
			// Whoever waits for somebody else's proposal has as long again.
			None => {
				federation.since = now;
				now.saturating_add(T::AggregateBlocks::get())
			}
		};
		Self::schedule(id, Self::next_poll(&federation, now, next));
		Federations::<T>::insert(id, federation);
		Self::deposit_event(Event::Refuted {
			federation: id,
			proposal: proposal.number,
			proposer: proposer.clone(),
			refuter,
			reward,
			burned,
		});
	}

	/// Returns the height of the next look.
	pub(crate) fn look_at_aggregating(
		id: FederationId,
		federation: &mut Federation<T::AccountId>,
		now: BlockNumber,
	) -> BlockNumber {
		let Some(first) = federation.proposals.first() else {
			let last = federation.since.saturating_add(T::AggregateBlocks::get());
			return match now >= last {
				true => Self::end(id, federation, FederationEnding::NoAggregate),
				// Results that counted before are looked at meanwhile.
				false => Self::next_poll(federation, now, last),
			};
		};
		if now <= first.until {
			let until = first.until.saturating_add(1);
			return Self::next_poll(federation, now, until);
		}
		Self::stands(id, federation, now)
	}

	/// Returns when a federation is looked at that waits until `at`: sooner where results that counted are not
	/// decided.
	pub(crate) fn next_poll(
		federation: &Federation<T::AccountId>,
		now: BlockNumber,
		at: BlockNumber,
	) -> BlockNumber {
		match federation.undecided.is_empty() {
			true => at,
			false => at.min(now.saturating_add(T::PollBlocks::get())),
		}
	}

	/// Makes the first proposal the model of the round.
	fn stands(
		id: FederationId,
		federation: &mut Federation<T::AccountId>,
		now: BlockNumber,
	) -> BlockNumber {
		let mut proposals = core::mem::take(&mut federation.proposals).into_iter();
		let Some(won) = proposals.next() else { return now.saturating_add(1) };
		let proposed = Proposed { content: won.content, parameters: won.parameters };
		let initial = federation::initial_on_chain(federation.size, &proposed);
		let submitter = federation.submitter.clone();
		Self::release_initial(federation);
		Self::keep_initial(&initial);
		federation.initial = initial;

		let fee = federation.plan.aggregate_fee.min(federation.fees);
		let paid = Self::pay(HoldReason::Fees, &submitter, &won.proposer, fee);
		if !paid {
			Self::give_back(HoldReason::Fees, &submitter, fee);
		}
		federation.fees = federation.fees.saturating_sub(fee);
		for proposal in core::iter::once(&won).chain(proposals.as_slice()) {
			Self::drop_proposal(id, proposal);
			Self::give_back(HoldReason::Proposal, &proposal.proposer, proposal.deposit);
		}
		let parts = (0u32..).zip(&federation.parts);
		let parts = parts.filter_map(|(number, part)| Some((number, part.job?, part.answer?)));
		let parts = BoundedVec::truncate_from(parts.collect());
		let round = federation.round;
		let (root, parameters) = (won.root, won.parameters);
		Rounds::<T>::insert(id, round, Round { root, parameters, parts, at: now });
		Self::release_answers(federation);
		for part in federation.parts.iter_mut() {
			*part = crate::Part::default();
		}
		let fee = if paid { fee } else { 0 };
		let (federation_id, model, proposer) = (id, root, won.proposer);
		Self::deposit_event(Event::RoundEnded {
			federation: federation_id,
			round,
			model,
			proposer,
			fee,
		});
		federation.round = round.saturating_add(1);
		federation.since = now;
		federation.stage = match federation.round >= federation.plan.rounds {
			true => Stage::Finishing,
			false => Stage::Training,
		};
		now.saturating_add(1)
	}
}
