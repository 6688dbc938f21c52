//! The extrinsics that a worker sends.

use codec::Encode;
use subxt::{
	ext::scale_encode::{self, EncodeAsFields, FieldIter, TypeResolver},
	transactions::Payload,
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Paths,
	drill::{AssignmentId, Chosen, Mismatch, ProjectId, Template, TrialData, UnitResult},
	forced::{Opening, Secret},
	job::{Balance, BlockNumber, Reveal, Terms},
	pieces::{Answers, Piece, Pieces},
	relay::{ChunkOpening, RelayId},
	seats::Resources,
	stint::{ReportId, Samples, Siblings},
	views::Hardware,
	JobId, MicroUt, Text, H256,
};

use super::{court::Accusation, AccountId32, Findings, Head};

/// Arguments of a call, SCALE encoded one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(Vec<u8>);

/// A call of a pallet. Pallet and call are found by name in the metadata; the arguments are bytes
/// of `trainyard-protocol` types, whose layout belongs to `PROTOCOL_VERSION`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
	pallet: &'static str,
	name: &'static str,
	arguments: Arguments,
	head: Option<Head>,
}

impl Call {
	/// Makes a call with the SCALE bytes of `arguments`, a tuple in the order of the dispatchable.
	pub fn new(pallet: &'static str, name: &'static str, arguments: impl Encode) -> Self {
		Self { pallet, name, arguments: Arguments(arguments.encode()), head: None }
	}

	/// Makes the call valid only on chains that have the block `head`. When a node gives up a
	/// block, it sends its transactions again. A call that answers something that differs from fork
	/// to fork, such as the seed of a unit, must not get into a different fork.
	pub fn on(self, head: Head) -> Self {
		Self { head: Some(head), ..self }
	}

	/// Returns the block without which the call means nothing, if there is one.
	pub fn head(&self) -> Option<Head> {
		self.head
	}

	/// Returns its name for messages: `Pallet.call`.
	pub fn title(&self) -> String {
		format!("{}.{}", self.pallet, self.name)
	}

	/// Returns the encoded arguments.
	pub fn arguments(&self) -> &[u8] {
		&self.arguments.0
	}
}

impl EncodeAsFields for Arguments {
	fn encode_as_fields_to<R: TypeResolver>(
		&self,
		_fields: &mut dyn FieldIter<'_, R::TypeId>,
		_types: &R,
		out: &mut Vec<u8>,
	) -> Result<(), scale_encode::Error> {
		out.extend_from_slice(&self.0);
		Ok(())
	}
}

impl Payload for Call {
	type CallData = Arguments;

	fn pallet_name(&self) -> &str {
		self.pallet
	}

	fn call_name(&self) -> &str {
		self.name
	}

	fn call_data(&self) -> &Arguments {
		&self.arguments
	}
}

/// `Hashrate.register`: become a trainer.
pub fn register_trainer(bond: Balance, hardware: &Hardware) -> Call {
	Call::new("Hashrate", "register", (bond, hardware))
}

/// Bytes that are already SCALE.
struct Encoded<'a>(&'a [u8]);

impl Encode for Encoded<'_> {
	fn encode_to<T: codec::Output + ?Sized>(&self, out: &mut T) {
		out.write(self.0);
	}
}

/// `Session.set_keys`: the keys by which a node acts for the caller, as the node encoded them,
/// with its proof that they are the caller's.
pub fn set_keys(keys: &[u8], proof: &[u8]) -> Call {
	Call::new("Session", "set_keys", (Encoded(keys), proof))
}

/// `Hashrate.set_candidate`: begin or cease to stand for block authorship.
pub fn set_candidate(candidate: bool) -> Call {
	Call::new("Hashrate", "set_candidate", candidate)
}

/// `Hashrate.deregister`: begin to leave as a trainer.
pub fn deregister_trainer() -> Call {
	Call::new("Hashrate", "deregister", ())
}

/// `Hashrate.withdraw`: take the bond back after that.
pub fn withdraw_bond() -> Call {
	Call::new("Hashrate", "withdraw", ())
}

/// `TaskMarket.submit_job`: post a job; its escrow is held. It fails where the protocol fee for a `ut` is above
/// `max_fee_per_ut` by then.
pub fn submit_job(spec: &JobSpec, terms: &Terms, max_fee_per_ut: Balance) -> Call {
	Call::new("TaskMarket", "submit_job", (spec, terms, max_fee_per_ut))
}

/// `TaskMarket.order`: post a job that only `trainer` may take, through its listing. The fee is as for
/// [`submit_job`].
pub fn order(
	trainer: &AccountId32,
	spec: &JobSpec,
	terms: &Terms,
	max_fee_per_ut: Balance,
) -> Call {
	Call::new("TaskMarket", "order", (trainer, spec, terms, max_fee_per_ut))
}

/// `TaskMarket.apply`: apply for the job of this `digest`
/// ([`commitment::job`](trainyard_protocol::commitment::job)), bound to draw its forced leaves from the
/// secret of this [`commitment`](trainyard_protocol::forced::commitment); the deposit is held.
pub fn apply(job: JobId, digest: &H256, forced: &H256) -> Call {
	Call::new("TaskMarket", "apply", (job, digest, forced))
}

/// `TaskMarket.cancel`: take back a job for which nobody applied.
pub fn cancel(job: JobId) -> Call {
	Call::new("TaskMarket", "cancel", job)
}

/// `TaskMarket.poke`: serve the deadline of an overdue job.
pub fn poke(job: JobId) -> Call {
	Call::new("TaskMarket", "poke", job)
}

/// `TaskMarket.post_listing`: offer training.
pub fn post_listing(price_per_ut: Balance, max_work: MicroUt, note: &Text) -> Call {
	Call::new("TaskMarket", "post_listing", (price_per_ut, max_work, note))
}

/// `TaskMarket.remove_listing`: take the offer back.
pub fn remove_listing() -> Call {
	Call::new("TaskMarket", "remove_listing", ())
}

/// `Submissions.commit`: bind a result before it is shown.
pub fn commit_result(job: JobId, commitment: &H256) -> Call {
	Call::new("Submissions", "commit", (job, commitment))
}

/// `Submissions.reveal`: show the result that was committed.
pub fn reveal_result(job: JobId, reveal: &Reveal, salt: &[u8; 32]) -> Call {
	Call::new("Submissions", "reveal", (job, reveal, salt))
}

/// `ModelStorage.register`: announce a blob, to be kept for the chain's usual period; a deposit for its
/// size and the rent of that time are held.
pub fn register_blob(size: u64, content: &H256) -> Call {
	register_blob_for(size, content, None)
}

/// The same for a period in blocks, from the blob's completion on.
pub fn register_blob_for(size: u64, content: &H256, period: Option<u32>) -> Call {
	Call::new("ModelStorage", "register", (size, content, period))
}

/// `ModelStorage.register_version`: the same for a blob that descends from `parent`.
pub fn register_version(size: u64, content: &H256, period: Option<u32>, parent: &H256) -> Call {
	Call::new("ModelStorage", "register_version", (size, content, period, parent))
}

/// `ModelStorage.reuse_chunk`: take over a chunk that the blob `from` has at the same place.
pub fn reuse_chunk(root: &H256, index: u32, from: &H256, proof: &[H256]) -> Call {
	Call::new("ModelStorage", "reuse_chunk", (root, index, from, proof))
}

/// `ModelStorage.upload_chunk`: store one chunk. The bytes are the last argument, so that
/// they are the tail of the extrinsic, which the node indexes.
pub fn upload_chunk(root: &H256, index: u32, proof: &[H256], bytes: &[u8]) -> Call {
	Call::new("ModelStorage", "upload_chunk", (root, index, proof, bytes))
}

/// `ModelStorage.renew`: keep a blob of the caller's for `blocks` more; their rent is held.
pub fn renew_blob(root: &H256, blocks: u32) -> Call {
	Call::new("ModelStorage", "renew", (root, blocks))
}

/// `ModelStorage.adopt`: take over a blob whose time is over.
pub fn adopt_blob(root: &H256, period: Option<u32>) -> Call {
	Call::new("ModelStorage", "adopt", (root, period))
}

/// `ModelStorage.remove`: drop an expired blob, or a part of a long one; with its last part
/// the deposit returns to its owner.
pub fn remove_blob(root: &H256) -> Call {
	Call::new("ModelStorage", "remove", root)
}

/// `Verification.register`: become a verifier that has room for this, or return with at least this
/// bond.
pub fn register_verifier(bond: Balance, capacity: &Resources) -> Call {
	Call::new("Verification", "register", (bond, capacity))
}

/// `Verification.bond_extra`: raise a verifier's bond.
pub fn raise_verifier_bond(amount: Balance) -> Call {
	Call::new("Verification", "bond_extra", amount)
}

/// `Verification.set_capacity`: say what a verifier has room for.
pub fn set_capacity(capacity: &Resources) -> Call {
	Call::new("Verification", "set_capacity", capacity)
}

/// `Verification.set_vrf_key`: say by which key a verifier draws for itself.
pub fn set_vrf_key(key: &H256) -> Call {
	Call::new("Verification", "set_vrf_key", key)
}

/// `Verification.resume`: end a pause, or do not leave after all.
pub fn resume_verifier() -> Call {
	Call::new("Verification", "resume", ())
}

/// `Verification.commit`: bind findings before they are shown.
pub fn commit_findings(job: JobId, commitment: &H256) -> Call {
	Call::new("Verification", "commit", (job, commitment))
}

/// `Verification.reveal`: show the findings that were committed, with the paths from their evidence to
/// the roots of the results.
pub fn reveal_findings(job: JobId, findings: &Findings, paths: &Paths, salt: &[u8; 32]) -> Call {
	Call::new("Verification", "reveal", (job, findings, paths, salt))
}

/// `Verification.open_forced`: open the leaves that one's bundle has forced to be false.
pub fn open_forced(job: JobId, secret: &Secret, opening: &Opening) -> Call {
	Call::new("Verification", "open_forced", (job, secret, opening))
}

/// `Verification.accuse`: accuse a trainer, or another seat, with a stake of one's seat.
pub fn accuse(accusation: &Accusation) -> Call {
	Call::new("Verification", "accuse", accusation)
}

/// `Verification.rescue`: answer with pieces that others asked for; announce the blobs that are not
/// stored yet.
pub fn rescue(job: JobId, group: u32, answers: &Answers) -> Call {
	Call::new("Verification", "rescue", (job, group, answers))
}

/// `Verification.set_location`: say where other seats are served.
pub fn set_verifier_location(location: Option<&Text>) -> Call {
	Call::new("Verification", "set_location", location)
}

/// `Verification.withdraw_request`: say that what was asked for of a result is here.
pub fn withdraw_request(job: JobId, group: u32) -> Call {
	Call::new("Verification", "withdraw_request", (job, group))
}

/// `Verification.request`: ask for pieces of a result that nobody gives. While results stand, whoever
/// pledges more displaces who pledged less; a committee that works takes no pledge.
pub fn request_pieces(job: JobId, group: u32, pieces: &Pieces, pledge: Balance) -> Call {
	Call::new("Verification", "request", (job, group, pieces, pledge))
}

/// `Verification.request_relay`: ask a committee for a piece of a result that is too large for the chain, if
/// that costs no more than `most`.
pub fn request_relay(job: JobId, group: u32, piece: Piece, most: Balance) -> Call {
	Call::new("Verification", "request_relay", (job, group, piece, most))
}

/// `Verification.say`: say, as a seat of a relay, whether its piece is here.
pub fn say(relay: RelayId, has: bool) -> Call {
	Call::new("Verification", "say", (relay, has))
}

/// `Verification.show_chunk`: open the chunk that is drawn for a seat of a relay.
pub fn show_chunk(relay: RelayId, opening: &ChunkOpening) -> Call {
	Call::new("Verification", "show_chunk", (relay, opening))
}

/// `Verification.ask_seats`: ask these seats of a relay for a chunk each.
pub fn ask_seats(relay: RelayId, seats: &[u32]) -> Call {
	Call::new("Verification", "ask_seats", (relay, seats))
}

/// `Verification.appeal`: doubt the answer of a relay.
pub fn appeal(relay: RelayId) -> Call {
	Call::new("Verification", "appeal", relay)
}

/// `Drilling.propose`: propose a project of `units` units; a deposit is held.
pub fn propose_project(
	title: &Text,
	template: &Template,
	data: &TrialData,
	rule: Mismatch,
	replicas: u8,
	units: u32,
	commit_blocks: BlockNumber,
) -> Call {
	let arguments = (title, template, data, rule, replicas, units, commit_blocks);
	Call::new("Drilling", "propose", arguments)
}

/// `Drilling.vote`: vote on a project in review, with the caller's bond.
pub fn vote_on_project(project: ProjectId, aye: bool) -> Call {
	Call::new("Drilling", "vote", (project, aye))
}

/// `Drilling.withdraw_project`: take back a project in review, or end an active one.
pub fn withdraw_project(project: ProjectId) -> Call {
	Call::new("Drilling", "withdraw_project", project)
}

/// `Drilling.clear`: remove a part of what the chain keeps of a project that is long over.
pub fn clear_project(project: ProjectId) -> Call {
	Call::new("Drilling", "clear", project)
}

/// `Drilling.enlist`: be ready for units of these projects.
pub fn enlist(projects: &Chosen) -> Call {
	Call::new("Drilling", "enlist", projects)
}

/// `Drilling.choose`: compute units of these projects from now on.
pub fn choose(projects: &Chosen) -> Call {
	Call::new("Drilling", "choose", projects)
}

/// `Drilling.decline`: say that the data of a unit are not to be had.
pub fn decline(assignment: AssignmentId) -> Call {
	Call::new("Drilling", "decline", assignment)
}

/// `Drilling.recall`: ask for the end of an active project.
pub fn recall_project(project: ProjectId) -> Call {
	Call::new("Drilling", "recall", project)
}

/// `Drilling.retire`: be no longer ready for units.
pub fn retire() -> Call {
	Call::new("Drilling", "retire", ())
}

/// `Drilling.commit`: bind the result of a unit before it is shown.
pub fn drill_commit(assignment: AssignmentId, commitment: &H256) -> Call {
	Call::new("Drilling", "commit", (assignment, commitment))
}

/// `Drilling.reveal`: show the result that was committed.
pub fn drill_reveal(assignment: AssignmentId, result: &UnitResult, salt: &[u8; 32]) -> Call {
	Call::new("Drilling", "reveal", (assignment, result, salt))
}

/// `Drilling.check`: a verifier binds the result of a unit that it recomputed.
pub fn drill_check(assignment: AssignmentId, commitment: &H256) -> Call {
	Call::new("Drilling", "check", (assignment, commitment))
}

/// `Drilling.check_reveal`: a verifier shows the result that it committed.
pub fn drill_check_reveal(assignment: AssignmentId, result: &UnitResult, salt: &[u8; 32]) -> Call {
	Call::new("Drilling", "check_reveal", (assignment, result, salt))
}

/// `Stints.begin`: be in a stint from now on.
pub fn stint_begin() -> Call {
	Call::new("Stints", "begin", ())
}

/// `Stints.retire`: give the stint up, and have the deposit back.
pub fn stint_retire() -> Call {
	Call::new("Stints", "retire", ())
}

/// `Stints.report`: claim laps of the stint with this number, whose results are under `root`.
pub fn stint_report(number: u32, root: &H256, laps: u32) -> Call {
	Call::new("Stints", "report", (number, root, laps))
}

/// `Stints.check`: a verifier binds the samples that it computed again.
pub fn stint_check(report: ReportId, commitment: &H256) -> Call {
	Call::new("Stints", "check", (report, commitment))
}

/// `Stints.open`: a driller shows the samples of its report.
pub fn stint_open(report: ReportId, results: &Samples, siblings: &Siblings) -> Call {
	Call::new("Stints", "open", (report, results, siblings))
}

/// `Stints.check_reveal`: a verifier shows the digest that it committed to.
pub fn stint_check_reveal(report: ReportId, digest: &H256, salt: &[u8; 32]) -> Call {
	Call::new("Stints", "check_reveal", (report, digest, salt))
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::DecodeAll;

	/// What the pallet decodes is what was meant; its bounded vectors encode like `Vec`.
	#[test]
	fn a_chunk_call_decodes_as_the_pallet_declares_it() {
		type Declared = (H256, u32, Vec<H256>, Vec<u8>);
		let (root, proof) = (H256::repeat_byte(7), [H256::repeat_byte(1), H256::repeat_byte(2)]);
		let call = upload_chunk(&root, 3, &proof, &[9; 5000]);
		let decoded = Declared::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (root, 3, proof.to_vec(), vec![9; 5000]));
		assert!(call.arguments().ends_with(&[9; 5000]));
		assert_eq!(call.title(), "ModelStorage.upload_chunk");
	}

	#[test]
	fn calls_of_versions_decode_as_the_pallet_declares_them() {
		let (root, from) = (H256::repeat_byte(7), H256::repeat_byte(8));
		let proof = [H256::repeat_byte(1), H256::repeat_byte(2)];
		let call = reuse_chunk(&root, 3, &from, &proof);
		let decoded = <(H256, u32, H256, Vec<H256>)>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (root, 3, from, proof.to_vec()));
		assert_eq!(call.title(), "ModelStorage.reuse_chunk");
		let call = register_version(9, &root, Some(5), &from);
		let decoded = <(u64, H256, Option<u32>, H256)>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (9, root, Some(5), from));
		assert_eq!(call.title(), "ModelStorage.register_version");
	}

	#[test]
	fn a_reveal_decodes_as_the_pallet_declares_it() {
		let reveal = Reveal {
			bundle_root: H256::repeat_byte(1),
			true_root: H256::repeat_byte(1),
			model_root: H256::repeat_byte(2),
			segments: 7,
			diverged: false,
			location: Text::new("http://127.0.0.1:1/").unwrap(),
		};
		let call = reveal_result(9, &reveal, &[3; 32]);
		let decoded = <(JobId, Reveal, [u8; 32])>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (9, reveal, [3; 32]));
	}

	#[test]
	fn a_project_decodes_as_the_pallet_declares_it() {
		type Declared = (Text, Template, TrialData, Mismatch, u8, u32, BlockNumber);
		let title = Text::new("Which rate?").unwrap();
		let template = Template::Chain { size: 64, links: 900 };
		let data: TrialData = vec![H256::repeat_byte(8)].try_into().unwrap();
		let call = propose_project(&title, &template, &data, Mismatch::AllLose, 3, 40, 20);
		let decoded = Declared::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (title, template, data, Mismatch::AllLose, 3, 40, 20));
		assert_eq!(call.title(), "Drilling.propose");
	}

	#[test]
	fn a_result_of_a_unit_decodes_as_the_pallet_declares_it() {
		let result = UnitResult { state: H256::repeat_byte(4), score: None };
		let call = drill_reveal(1 << 40, &result, &[3; 32]);
		let decoded =
			<(AssignmentId, UnitResult, [u8; 32])>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!(decoded, (1 << 40, result, [3; 32]));
	}

	#[test]
	fn calls_without_arguments_are_empty() {
		assert!(remove_listing().arguments().is_empty());
		assert!(retire().arguments().is_empty());
		let chosen: Chosen = vec![3, 1].try_into().unwrap();
		for call in [enlist(&chosen), choose(&chosen)] {
			assert_eq!(Chosen::decode_all(&mut call.arguments()).unwrap(), chosen);
		}
		assert_eq!(decline(7).arguments(), 7u64.encode());
		assert_eq!(recall_project(7).arguments(), 7u32.encode());
	}
}
