//! Opening a swarm, adding slices, and closing one.

use crate::{
	Config, Error, Event, HoldReason, NextSwarm, Pallet, Peers, RewardFault, Slice, Slices,
	SpecFault, Swarm, Swarms, Templates,
};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::{CheckedSpec, InitialModel, JobSpec};
use trainyard_protocol::{
	federation::{self, PartData, MAX_PIECES},
	job::Balance,
	model_file::Layout,
	swarm::{
		slice_roots, Averaging, Model, Payer, Plan, Stage, Stages, SwarmId, MAX_OWN_SLICES,
		MIN_LABELS,
	},
};
use trainyard_traits::{AwaitedBlobs, Beacon, BlobStore, PostedJobs};

impl<T: Config> Pallet<T> {
	/// Returns the job that measures a model by a slice, if its specification is valid.
	pub(crate) fn spec_of(
		template: &JobSpec,
		slice: &PartData,
		initial: &InitialModel,
	) -> Result<CheckedSpec, Error<T>> {
		let spec = federation::spec_of_part(template, slice, initial);
		spec.check().map_err(|error| Error::InvalidSpec(SpecFault(error)))
	}

	/// Fails with the first rule that a plan breaks, but for those that depend on what a job costs.
	fn check_plan(plan: &Plan, budget: Balance) -> Result<(), Error<T>> {
		Self::check_averaging(plan)?;
		plan.reward.check().map_err(|fault| Error::InvalidReward(RewardFault(fault)))?;
		let (least, most) = (T::MinBlocks::get(), T::MaxBlocks::get());
		let Stages { collect, show, count, challenge } = plan.stages;
		let window = T::MinWindow::get().max(least);
		let own = [collect, plan.ticket_blocks];
		let others = [show, count, challenge];
		let fits = own.iter().all(|blocks| (least..=most).contains(blocks))
			&& others.iter().all(|blocks| (window..=most).contains(blocks));
		ensure!(fits, Error::<T>::BadBlocks);
		let now = Self::now();
		let last = now.saturating_add(T::MaxLife::get());
		ensure!(plan.end > now && plan.end <= last, Error::<T>::BadEnd);
		ensure!(plan.max_peers > 0, Error::<T>::BadPeers);
		ensure!((budget > 0) == (plan.payer == Payer::Budget), Error::<T>::BadBudget);
		ensure!(plan.claim_fee >= T::MinClaimFee::get(), Error::<T>::FeeTooLow);
		let stake = plan.reward.stake;
		ensure!(plan.slice_deposit >= stake, Error::<T>::SliceDepositTooLow);
		stake.checked_add(plan.claim_fee).ok_or(Error::<T>::AmountOverflow)?;
		Ok(())
	}

	pub(crate) fn do_open(
		opener: T::AccountId,
		template: JobSpec,
		slices: crate::NewSlices,
		plan: Plan,
		budget: Balance,
	) -> DispatchResult {
		Self::check_plan(&plan, budget)?;
		let initial = template.initial_model.clone().ok_or(Error::<T>::NoInitialModel)?;
		let root = initial.file.content_hash;
		let sized = T::Blobs::size(&root) == Some(initial.file.bytes);
		// It is kept as long as nothing is better: another's would be held against its will.
		let owned = T::Blobs::owner(&root).as_ref() == Some(&opener);
		let there = initial.file.is_on_chain() && sized && T::Blobs::is_complete(&root);
		ensure!(there && owned, Error::<T>::NoInitialModel);
		let first = slices.first().ok_or(Error::<T>::NoSlices)?;
		let spec = Self::spec_of(&template, first, &initial)?;
		let fresh = plan.averaging == Averaging::Pairs || spec.has_noise();
		ensure!(fresh, Error::<T>::NoNoise);
		ensure!(spec.segments() == 1, Error::<T>::TooManySegments);
		let layout = Layout::of(&spec);
		let pieces = federation::pieces(&layout).len();
		ensure!(pieces <= MAX_PIECES as usize, Error::<T>::TooManyPieces);
		// Whoever challenges a count later may find that the market has moved; a stake is twice this.
		let job = T::Jobs::check(&opener, &spec, &plan.appeal, plan.max_fee_per_ut)?;
		let stake = plan.reward.stake;
		ensure!(stake >= job.saturating_mul(2), Error::<T>::StakeTooLow);

		let id = NextSwarm::<T>::get();
		NextSwarm::<T>::put(id.checked_add(1).ok_or(Error::<T>::TooMany)?);
		let steps = T::RecordByte::get().checked_mul(Self::contribution_bytes(&plan));
		let base = steps.and_then(|steps| steps.checked_add(T::RecordBase::get()));
		let base = base.ok_or(Error::<T>::AmountOverflow)?;
		let record = Self::bytes_deposit(&(&template, &plan), base)?;
		Self::hold(HoldReason::Budget, &opener, budget)?;
		Self::hold(HoldReason::Record, &opener, record)?;
		let (now, end) = (Self::now(), plan.end);
		let rows = (first.train_rows, first.validation_rows);
		let labels = first.validation_rows.saturating_mul(spec.labels_per_row());
		ensure!(labels >= MIN_LABELS, Error::<T>::TooFewLabels);
		let slice_bytes = Self::most_bytes(first);
		let best = Model { root, parameters: initial.parameters };
		let mut swarm = Swarm {
			opener: opener.clone(),
			record,
			budget,
			size: layout.size,
			labels,
			rows,
			slice_bytes,
			began: now,
			planned_end: end,
			seed: None,
			seed_after: T::Beacon::draw_height(now),
			stage: Stage::Idle,
			round: 0,
			round_began: now,
			previous_began: now,
			idle_since: now,
			pace: 0,
			drawable: 0,
			draws: 0,
			claims: 0,
			said: 0,
			full: 0,
			best,
			maker: None,
			compared: best,
			best_score: 0,
			progress: plan.reward.floor,
			peers: 0,
			next_slice: 0,
			waiting: BoundedVec::new(),
			shown: BoundedVec::new(),
			steps: BoundedVec::new(),
			open_step: None,
			shares: 0,
			per_share: 0,
			pot: 0,
			plan,
		};
		Self::deposit_event(Event::Opened { swarm: id, opener: opener.clone(), budget });
		Self::take_slices(id, &mut swarm, &template, &opener, slices)?;
		T::Blobs::expect(&root);
		Self::schedule(id, now.saturating_add(1));
		Swarms::<T>::insert(id, swarm);
		Templates::<T>::insert(id, template);
		Ok(())
	}

	/// Returns the deposit for these bytes of a record.
	fn bytes_deposit(of: &impl Encode, base: Balance) -> Result<Balance, Error<T>> {
		let bytes = Balance::try_from(of.encoded_size()).unwrap_or(Balance::MAX);
		let deposit = T::RecordByte::get().checked_mul(bytes);
		deposit.and_then(|bytes| bytes.checked_add(base)).ok_or(Error::<T>::AmountOverflow)
	}

	/// Returns the bytes of the longest file of a slice.
	fn most_bytes(data: &PartData) -> u64 {
		let labels = data.labels.as_ref().map_or(0, |file| file.bytes);
		data.file.bytes.max(labels)
	}

	/// Puts slices on record that wait to be drawn.
	fn take_slices(
		id: SwarmId,
		swarm: &mut Swarm<T::AccountId>,
		template: &JobSpec,
		owner: &T::AccountId,
		slices: crate::NewSlices,
	) -> DispatchResult {
		let initial = template.initial_model.as_ref().ok_or(Error::<T>::NoInitialModel)?;
		let (first, count) = (swarm.next_slice, u32::try_from(slices.len()).unwrap_or(u32::MAX));
		for data in slices {
			Self::spec_of(template, &data, initial)?;
			ensure!(slice_roots(&data).is_some(), Error::<T>::NotOnChain);
			let same = (data.train_rows, data.validation_rows) == swarm.rows;
			let short = Self::most_bytes(&data) <= swarm.slice_bytes;
			ensure!(same && short, Error::<T>::OtherSlices);
			let deposit = Self::bytes_deposit(&data, swarm.plan.slice_deposit)?;
			Self::hold(HoldReason::Slice, owner, deposit)?;
			let number = swarm.next_slice;
			swarm.next_slice = number.checked_add(1).ok_or(Error::<T>::TooMany)?;
			swarm.waiting.try_push(number).map_err(|_| Error::<T>::TooManySlices)?;
			Slices::<T>::insert(id, number, Slice { owner: owner.clone(), data, deposit });
		}
		let owner = owner.clone();
		Self::deposit_event(Event::SlicesAdded { swarm: id, owner, first, count });
		Ok(())
	}

	pub(crate) fn do_add_slices(
		who: T::AccountId,
		id: SwarmId,
		slices: crate::NewSlices,
	) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let is_peer = || swarm.plan.open_slices && Peers::<T>::contains_key(id, &who);
		ensure!(who == swarm.opener || is_peer(), Error::<T>::NotOpener);
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		ensure!(!slices.is_empty(), Error::<T>::NoSlices);
		let template = Templates::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		if who != swarm.opener {
			let own = swarm.waiting.iter().filter_map(|number| Slices::<T>::get(id, number));
			let own = own.filter(|slice| slice.owner == who).count();
			let all = own.saturating_add(slices.len());
			ensure!(all <= MAX_OWN_SLICES as usize, Error::<T>::TooManySlices);
		}
		Self::take_slices(id, &mut swarm, &template, &who, slices)?;
		Swarms::<T>::insert(id, swarm);
		Ok(())
	}

	/// Returns whether a claim could begin now, as far as time decides.
	pub(crate) fn takes_claims(swarm: &Swarm<T::AccountId>) -> bool {
		swarm.stage != Stage::Ended && Self::now() <= swarm.plan.end
	}

	pub(crate) fn do_close(who: T::AccountId, id: SwarmId) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		ensure!(who == swarm.opener, Error::<T>::NotOpener);
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		let end = Self::now().saturating_add(swarm.plan.ticket_blocks).min(swarm.plan.end);
		swarm.plan.end = end;
		if swarm.stage == Stage::Idle {
			Self::schedule(id, Self::rest(&swarm, Self::now()));
		}
		Swarms::<T>::insert(id, swarm);
		Self::deposit_event(Event::Closing { swarm: id, end });
		Ok(())
	}

	/// Keeps the blobs of a slice, which need not be there yet.
	pub(crate) fn expect_slice(data: &PartData) {
		slice_roots(data).unwrap_or_default().iter().for_each(T::Blobs::expect);
	}

	/// Lets the blobs of a slice go.
	pub(crate) fn release_slice(data: &PartData, keepers: &[T::AccountId]) {
		for root in slice_roots(data).unwrap_or_default() {
			T::Blobs::release(&root, keepers);
		}
	}

	/// Returns whether all blobs of a slice are there as it says.
	pub(crate) fn is_shown(data: &PartData) -> bool {
		let files: Vec<_> = core::iter::once(&data.file).chain(data.labels.as_ref()).collect();
		files.into_iter().all(|file| {
			let root = &file.content_hash;
			T::Blobs::size(root) == Some(file.bytes) && T::Blobs::is_complete(root)
		})
	}

	/// Returns the layout of a model's file.
	pub(crate) fn layout(id: SwarmId, slice: &PartData) -> Result<Layout, DispatchError> {
		let template = Templates::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let initial = template.initial_model.clone().ok_or(Error::<T>::NoInitialModel)?;
		Ok(Layout::of(&Self::spec_of(&template, slice, &initial)?))
	}
}
