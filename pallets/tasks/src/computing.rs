//! Commitments of replicas and auditors, and what they show.

use crate::{
	posting::TaskOf, Claimed, Config, Error, Event, Inline, Outputs, Pallet, Replica, Subject,
	Tasks, MAX_INLINE,
};
use frame_support::{ensure, pallet_prelude::DispatchResult};
use trainyard_pallet_support::agenda::Clock;
use trainyard_task::{claim, views::Phase, Claim, Ends, File, TaskId, H256};
use trainyard_traits::AwaitedBlobs;

impl<T: Config> Pallet<T> {
	/// Returns the seat of `who` in the phase that runs.
	fn seat<'a>(
		task: &'a mut TaskOf<T>,
		who: &T::AccountId,
	) -> Option<&'a mut Replica<T::AccountId>> {
		task.replicas.iter_mut().chain(&mut task.auditor).find(|replica| replica.who == *who)
	}

	pub(crate) fn do_commit(who: T::AccountId, id: TaskId, commitment: H256) -> DispatchResult {
		let mut task = Self::task(id)?;
		let until = match task.phase {
			Phase::Computing { until } | Phase::Auditing { until, .. } => until,
			_ => return Err(Error::<T>::NotComputing.into()),
		};
		ensure!(Self::now() <= until, Error::<T>::NotComputing);
		let auditing = matches!(task.phase, Phase::Auditing { .. });
		let is_auditor = task.auditor.as_ref().is_some_and(|auditor| auditor.who == who);
		let replica = Self::seat(&mut task, &who).ok_or(Error::<T>::NotReplica)?;
		// What a replica is bound to is drawn against.
		ensure!(!auditing || is_auditor, Error::<T>::NotComputing);
		ensure!(replica.commitment.is_none(), Error::<T>::HasCommitted);
		replica.commitment = Some(commitment);
		if task.replicas.iter().chain(&task.auditor).all(|one| one.commitment.is_some()) {
			Self::hasten(Subject::Task(id));
		}
		Tasks::<T>::insert(id, task);
		Self::deposit_event(Event::Committed { task: id, who });
		Ok(())
	}

	pub(crate) fn do_reveal(
		who: T::AccountId,
		id: TaskId,
		claim: Claim,
		ends: &Ends,
		output: Option<Inline>,
		salt: &[u8; 32],
	) -> DispatchResult {
		let mut task = Self::task(id)?;
		// The hook ends the time for it, which may stand still.
		ensure!(matches!(task.phase, Phase::Revealing { .. }), Error::<T>::NotRevealing);
		let replica = Self::seat(&mut task, &who).ok_or(Error::<T>::NotReplica)?;
		let commitment = replica.commitment.ok_or(Error::<T>::NotReplica)?;
		ensure!(replica.claim.is_none(), Error::<T>::HasRevealed);
		let made = claim::commitment(&Self::genesis_hash(), id, &who, &claim, salt);
		ensure!(made == commitment, Error::<T>::WrongCommitment);
		ensure!(claim.is_of(&task.spec, ends), Error::<T>::WrongClaim);
		let known = (0u8..).zip(&task.claims).find(|(_, claimed)| claimed.claim == claim);
		let known = known.map(|(number, _)| number);
		let output = Self::checked_output(&claim, output, known.is_some())?;
		let number = match known {
			Some(number) => number,
			None => Self::add_claim(&mut task, claim)?,
		};
		if let Some(output) = output.filter(|_| known.is_none()) {
			Outputs::<T>::insert(id, number, output);
		}
		if let Some(replica) = Self::seat(&mut task, &who) {
			replica.claim = Some(number);
		}
		if Self::all_revealed(&task) {
			Self::hasten(Subject::Task(id));
		}
		Tasks::<T>::insert(id, task);
		Self::deposit_event(Event::Revealed { task: id, who, claim: number });
		Ok(())
	}

	fn add_claim(task: &mut TaskOf<T>, claim: Claim) -> Result<u8, Error<T>> {
		let number = u8::try_from(task.claims.len()).map_err(|_| Error::<T>::TooMany)?;
		let claimed = Claimed { claim, out: None };
		if let Some(file) = Self::blob_of(&claimed) {
			T::Blobs::expect(&file.root);
		}
		task.claims.try_push(claimed).map_err(|_| Error::<T>::TooMany)?;
		Ok(number)
	}

	/// Returns the output of a claim where the chain keeps it itself. It is `known` where another replica has
	/// brought it.
	fn checked_output(
		claim: &Claim,
		output: Option<Inline>,
		known: bool,
	) -> Result<Option<Inline>, Error<T>> {
		match (claim.output.file().filter(|file| file.bytes <= MAX_INLINE), &output) {
			(Some(file), Some(bytes)) => {
				ensure!(File::of(bytes) == *file, Error::<T>::WrongOutput);
			}
			(Some(_), None) => ensure!(known, Error::<T>::NeedsOutput),
			(None, Some(_)) => return Err(Error::<T>::NeedsNoOutput),
			(None, None) => {}
		}
		Ok(output)
	}

	/// Returns the blob in which the output of a claim is; `None` of a fault, and of a short one.
	pub(crate) fn blob_of(claimed: &Claimed) -> Option<&File> {
		claimed.claim.output.file().filter(|file| file.bytes > MAX_INLINE)
	}

	/// Returns whether the output of a claim is there.
	pub(crate) fn is_stored(task: &TaskOf<T>, number: usize) -> bool {
		// A short output came with the claim.
		let claimed = task.claims.get(number);
		claimed.is_some_and(|claimed| Self::blob_of(claimed).is_none_or(Self::is_on_chain))
	}
}
