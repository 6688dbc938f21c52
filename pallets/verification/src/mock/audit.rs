//! Audits as they are played: what trainers delivered, what seats find of it, and whole rounds.

use super::*;
use alloc::collections::BTreeSet;
use trainyard_protocol::{
	accusation::{Claimed, LeafContent, Target},
	audit::{
		AuditPhase, Ended, Findings, GroupVerdict, Paths, Rejection, Replayed, SegmentEvidence,
	},
	blob,
	bundle::{self, Checkpoint, Evaluation},
	commitment,
	duties::{self, Drawing},
	forced,
	job::WorkResult,
	merkle,
	pieces::{tensor_blob, Answer, Answers, Leaf, LeavesPart, Piece, Pieces},
	state::{state_hash, TensorDigest, TensorProof},
	trace,
	views::AuditView,
	vrf,
};
use trainyard_traits::{AuditRequest, AuditStatus, Audits, Delivery};

/// A request for an audit of `groups` results by `verifiers` verifiers over 2 of 10 segments of
/// each.
pub fn request(groups: usize, verifiers: u32) -> AuditRequest<AccountId> {
	AuditRequest {
		groups: TRAINERS[..groups].iter().map(|who| group_of(&[*who])).collect(),
		assignment: ASSIGNMENT,
		parties: [SUBMITTER].into_iter().chain(TRAINERS).collect(),
		drawing: Drawing { draws: 2, lottery: None },
		verifiers,
		fee: FEE,
		price: 0,
		needs: NEEDS,
		rate: 2_000_000_000,
		fetch: 0,
		recompute: Default::default(),
		challenge: CHALLENGE,
		window: LENGTH,
		again: AGAIN,
		sizes: SIZES,
		storage_byte: BYTE,
		storage: STORAGE,
	}
}

/// The assignment seed.
pub const ASSIGNMENT: H256 = H256([77; 32]);

/// From what `who` draws its forced leaves.
pub fn secret(who: AccountId) -> forced::Secret {
	[who as u8; 32]
}

/// What these trainers delivered, the same result, as a group.
pub fn group_of(trainers: &[AccountId]) -> (WorkResult, Vec<Delivery<AccountId>>) {
	let delivery = |trainer: &AccountId| Delivery {
		trainer: *trainer,
		bundle_root: bundle_by(trainers[0], *trainer),
		forced: forced::commitment(&secret(*trainer)),
	};
	(result_of(trainers[0]).common(), trainers.iter().map(delivery).collect())
}

/// The root of the trace of a segment of what `who` trained.
fn trace_root(who: AccountId, segment: u32) -> H256 {
	H256(sp_io::hashing::blake2_256(&(who, segment).encode()))
}

/// The tensors of the states of what `who` trained.
fn tensors(who: AccountId) -> Vec<TensorDigest> {
	let content = |at: usize| H256([who as u8, at as u8].repeat(16).try_into().unwrap());
	let all = FakeSpecs::tensors(JOB).into_iter().enumerate();
	all.map(|(at, e)| TensorDigest::of_f32(e.name, e.shape, content(at))).collect()
}

/// The checkpoints that a trainer commits to, as leaves.
pub fn checkpoints(who: AccountId) -> Vec<Checkpoint> {
	(0..=SEGMENTS)
		.map(|step| {
			let evaluation = Evaluation::new(1.0, step, 20);
			let state = state_hash(tensors(who));
			let trace = trace::seal(&trace_root(who, step.wrapping_sub(1)));
			Checkpoint { step, state, evaluation, trace }
		})
		.collect()
}

/// What `of` trained, as it is in the bundle of `who`, who forced some to be false.
pub fn shown_by(of: AccountId, who: AccountId) -> Vec<Checkpoint> {
	forced::mark(&ASSIGNMENT, &secret(who), &checkpoints(of))
}

/// What `who` trained, as it is in its own bundle.
pub fn shown(who: AccountId) -> Vec<Checkpoint> {
	shown_by(who, who)
}

/// The root of the bundle of `who`, of what `of` trained.
pub fn bundle_by(of: AccountId, who: AccountId) -> H256 {
	bundle::bundle_root(shown_by(of, who), None)
}

pub fn bundle_of(who: AccountId) -> H256 {
	thread_local!(
		static ROOTS: core::cell::RefCell<BTreeMap<AccountId, H256>> = Default::default()
	);
	ROOTS.with_borrow_mut(|roots| {
		*roots.entry(who).or_insert_with(|| bundle::bundle_root(shown(who), None))
	})
}

/// The root over what `who` computed.
pub fn true_root_of(who: AccountId) -> H256 {
	bundle::bundle_root(checkpoints(who), None)
}

/// What opens the bundle of `who`, of what `of` trained.
pub fn opening_by(of: AccountId, who: AccountId) -> forced::Opening {
	let computed = checkpoints(of);
	let leaves = bundle::bundle_leaves(computed.iter().copied(), None);
	forced::Opening::of(&ASSIGNMENT, &secret(who), &computed, &leaves).unwrap()
}

/// What opens the forced leaves of `who`.
pub fn opening(who: AccountId) -> forced::Opening {
	opening_by(who, who)
}

/// `who` opens what it forced of what `of` trained.
pub fn open_by(of: AccountId, who: AccountId) -> DispatchResult {
	Verification::open_forced(RuntimeOrigin::signed(who), JOB, secret(who), opening_by(of, who))
}

/// `who` opens its forced leaves.
pub fn open_forced(who: AccountId) -> DispatchResult {
	open_by(who, who)
}

/// Every trainer opens what it forced that has not, and that is not [`Silent`].
fn open_all() {
	let Some(audit) = crate::AuditRecords::<Test>::get(JOB) else { return };
	if !matches!(audit.phase, AuditPhase::Opening { .. }) {
		return;
	}
	for group in &audit.groups {
		let of = TRAINERS.into_iter().find(|who| true_root_of(*who) == group.result.true_root);
		for (who, bundle) in group.trainers.iter().zip(&group.bundles) {
			if let (Some(of), false) = (of, bundle.opened || Silent::get().contains(who)) {
				let is_own =
					bundle.root == bundle_by(of, *who) && group.result.segments == SEGMENTS;
				// Others are made up, and nobody opens them.
				if is_own && !group.convicted.contains(who) {
					open_by(of, *who).unwrap();
				}
			}
		}
	}
}

/// What `who` delivers.
pub fn result_of(who: AccountId) -> WorkResult {
	let (bundle_root, model_root) = (bundle_of(who), H256([who as u8; 32]));
	WorkResult {
		bundle_root,
		true_root: true_root_of(who),
		model_root,
		segments: SEGMENTS,
		diverged: false,
	}
}

/// The path to a leaf of the bundle of `who`, of what `of` trained.
fn path_by(of: AccountId, who: AccountId, index: u32) -> Vec<H256> {
	let hashes: Vec<H256> = shown_by(of, who).iter().map(Checkpoint::leaf).collect();
	merkle::proof(&hashes, index as usize).unwrap()
}

/// The path to a leaf of what `who` trained.
fn path(who: AccountId, index: u32) -> Vec<H256> {
	path_by(who, who, index)
}

/// A result of that many segments as `who` shows it, and the parts of its leaves.
pub fn long_result(segments: u32, who: AccountId) -> (WorkResult, Vec<LeavesPart>) {
	let checkpoint = |step| Checkpoint { step, ..checkpoints(TRAINERS[0])[0] };
	let computed: Vec<_> = (0..=segments).map(checkpoint).collect();
	let shown = forced::mark(&ASSIGNMENT, &secret(who), &computed);
	let all: Vec<_> = shown.iter().copied().map(LeafContent::Checkpoint).collect();
	let [bundle_root, true_root] = [shown, computed].map(|all| bundle::bundle_root(all, None));
	let parts = (0..).map_while(|part| LeavesPart::of(&all, part)).collect();
	(WorkResult { bundle_root, true_root, segments, ..result_of(TRAINERS[0]) }, parts)
}

/// The leaf of a checkpoint of what `of` trained, in the bundle of `who`.
pub fn leaf_by(of: AccountId, who: AccountId, index: u32) -> Leaf {
	let path = path_by(of, who, index).try_into().unwrap();
	Leaf { index, checkpoint: shown_by(of, who)[index as usize], path }
}

/// The root of the file of a state, one for each `blob`.
pub fn of_state(blob: H256, index: u32) -> H256 {
	let mut root = blob;
	root.0[31] = index as u8;
	root
}

/// What answers for this piece of what `who` trained; a state is in a blob [of its own](of_state).
pub fn answer(who: AccountId, piece: &Piece, blob: H256) -> Answer {
	answer_by(who, who, piece, blob)
}

/// What `who` answers for this piece of what `of` trained, by its own bundle.
fn answer_by(of: AccountId, who: AccountId, piece: &Piece, blob: H256) -> Answer {
	match *piece {
		Piece::Leaves => {
			let all: Vec<_> = shown_by(of, who).into_iter().map(LeafContent::Checkpoint).collect();
			Answer::Leaves(LeavesPart::of(&all, 0).unwrap())
		}
		Piece::Rows { from, to } => Answer::Rows { from, to, contents: CONTENTS },
		Piece::State(index) => {
			Answer::State { leaf: leaf_by(of, who, index), blob: of_state(blob, index) }
		}
		Piece::Tensor { checkpoint, index } => {
			let name = &FakeSpecs::tensors(JOB)[index as usize].name;
			let proof = TensorProof::new(tensors(of), name).unwrap();
			let (content, path) = (proof.tensor.content, proof.path.try_into().unwrap());
			Answer::Tensor { leaf: leaf_by(of, who, checkpoint), index, content, path }
		}
		Piece::Samples => panic!("no answer brings samples"),
	}
}

/// What answers for these pieces.
pub fn answers(who: AccountId, pieces: &[Piece], blob: H256) -> Answers {
	answers_by(who, who, pieces, blob)
}

/// What `who` answers for these pieces of what `of` trained.
fn answers_by(of: AccountId, who: AccountId, pieces: &[Piece], blob: H256) -> Answers {
	let answers: Vec<_> = pieces.iter().map(|piece| answer_by(of, who, piece, blob)).collect();
	answers.try_into().unwrap()
}

/// The blobs that hold a piece of what `who` trained, and their bytes.
pub fn blobs(who: AccountId, piece: &Piece, blob: H256) -> Vec<(H256, u64)> {
	match answer(who, piece, blob) {
		Answer::Leaves(_) => vec![],
		Answer::Rows { from, to, contents } => {
			let spans = SIZES.spans(from, to).into_iter();
			let root = |size, content: usize| blob::root_of(size, &contents[content]);
			spans.map(|span| (root(span.size, span.content), span.bytes)).collect()
		}
		Answer::State { blob, .. } => vec![(blob, BlobSize::get())],
		Answer::Tensor { leaf, index, content, path } => {
			let expected = &FakeSpecs::tensors(JOB)[index as usize];
			let root = tensor_blob(&leaf.checkpoint.state, expected, &content, &path);
			vec![(root.unwrap(), expected.content_bytes().unwrap())]
		}
	}
}

/// All that can be asked for of a result, but tensors.
pub fn everything() -> Vec<Piece> {
	let mut pieces = vec![Piece::Leaves, ROWS];
	pieces.extend((0..=SEGMENTS).map(Piece::State));
	pieces
}

/// `who` asks for these pieces.
pub fn ask(who: AccountId, group: u32, pieces: &[Piece]) -> DispatchResult {
	pledge(who, group, pieces, 0)
}

/// `who` asks for these pieces, and pledges that much for its place.
pub fn pledge(who: AccountId, group: u32, pieces: &[Piece], pledge: u128) -> DispatchResult {
	let pieces: Pieces = pieces.to_vec().try_into().unwrap();
	Verification::request(RuntimeOrigin::signed(who), JOB, group, pieces, pledge)
}

/// What is asked for of a group.
pub fn asked(group: u32) -> Vec<Piece> {
	view().groups.get(group as usize).map_or(vec![], |group| group.asked.clone())
}

/// `who` answers with all that is asked for of `group`, which `of` trained; all states are in `blob`.
pub fn store(who: AccountId, of: AccountId, group: u32, blob: H256) -> DispatchResult {
	let answers = answers_by(of, who, &asked(group), blob);
	Verification::rescue(RuntimeOrigin::signed(who), JOB, group, answers)
}

/// `who` announces what is asked for, stores it, and answers as [`store`] does.
pub fn upload(who: AccountId, of: AccountId, group: u32, blob: H256) -> DispatchResult {
	let pieces = asked(group);
	let named: Vec<_> = pieces.iter().flat_map(|piece| blobs(of, piece, blob)).collect();
	let roots: Vec<H256> = named.iter().map(|(root, _)| *root).collect();
	Stored::mutate(|stored| stored.retain(|other| !roots.contains(other)));
	store(who, of, group, blob)?;
	named.into_iter().for_each(|(root, bytes)| bring(who, root, bytes));
	Stored::mutate(|stored| stored.extend(roots));
	// Leaves come with the first answer.
	if pieces != [Piece::Leaves] {
		store(who, of, group, blob)?;
	}
	Ok(())
}

/// `who` stores that many bytes of `blob`, which count if it announced them.
pub fn bring(who: AccountId, blob: H256, bytes: u64) {
	Brought::mutate(|brought| {
		if let Some(count) = brought.get_mut(&(blob, who)) {
			*count += bytes;
		}
	});
}

/// Opens the audit of [`JOB`], as the market does.
pub fn open(groups: usize, verifiers: u32) {
	open_with(request(groups, verifiers));
}

/// Opens such an audit of [`JOB`].
pub fn open_with(request: AuditRequest<AccountId>) {
	Verification::open(JOB, request).unwrap();
	Due::set(Some(System::block_number() as u32 + 1));
}

/// One block of the chain, with the market serving [`JOB`] when it is due or progressed.
pub fn tick() {
	let now = System::block_number() as u32 + 1;
	System::set_block_number(now.into());
	Verification::on_initialize(now.into());
	open_all();
	let progressed = Progressed::take().contains(&JOB);
	if progressed || Due::get().is_some_and(|due| due <= now) {
		match Verification::advance(JOB) {
			AuditStatus::Pending(at) => {
				assert!(at > now, "asked to come back in the past");
				Due::set(Some(at));
			}
			AuditStatus::Done(outcome) => {
				Due::set(None);
				Owed::set(outcome.stored.clone());
				Outcome::set(Some((outcome.decisions.clone(), outcome.served.clone())));
				Whole::set(Some(outcome));
			}
		}
	}
	Verification::do_try_state().unwrap();
}

/// Ticks until the audit is in a phase that `wanted` accepts.
pub fn tick_until(wanted: impl Fn(&AuditPhase) -> bool) {
	for _ in 0..200 {
		if wanted(&view().phase) {
			return;
		}
		tick();
	}
	panic!("still {:?} after 200 blocks", view().phase);
}

/// Ticks until the audit is over. Returns what was decided, and who earned a fee.
pub fn finish() -> (Vec<Decision>, Vec<AccountId>) {
	tick_until(|phase| *phase == AuditPhase::Done);
	Outcome::get().expect("the market was told")
}

pub fn view() -> AuditView<AccountId> {
	Verification::audit_view(JOB).unwrap()
}

/// The committee of this round.
pub fn committee() -> Vec<AccountId> {
	view().committee.into_iter().map(|member| member.verifier).collect()
}

pub fn is_committing(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Committing { .. })
}

pub fn is_revealing(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Revealing { .. })
}

pub fn is_standing(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Standing { .. })
}

pub fn is_rescue(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Rescue { .. })
}

/// A verdict on one group, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
	/// Evidence of all that it must replay.
	Yes,
	/// The same, and the training stood still from the beginning.
	Still,
	/// An accusation.
	No,
	/// Unavailable.
	Gone,
}

/// What a member of a committee does in a round.
#[derive(Clone, Debug)]
pub enum Act {
	/// Nothing.
	Vanish,
	/// Commits, and nothing more.
	Seal,
	/// Commits and reveals this, one verdict a group.
	Speak(Vec<Say>),
}

/// What a seat says: findings, and the paths that lead from them to the roots.
#[derive(Clone, Debug)]
pub struct Said {
	pub findings: Findings<AccountId>,
	pub paths: Paths,
}

/// The pair of a key.
fn pair_of(key: &H256) -> sr25519::Pair {
	(1..=9).map(pair).find(|pair| pair.public().0 == key.0).expect("a key of these tests")
}

/// The signature by which `who`, with the key of `of`, draws for itself in the running round.
pub fn draw_by(who: AccountId, pair: &sr25519::Pair) -> vrf::VrfSignature {
	let view = view();
	let (genesis, seed) = (Verification::genesis(), view.seed.unwrap());
	let subject =
		vrf::Subject { genesis: &genesis, job: JOB, round: view.round, seed: &seed, account: &who };
	vrf::sign(pair.as_ref(), &subject)
}

/// The signature and the output of `who` in the running round.
pub fn draw_of(who: AccountId) -> (vrf::VrfSignature, H256) {
	let view = view();
	let key = view.committee.iter().find(|m| m.verifier == who).unwrap().vrf_key;
	let signature = draw_by(who, &pair_of(&key));
	let (genesis, seed) = (Verification::genesis(), view.seed.unwrap());
	let subject =
		vrf::Subject { genesis: &genesis, job: JOB, round: view.round, seed: &seed, account: &who };
	(signature, vrf::output(&key.0, &subject, &signature).unwrap())
}

/// The number of the seat of `who`.
pub fn seat_of(who: AccountId) -> usize {
	committee().iter().position(|other| *other == who).unwrap()
}

/// What seats 1 and 2 pick.
pub const PICK: u32 = 4;

/// The segments of a group that `who` must replay in the running round.
pub fn wanted(who: AccountId, group: u32) -> Vec<u32> {
	let (_, output) = draw_of(who);
	let (view, seat) = (view(), seat_of(who));
	let result = view.groups[group as usize].result;
	let own = view.drawing().own(&output, group, &result, (seat, view.committee.len()));
	let moved = matches!(seat, 1 | 2).then_some(PICK);
	duties::required(&own, seat, &result, moved, &[]).unwrap()
}

/// Evidence of these segments of what `trainer` delivered.
pub fn evidence(trainer: AccountId, segments: &[u32]) -> Vec<SegmentEvidence> {
	let (all, shown) = (checkpoints(trainer), shown(trainer));
	segments
		.iter()
		.map(|segment| {
			let Checkpoint { step, state, evaluation, trace } = all[*segment as usize + 1];
			let there = shown[*segment as usize + 1].trace;
			SegmentEvidence {
				segment: *segment,
				trace_root: trace_root(trainer, *segment),
				ended: Ended::Checkpoint { step, state, evaluation },
				differs: (there != trace).then_some(there),
				idle_since: None,
			}
		})
		.collect()
}

/// The paths to the root of what `trainer` delivered, from these segments.
pub fn paths(trainer: AccountId, segments: &[u32]) -> Vec<Vec<H256>> {
	segments.iter().map(|segment| path(trainer, segment + 1)).collect()
}

/// A verdict of `who` about what `trainer` delivered as this group, with its paths.
pub fn verdict(
	who: AccountId,
	group: u32,
	trainer: AccountId,
	say: Say,
) -> (GroupVerdict<AccountId>, Vec<Vec<H256>>) {
	match say {
		Say::Yes | Say::Still => {
			let segments = wanted(who, group);
			let mut found = evidence(trainer, &segments);
			if say == Say::Still {
				found.iter_mut().for_each(|e| e.idle_since = Some(0));
			}
			let replayed = Replayed {
				bundle: 0,
				evidence: found.try_into().unwrap(),
				moved: matches!(seat_of(who), 1 | 2).then_some(PICK),
				parts: Default::default(),
			};
			(GroupVerdict::Replayed(replayed), paths(trainer, &segments))
		}
		Say::No => (GroupVerdict::Rejected(rejection(trainer)), vec![]),
		Say::Gone => (GroupVerdict::Unavailable, vec![]),
	}
}

/// What `trainer` is accused of.
pub fn rejection(trainer: AccountId) -> Rejection<AccountId> {
	Rejection {
		account: trainer,
		target: Target::Model,
		claimed: Claimed::Other,
		leaves: Default::default(),
	}
}

/// What `who` says in the running round, if it says `says` of the groups.
pub fn say(who: AccountId, says: &[Say]) -> Said {
	let all = says.iter().zip(TRAINERS).zip(0..);
	let (verdicts, paths): (Vec<_>, Vec<_>) =
		all.map(|((say, trainer), group)| verdict(who, group, trainer, *say)).unzip();
	said(who, verdicts, paths.concat())
}

/// What `who` says by these verdicts.
pub fn said(who: AccountId, verdicts: Vec<GroupVerdict<AccountId>>, paths: Vec<Vec<H256>>) -> Said {
	let findings = Findings { draw: draw_of(who).0, verdicts: verdicts.try_into().unwrap() };
	let paths: Vec<_> = paths.into_iter().map(|path| path.try_into().unwrap()).collect();
	Said { findings, paths: paths.try_into().unwrap() }
}

pub fn salt(who: AccountId) -> [u8; 32] {
	[who as u8; 32]
}

/// Commits what `who` says in the running round.
pub fn commit(who: AccountId, said: &Said) -> DispatchResult {
	let (genesis, round) = (Verification::genesis(), view().round);
	let hash = commitment::verdict(&genesis, JOB, round, &who, &said.findings, &salt(who));
	Verification::commit(RuntimeOrigin::signed(who), JOB, hash)
}

pub fn reveal(who: AccountId, said: &Said) -> DispatchResult {
	let Said { findings, paths } = said.clone();
	Verification::reveal(RuntimeOrigin::signed(who), JOB, findings, paths, salt(who))
}

/// Plays one round up to its last reveal: seat `i` does `acts[i]`, or vanishes. Returns the committee.
pub fn round(acts: &[Act]) -> Vec<AccountId> {
	tick_until(is_committing);
	let (number, seats) = (view().round, committee());
	let mut plan: BTreeMap<AccountId, Said> = BTreeMap::new();
	let mut sealed = BTreeSet::new();
	for (who, act) in seats.iter().zip(acts) {
		match act {
			Act::Vanish => {}
			Act::Seal => {
				commit(*who, &said(*who, vec![], vec![])).unwrap();
				sealed.insert(*who);
			}
			Act::Speak(says) => {
				let said = say(*who, says);
				commit(*who, &said).unwrap();
				plan.insert(*who, said);
			}
		}
	}
	let over = |phase: &AuditPhase| {
		!is_committing(phase)
			&& !is_revealing(phase)
			&& !matches!(phase, AuditPhase::Opening { .. })
	};
	tick_until(|phase| !is_committing(phase) || view().round > number);
	if is_revealing(&view().phase) {
		for (who, said) in &plan {
			reveal(*who, said).unwrap();
		}
	}
	if !is_committing(&view().phase) {
		tick_until(over);
	}
	seats
}

/// A round in which everyone says the same about the only group.
pub fn unanimous(say: Say) -> Vec<AccountId> {
	round(&vec![Act::Speak(vec![say]); VERIFIERS.len()])
}

/// A seat says this about the only group.
pub fn speak(say: Say) -> Act {
	Act::Speak(vec![say])
}
