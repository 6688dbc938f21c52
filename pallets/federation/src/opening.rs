//! Opening a federation, and stopping one.

use crate::{
	Config, Error, Event, Federation, Federations, HoldReason, NextFederation, Pallet, Part, Parts,
	SpecFault, Template, Templates,
};
use codec::Encode;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::{CheckedSpec, InitialModel, JobSpec};
use trainyard_protocol::{
	federation::{
		self, FederationEnding, FederationId, PartData, Plan, Rule, Stage, MAX_PIECES, MAX_ROUNDS,
	},
	job::{Balance, Terms},
	model_file::Layout,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, PostedJobs};

impl<T: Config> Pallet<T> {
	/// Returns what a part trains, if the specification is valid.
	pub(crate) fn spec_of(
		template: &JobSpec,
		part: &PartData,
		initial: &InitialModel,
	) -> Result<CheckedSpec, Error<T>> {
		let spec = federation::spec_of_part(template, part, initial);
		spec.check().map_err(|error| Error::InvalidSpec(SpecFault(error)))
	}

	/// Fails with the first rule that a plan breaks.
	fn check_plan(plan: &Plan, parts: &Parts, terms: &Terms) -> Result<(), Error<T>> {
		ensure!(!parts.is_empty(), Error::<T>::BadParts);
		let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
		ensure!((1..=count).contains(&plan.min_parts), Error::<T>::BadMinParts);
		ensure!((1..=MAX_ROUNDS).contains(&plan.rounds), Error::<T>::BadRounds);
		ensure!(plan.round_blocks >= T::MinRoundBlocks::get(), Error::<T>::BadRoundBlocks);
		let can_agree = plan.rule == Rule::Settled || terms.replicas >= 2;
		ensure!(can_agree, Error::<T>::NobodyToAgree);
		ensure!(plan.aggregate_fee >= T::MinAggregateFee::get(), Error::<T>::FeeTooLow);
		Ok(())
	}

	pub(crate) fn do_open(
		submitter: T::AccountId,
		template: JobSpec,
		parts: Parts,
		terms: Terms,
		plan: Plan,
	) -> DispatchResult {
		Self::check_plan(&plan, &parts, &terms)?;
		let initial = template.initial_model.clone().ok_or(Error::<T>::NoInitialModel)?;
		let mut first = None;
		for part in &parts {
			let spec = Self::spec_of(&template, part, &initial)?;
			first = first.or(Some(spec));
		}
		let spec = first.ok_or(Error::<T>::BadParts)?;
		let layout = Layout::of(&spec);
		let pieces = federation::pieces(&layout).len();
		ensure!(pieces <= MAX_PIECES as usize, Error::<T>::TooManyPieces);
		if initial.file.is_on_chain() {
			let root = &initial.file.content_hash;
			let sized = T::Blobs::size(root) == Some(initial.file.bytes);
			ensure!(sized && T::Blobs::is_complete(root), Error::<T>::ModelMissing);
		}
		// Later the same can fail, as the market moves; then a part is not posted, and an event says why.
		T::Jobs::check(&submitter, &spec, &terms, plan.max_fee_per_ut)?;

		let id = NextFederation::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::TooManyFederations)?;
		let fees = plan.aggregate_fee.checked_mul(Balance::from(plan.rounds));
		let fees = fees.ok_or(Error::<T>::AmountOverflow)?;
		let template = Template { spec: template, parts };
		let bytes = Balance::try_from(template.encoded_size()).unwrap_or(Balance::MAX);
		let rounds = Balance::from(plan.rounds).saturating_mul(Self::round_bytes(&template.parts));
		let bytes = bytes.saturating_add(rounds);
		let record = T::RecordByte::get().checked_mul(bytes);
		let record = record.and_then(|bytes| bytes.checked_add(T::RecordBase::get()));
		let record = record.ok_or(Error::<T>::AmountOverflow)?;
		Self::hold(HoldReason::Fees, &submitter, fees)?;
		Self::hold(HoldReason::Record, &submitter, record)?;

		NextFederation::<T>::put(next);
		let (now, count) = (Self::now(), template.parts.len());
		let (parts, rounds) = (u32::try_from(count).unwrap_or(u32::MAX), plan.rounds);
		Self::keep_initial(&initial);
		let federation = Federation {
			submitter: submitter.clone(),
			terms,
			plan,
			record,
			fees,
			size: layout.size,
			stage: Stage::Training,
			round: 0,
			since: now,
			initial,
			parts: BoundedVec::truncate_from(alloc::vec![Part::default(); count]),
			undecided: BoundedVec::new(),
			tainted: None,
			proposals: BoundedVec::new(),
			next_proposal: 0,
		};
		Federations::<T>::insert(id, federation);
		Templates::<T>::insert(id, template);
		Self::schedule(id, now.saturating_add(1));
		Self::deposit_event(Event::Opened { federation: id, submitter, parts, rounds, fees });
		Ok(())
	}

	/// Returns the bytes of a round on record, at most.
	fn round_bytes(parts: &Parts) -> Balance {
		// Two hashes, a height and a length; of each part its number, its job and its root.
		let parts = u128::try_from(parts.len()).unwrap_or(u128::MAX);
		parts.saturating_mul(40).saturating_add(72)
	}

	/// Keeps an initial model on chain that is there.
	pub(crate) fn keep_initial(initial: &InitialModel) {
		if initial.file.is_on_chain() {
			T::Blobs::expect(&initial.file.content_hash);
		}
	}

	/// Lets the model of the present round go. One that an earlier round made is kept as long as other models; the first
	/// one is whosever it is, and naming it keeps nothing of a stranger's on hold.
	pub(crate) fn release_initial(federation: &Federation<T::AccountId>) {
		let initial = &federation.initial;
		if initial.file.is_on_chain() {
			let keepers = match federation.round {
				0 => &[][..],
				_ => core::slice::from_ref(&federation.submitter),
			};
			T::Blobs::release(&initial.file.content_hash, keepers);
		}
	}

	pub(crate) fn do_cancel(who: T::AccountId, id: FederationId) -> DispatchResult {
		let mut federation = Federations::<T>::get(id).ok_or(Error::<T>::NoSuchFederation)?;
		ensure!(who == federation.submitter, Error::<T>::NotSubmitter);
		ensure!(!matches!(federation.stage, Stage::Ended(_)), Error::<T>::HasEnded);
		let next = Self::end(id, &mut federation, FederationEnding::Cancelled);
		Self::schedule(id, next);
		Federations::<T>::insert(id, federation);
		Ok(())
	}
}
