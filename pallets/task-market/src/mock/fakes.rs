//! What the market meets, by fakes: trainers, a beacon, submissions, audits, a court and a blob store.
//! Tests say by its statics what each of them answers.

use super::*;

/// A round of the fake submissions.
#[derive(Clone, Default)]
pub struct FakeRound {
	pub trainers: Vec<AccountId>,
	pub committed: BTreeMap<AccountId, H256>,
	pub reveals: BTreeMap<AccountId, Reveal>,
	/// Segments that a result may have.
	pub segments: Option<RangeInclusive<u32>>,
	pub revealing: bool,
	pub closed: bool,
}

/// An audit of the fake verifiers.
#[derive(Clone)]
pub struct FakeAudit {
	pub request: AuditRequest<AccountId>,
	pub opened: u32,
	pub decisions: Option<Vec<Decision>>,
	/// What it comes to beside the decisions.
	pub outcome: Outcome<AccountId>,
}

pub struct FakeTrainers;
impl traits::TrainerRegistry<AccountId> for FakeTrainers {
	fn is_trainer(who: &AccountId) -> bool {
		Bonds::get().contains_key(who)
	}
	fn bond(who: &AccountId) -> Balance {
		Bonds::get().get(who).copied().unwrap_or(0)
	}
	/// It is as late in milliseconds as in blocks.
	fn credit_training(who: &AccountId, work: MicroUt) -> Option<u64> {
		Credited::mutate(|credited| credited.push((*who, work)));
		Bonds::get().contains_key(who).then(|| System::block_number().into())
	}
	fn revoke_training(who: &AccountId, work: MicroUt, credited: u64) {
		Revoked::mutate(|revoked| revoked.push((*who, work, credited)));
	}
	fn training_volume() -> MicroUt {
		TrainingVolume::get()
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_trainer(who: &AccountId) {
		Bonds::mutate(|bonds| bonds.insert(*who, 1_000));
	}
}

/// A seed two blocks after `after`, which is a multiple of [`SeedStep`].
pub struct FakeBeacon;
impl traits::Beacon for FakeBeacon {
	fn draw_height(settled: u32) -> u32 {
		settled.next_multiple_of(SeedStep::get())
	}
	fn horizon() -> u32 {
		3
	}
	fn seed_weight() -> Weight {
		Weight::zero()
	}
	fn seed(domain: &[u8], subject: &[u8], after: u32) -> Seed {
		if LostSeeds::get() > 0 {
			LostSeeds::mutate(|left| *left -= 1);
			return Seed::Lost;
		}
		match after + 2 {
			at if at > TaskMarket::now() => Seed::NotBefore(at),
			_ => Seed::Ready(seed_of(domain, subject, after)),
		}
	}
}

/// The fake beacon's seed.
pub fn seed_of(domain: &[u8], subject: &[u8], after: u32) -> H256 {
	H256(sp_io::hashing::blake2_256(&[domain, subject, &after.to_le_bytes()].concat()))
}

pub struct FakeSubmissions;
impl traits::Submissions<AccountId> for FakeSubmissions {
	fn open(job: JobId, trainers: &[AccountId], segments: RangeInclusive<u32>) -> DispatchResult {
		if RefuseRounds::get() {
			return Err(DispatchError::Other("refused"));
		}
		let (trainers, segments) = (trainers.to_vec(), Some(segments));
		let round = FakeRound { trainers, segments, ..Default::default() };
		Rounds::mutate(|rounds| rounds.insert(job, round));
		Ok(())
	}
	fn open_reveals(job: JobId) -> Vec<AccountId> {
		Rounds::mutate(|rounds| rounds.get_mut(&job).unwrap().revealing = true);
		Self::commitments(job).into_iter().map(|(who, _)| who).collect()
	}
	fn is_complete(job: JobId) -> bool {
		let Some(round) = Rounds::get().remove(&job) else { return false };
		if round.revealing {
			round.reveals.len() == round.committed.len()
		} else {
			round.committed.len() == round.trainers.len()
		}
	}
	fn close(job: JobId) -> Vec<(AccountId, Reveal)> {
		Rounds::mutate(|rounds| rounds.get_mut(&job).map(|round| round.closed = true));
		Self::reveals(job)
	}
	fn reveals(job: JobId) -> Vec<(AccountId, Reveal)> {
		let round = Rounds::get().remove(&job).unwrap_or_default();
		round.trainers.iter().filter_map(|t| Some((*t, round.reveals.get(t)?.clone()))).collect()
	}
	fn commitments(job: JobId) -> Vec<(AccountId, H256)> {
		let round = Rounds::get().remove(&job).unwrap_or_default();
		let of = |trainer| Some((trainer, *round.committed.get(&trainer)?));
		round.trainers.into_iter().filter_map(of).collect()
	}
	fn remove(job: JobId) {
		Rounds::mutate(|rounds| rounds.remove(&job));
	}
}

pub struct FakeAudits;
impl traits::Audits<AccountId> for FakeAudits {
	fn can_seat(request: &CommitteeRequest<AccountId>) -> bool {
		Asked::set(Some(request.clone()));
		CanSeat::get()
	}
	fn can_seat_weight() -> Weight {
		Weight::from_parts(1_000, 1)
	}
	fn open(job: JobId, request: AuditRequest<AccountId>) -> DispatchResult {
		if RefuseAudits::get() {
			return Err(DispatchError::Other("refused"));
		}
		let opened = TaskMarket::now();
		let audit = FakeAudit { request, opened, decisions: None, outcome: Default::default() };
		AuditBook::mutate(|book| book.insert(job, audit));
		Ok(())
	}
	fn advance(job: JobId) -> AuditStatus<AccountId> {
		let audit = AuditBook::get().remove(&job).unwrap();
		let until = audit.opened + AUDIT_BLOCKS;
		let undecided = vec![Decision::Undecided; audit.request.groups.len()];
		match audit.decisions {
			Some(decisions) => AuditStatus::Done(Outcome { decisions, ..audit.outcome }),
			None if NoVerifiers::get() || CommitteeSits::get() => {
				AuditStatus::Pending(TaskMarket::now() + 10)
			}
			None if TaskMarket::now() < until => AuditStatus::Pending(until),
			None => AuditStatus::Done(Outcome { decisions: undecided, ..audit.outcome }),
		}
	}
	fn give_up(job: JobId) {
		if CommitteeSits::get() {
			return;
		}
		AuditBook::mutate(|book| {
			if let Some(audit) = book.get_mut(&job).filter(|audit| audit.decisions.is_none()) {
				audit.decisions = Some(vec![Decision::Undecided; audit.request.groups.len()]);
				audit.outcome.unseated = NoVerifiers::get();
			}
		});
	}
	fn remove(job: JobId) {
		AuditBook::mutate(|book| book.remove(&job));
	}
	fn known(job: JobId, trainer: &AccountId) -> Option<claims::Known> {
		let audit = AuditBook::get().remove(&job).filter(|audit| audit.decisions.is_none())?;
		let mut all = audit.request.groups.iter().flat_map(|(_, all)| all);
		let root = all.find(|one| one.trainer == *trainer)?.bundle_root;
		let (round, stands, asked) = News::get()?;
		Some(claims::Known { root, round, stands, asked })
	}
	fn tickets(_: JobId, _: &AccountId) -> Option<u32> {
		TicketsOf::get()
	}
	fn known_weight() -> Weight {
		Weight::from_parts(1_000, 1)
	}
	fn silence_cost(fee: Balance) -> Balance {
		5 * fee
	}
	fn advance_weight() -> Weight {
		Weight::from_parts(1_000_000, 1_000)
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() {
		CanSeat::set(true);
	}
}

/// Pools that note what they are told.
pub struct FakePools;
impl traits::ClaimPools<AccountId> for FakePools {
	fn paid(job: JobId, trainer: &AccountId, got: Balance, mean: Option<Balance>) {
		Told::mutate(|told| told.push((job, *trainer, got, mean)));
	}
	fn paid_weight() -> Weight {
		Weight::zero()
	}
}

/// A court of which tests say what it does.
pub struct FakeCourt;
impl traits::Court<AccountId> for FakeCourt {
	fn accuse(
		_: &AccountId,
		_: traits::Accusation<AccountId>,
		_: u32,
		_: Balance,
	) -> Result<u64, DispatchError> {
		Err(DispatchError::Other("no seat accuses here"))
	}
	fn is_accusing(
		_: &AccountId,
		_: &traits::Defendant<AccountId>,
		_: &trainyard_protocol::accusation::Target,
	) -> bool {
		false
	}
	fn standing(_: JobId) -> traits::Standing {
		let (disputes, ended) = (Disputes::get(), DisputeEnded::get());
		traits::Standing { disputes, ended, ..Default::default() }
	}
	fn settle(defendant: &traits::Defendant<AccountId>, acquitted: bool) -> Balance {
		Acquittals::mutate(|all| all.push((*defendant.who(), acquitted)));
		Won::get()
	}
	fn acquit_seats(job: JobId) {
		AcquittedSeats::mutate(|all| all.push(job));
	}
	fn reclaim(_: &traits::Defendant<AccountId>, _: &AccountId, _: Balance) -> Balance {
		0
	}
	fn forget(job: JobId) {
		ForgottenDisputes::mutate(|all| all.push(job));
	}
	fn accuse_weight() -> Weight {
		Weight::zero()
	}
	fn standing_weight() -> Weight {
		Weight::zero()
	}
	fn settle_weight() -> Weight {
		Weight::zero()
	}
	fn acquit_seats_weight() -> Weight {
		Weight::zero()
	}
	fn forget_weight() -> Weight {
		Weight::zero()
	}
}

pub struct FakeBlobs;
impl traits::BlobStore for FakeBlobs {
	fn is_complete(root: &H256) -> bool {
		!MissingModels::get().contains(root)
	}
	fn size(_: &H256) -> Option<u64> {
		None
	}
	fn has_chunks(_: &H256, _: core::ops::Range<u32>) -> bool {
		false
	}
}
impl traits::AwaitedBlobs<AccountId> for FakeBlobs {
	fn owner(_: &H256) -> Option<AccountId> {
		None
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(_: &AccountId, _: u64) -> H256 {
		unreachable!("nothing here asks for it")
	}
	fn expect(root: &H256) {
		Expected::mutate(|expected| *expected.entry(*root).or_insert(0) += 1);
	}
	fn release(root: &H256, keepers: &[AccountId]) {
		Expected::mutate(|expected| {
			let names = expected.get_mut(root).expect("it is awaited");
			*names -= 1;
			if *names == 0 {
				expected.remove(root);
			}
		});
		Kept::mutate(|kept| kept.push((*root, keepers.to_vec())));
	}
	fn watch(_: &H256, _: &AccountId) {}
	fn brought(_: &H256, _: &AccountId) -> u64 {
		0
	}
	fn full_blocks() -> u32 {
		FullBlocks::get()
	}
}

parameter_types! {
	/// What was noted of accounts, in order: as what they did what, and what it counts as.
	pub static Noted: Vec<(Role, AccountId, Deed, Balance)> = Vec::new();
	/// What is known of trainers from earlier jobs.
	pub static Known: BTreeMap<AccountId, Record> = BTreeMap::new();
	/// What finders were paid of deposits.
	pub static FoundPrizes: Balance = 0;
}

pub struct FakeReputation;

impl traits::Reputation<AccountId> for FakeReputation {
	fn note(role: Role, who: &AccountId, deed: Deed, weight: Balance) {
		Noted::mutate(|noted| noted.push((role, *who, deed, weight)));
	}

	fn record(role: Role, who: &AccountId) -> Record {
		assert_eq!(role, Role::Trainer);
		Known::get().get(who).copied().unwrap_or_default()
	}

	fn found(prize: Balance) {
		FoundPrizes::mutate(|all| *all += prize);
	}

	fn note_weight() -> Weight {
		Weight::zero()
	}
}
