//! What an account does about a task now.
//!
//! A pure function of the chain's view and of what the account has computed, so whoever was away, or killed, does
//! what is missing as soon as it looks again.

use trainyard_client::{
	tasks::{ReplicaView, Side, TaskView},
	AccountId32,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	MicroUt,
};
use trainyard_task::{
	spec::{MAX_APPLICANTS, MAX_INLINE},
	views::{Phase, Stage},
	Claim, Form, StateId,
};

/// Which tasks an account takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
	/// Whether it applies for tasks.
	pub apply: bool,
	/// Whether it computes those for which it was drawn as a replica.
	pub replicas: bool,
	/// Whether it computes those that it was drawn to audit.
	pub audits: bool,
	/// Whether it computes tasks of others whose claims stand, and challenges false ones.
	pub check: bool,
	/// Whether it challenges false claims of tasks of others.
	pub challenge: bool,
	/// Whether it challenges false claims beside its own: nobody puts claims of a map in dispute, and where several stand
	/// all lose their deposits.
	pub defend: bool,
	/// Least reward for a ut.
	pub min_price: Balance,
	/// Largest deposit of a replica.
	pub max_deposit: Balance,
	/// Most work, where every step takes all its fuel.
	pub max_ut: MicroUt,
	/// Most bytes of an output.
	pub max_output: u64,
	/// Most tasks at a time.
	pub at_once: usize,
}

/// Something that an account does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
	/// Applies.
	Apply,
	/// Computes the task.
	Compute {
		/// The last block in which its result is of use.
		until: BlockNumber,
	},
	/// Commits to its claim.
	Commit,
	/// Shows its claim.
	Reveal,
	/// Stores its output.
	Store,
	/// Shows nodes of a side of a dispute.
	Show {
		/// The dispute.
		dispute: u32,
		/// The side.
		side: u8,
		/// Level of the nodes that are due.
		level: u8,
		/// Which of them: the first, and the one after the last.
		nodes: (u32, u32),
	},
	/// Has the step executed that is in dispute.
	Execute {
		/// The dispute.
		dispute: u32,
		/// The step that ends with this leaf.
		index: u32,
	},
	/// Challenges a claim: by its own trace, or of a map by a record.
	Challenge {
		/// The claim.
		claim: u8,
	},
}

/// Returns the seat of an account: of a replica, or of who audits.
fn seat<'a>(view: &'a TaskView, me: &AccountId32) -> Option<(&'a ReplicaView, bool)> {
	let replica = view.replicas.iter().find(|replica| replica.who == *me);
	let auditor = view.auditor.as_ref().filter(|auditor| auditor.who == *me);
	replica.map(|replica| (replica, false)).or(auditor.map(|auditor| (auditor, true)))
}

/// Returns whether an account takes part in a task that is not over, or applied for it.
pub fn takes_part(view: &TaskView, me: &AccountId32) -> bool {
	!matches!(view.phase, Phase::Ended(_))
		&& (seat(view, me).is_some() || view.applicants.contains(me))
}

/// Returns whether an account still has to compute for a task, or may have to.
pub fn is_busy(view: &TaskView, me: &AccountId32) -> bool {
	let computes =
		matches!(view.phase, Phase::Open { .. } | Phase::Drawing { .. } | Phase::Computing { .. });
	computes && takes_part(view, me)
}

/// Returns the most bytes that its output can have.
pub fn most_output(view: &TaskView) -> u64 {
	view.spec.records().unwrap_or(view.spec.limits.state.into())
}

/// Returns whether a task is one for which an account with this policy applies.
pub fn is_wanted(view: &TaskView, me: &AccountId32, policy: &Policy) -> bool {
	let work = crate::task::work(view.spec.fuel());
	let output = most_output(view);
	policy.apply
		&& view.submitter != *me
		&& !view.applicants.contains(me)
		&& view.applicants.len() < MAX_APPLICANTS as usize
		&& view.terms.deposit <= policy.max_deposit
		&& output <= policy.max_output
		&& work.is_some_and(|work| {
			let least = policy.min_price.saturating_mul(work.into()).div_ceil(1_000_000);
			work <= policy.max_ut && view.terms.reward >= least
		})
}

/// Returns whether an account with this policy computes a task of others to see whether a claim is false.
fn is_checked(view: &TaskView, policy: &Policy) -> bool {
	let work = crate::task::work(view.spec.fuel());
	let output = most_output(view);
	policy.check
		&& output <= policy.max_output
		&& work.is_some_and(|work| work <= policy.max_ut)
		&& view.claims.iter().any(|(_, convicted)| !convicted)
}

/// Returns what `me` does about a task in the block after `now`. `own` is what it computed.
pub fn moves(
	view: &TaskView,
	me: &AccountId32,
	own: Option<&Claim>,
	policy: &Policy,
	now: BlockNumber,
) -> Vec<Move> {
	let plays = |audits: bool| if audits { policy.audits } else { policy.replicas };
	let seat = seat(view, me).filter(|(_, audits)| plays(*audits));
	match view.phase {
		Phase::Open { until } if now < until && is_wanted(view, me, policy) => vec![Move::Apply],
		Phase::Computing { until } => match seat {
			Some((ReplicaView { commitment: None, .. }, false)) if now < until => {
				own.map_or(vec![Move::Compute { until }], |_| vec![Move::Commit])
			}
			_ => Vec::new(),
		},
		Phase::Auditing { until, .. } => match seat {
			Some((ReplicaView { commitment: None, .. }, true)) if now < until => {
				own.map_or(vec![Move::Compute { until }], |_| vec![Move::Commit])
			}
			_ => Vec::new(),
		},
		// What was not committed to cannot be shown.
		Phase::Revealing { until, .. } => match (seat, own) {
			(Some((ReplicaView { commitment: Some(_), .. }, _)), None) => {
				vec![Move::Compute { until }]
			}
			(Some((ReplicaView { commitment: Some(_), claim, .. }, _)), Some(own)) => {
				let long = own.output.file().is_some_and(|file| file.bytes > MAX_INLINE);
				match claim {
					None => vec![Move::Reveal],
					Some(_) if long => vec![Move::Store],
					Some(_) => Vec::new(),
				}
			}
			_ => Vec::new(),
		},
		Phase::Challenging { until } => match own {
			None if seat.is_some() || is_checked(view, policy) => vec![Move::Compute { until }],
			None => Vec::new(),
			Some(own) => {
				let mut all = in_disputes(view, own);
				let may = if seat.is_some() { policy.defend } else { policy.challenge };
				if may && now < until {
					all.extend(challenges(view, own));
				}
				all
			}
		},
		_ => Vec::new(),
	}
}

/// Returns the root of a side of a dispute.
fn root(view: &TaskView, side: &Side) -> Option<trainyard_task::H256> {
	match side {
		Side::Claim(number) => view.claims.get(usize::from(*number)).map(|(claim, _)| claim.root),
		Side::Challenger { claim, .. } => Some(claim.root),
	}
}

/// Returns what whoever knows this trace can bring in disputes that run. It is true of the side that has it, whoever
/// brings it.
fn in_disputes(view: &TaskView, own: &Claim) -> Vec<Move> {
	let mut all = Vec::new();
	for dispute in &view.disputes {
		let sides = (0u8..).zip(&dispute.sides).zip(dispute.moved);
		for ((side, of), moved) in sides {
			if root(view, of) != Some(own.root) {
				continue;
			}
			all.extend(match dispute.stage {
				Stage::Descending(descent) => {
					let due = descent.due();
					let (level, nodes) = (descent.below(), (due.start, due.end));
					let dispute = dispute.number;
					(!moved).then_some(Move::Show { dispute, side, level, nodes })
				}
				Stage::Executing { index, .. } => {
					Some(Move::Execute { dispute: dispute.number, index })
				}
			});
		}
	}
	all
}

/// Returns the first claim that is false by what was computed here, where it is not in dispute with that already.
fn challenges(view: &TaskView, own: &Claim) -> Option<Move> {
	let stands = |(claim, convicted): &(Claim, bool)| !convicted && claim.root == own.root;
	let disputed = |number: u8| {
		view.disputes.iter().any(|dispute| {
			dispute.sides.contains(&Side::Claim(number))
				&& dispute.sides.iter().any(|side| root(view, side) == Some(own.root))
		})
	};
	let is_map = matches!(view.spec.form, Form::Map { .. });
	if !is_map && view.claims.iter().any(stands) {
		// The chain puts them in dispute by itself.
		return None;
	}
	let all = (0u8..).zip(&view.claims);
	let mut wrong =
		all.filter(|(number, (claim, convicted))| !convicted && claim != own && !disputed(*number));
	wrong.next().map(|(claim, _)| Move::Challenge { claim })
}

/// Returns the bytes of an output, or what became of it, in words.
pub fn output_text(output: &StateId) -> String {
	match output {
		StateId::Bytes(file) => format!("{} bytes with the root {:?}", file.bytes, file.root),
		StateId::Fault(fault) => format!("a fault: {}", crate::task::describe(fault)),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::tasks::DisputeView;
	use trainyard_protocol::H256;
	use trainyard_task::{Descent, File, Limits, TaskSpec, TaskTerms};

	const POLICY: Policy = Policy {
		apply: true,
		replicas: true,
		audits: true,
		check: false,
		challenge: true,
		defend: true,
		min_price: 1_000_000,
		max_deposit: 1_000,
		max_ut: 1_000_000,
		max_output: 100_000,
		at_once: 2,
	};

	fn account(byte: u8) -> AccountId32 {
		AccountId32([byte; 32])
	}

	fn claim(byte: u8) -> Claim {
		Claim { root: H256([byte; 32]), output: StateId::of(Ok(&[byte])) }
	}

	fn replica(byte: u8, committed: bool, claim: Option<u8>) -> ReplicaView {
		let commitment = committed.then_some(H256([1; 32]));
		ReplicaView { who: account(byte), commitment, claim }
	}

	fn view(form: Form, phase: Phase) -> TaskView {
		TaskView {
			id: 3,
			submitter: account(1),
			spec: TaskSpec {
				module: File::of(b"module"),
				input: File::of(b"input"),
				form,
				limits: Limits { fuel: 1_000_000, pages: 1, state: 64 },
			},
			terms: TaskTerms {
				reward: 1_000_000,
				replicas: 1,
				deposit: 500,
				audit: 100,
				audit_fee: 1,
				apply: 5,
				compute: 5,
				reveal: 5,
				challenge: 5,
			},
			phase,
			applicants: vec![],
			replicas: vec![],
			auditor: None,
			claims: vec![],
			disputes: vec![],
			output: None,
		}
	}

	const STEPS: Form = Form::Step { steps: 100 };
	const MAP: Form = Form::Map { count: 100, most: 10 };

	#[test]
	fn one_applies_for_what_pays() {
		let open = view(STEPS, Phase::Open { until: 10 });
		let apply =
			|view: &TaskView, policy: &Policy, now| moves(view, &account(2), None, policy, now);
		assert_eq!(apply(&open, &POLICY, 9), [Move::Apply]);
		assert_eq!(apply(&open, &POLICY, 10), [], "it would come too late");
		assert_eq!(moves(&open, &account(1), None, &POLICY, 9), [], "its own task");
		let mut applied = open.clone();
		applied.applicants = vec![account(2)];
		assert_eq!(apply(&applied, &POLICY, 9), []);
		assert!(takes_part(&applied, &account(2)) && is_busy(&applied, &account(2)));
		// 100 steps of a million units are 0.0074 ut.
		for policy in [
			Policy { apply: false, ..POLICY },
			Policy { min_price: 200_000_000, ..POLICY },
			Policy { max_deposit: 499, ..POLICY },
			Policy { max_ut: 1_000, ..POLICY },
			Policy { max_output: 63, ..POLICY },
		] {
			assert_eq!(apply(&open, &policy, 9), [], "{policy:?}");
		}
	}

	#[test]
	fn who_was_drawn_computes_commits_and_shows() {
		let me = account(2);
		let own = claim(7);
		let mut now = view(STEPS, Phase::Computing { until: 20 });
		now.replicas = vec![replica(3, false, None), replica(2, false, None)];
		assert_eq!(moves(&now, &me, None, &POLICY, 9), [Move::Compute { until: 20 }]);
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), [Move::Commit]);
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 20), []);
		assert_eq!(moves(&now, &account(4), None, &POLICY, 9), []);
		now.replicas[1] = replica(2, true, None);
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), []);
		now.phase = Phase::Revealing { since: 20, full: 0, until: 30 };
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 25), [Move::Reveal]);
		assert_eq!(
			moves(&now, &me, None, &POLICY, 25),
			[Move::Compute { until: 30 }],
			"a lost disk"
		);
		now.replicas[1] = replica(2, true, Some(0));
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 25), []);
		let long = Claim {
			output: StateId::Bytes(File { bytes: MAX_INLINE + 1, root: H256::zero() }),
			..own
		};
		assert_eq!(moves(&now, &me, Some(&long), &POLICY, 25), [Move::Store]);
	}

	#[test]
	fn only_who_audits_computes_in_an_audit() {
		let mut now = view(STEPS, Phase::Auditing { until: 20, tries: 0 });
		now.replicas = vec![replica(2, false, None)];
		now.auditor = Some(replica(5, false, None));
		let none = Policy { apply: false, ..POLICY };
		assert_eq!(moves(&now, &account(5), None, &none, 9), [Move::Compute { until: 20 }]);
		assert_eq!(moves(&now, &account(5), Some(&claim(7)), &none, 9), [Move::Commit]);
		assert_eq!(moves(&now, &account(2), Some(&claim(7)), &none, 9), []);
	}

	/// Two roles of one account do not both do the same.
	#[test]
	fn a_role_leaves_to_another_what_that_plays() {
		let mut now = view(STEPS, Phase::Computing { until: 20 });
		now.replicas = vec![replica(2, false, None)];
		let compute = [Move::Compute { until: 20 }];
		let plays = |view: &TaskView, who: u8, replicas, audits| {
			moves(view, &account(who), None, &Policy { replicas, audits, ..POLICY }, 9)
		};
		assert_eq!(plays(&now, 2, true, false), compute);
		assert_eq!(plays(&now, 2, false, true), []);
		now.phase = Phase::Auditing { until: 20, tries: 0 };
		now.auditor = Some(replica(5, false, None));
		assert_eq!(plays(&now, 5, false, true), compute);
		assert_eq!(plays(&now, 5, true, false), []);
	}

	#[test]
	fn a_false_claim_is_challenged_unless_the_chain_does_it() {
		let (me, own) = (account(2), claim(7));
		let mut now = view(STEPS, Phase::Challenging { until: 30 });
		now.claims = vec![(claim(8), false)];
		assert_eq!(moves(&now, &me, None, &POLICY, 9), [], "it was not asked to look");
		let checks = Policy { check: true, ..POLICY };
		assert_eq!(moves(&now, &me, None, &checks, 9), [Move::Compute { until: 30 }]);
		let wrong = [Move::Challenge { claim: 0 }];
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), wrong);
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 30), []);
		assert_eq!(moves(&now, &me, Some(&own), &Policy { challenge: false, ..POLICY }, 9), []);
		assert_eq!(moves(&now, &me, Some(&claim(8)), &POLICY, 9), [], "it is true");
		now.claims.push((claim(7), false));
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), []);
		now.claims[1].1 = true;
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), wrong);
		now.claims[0].1 = true;
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), []);
		// Of a map nobody is put in dispute.
		let mut map = view(MAP, Phase::Challenging { until: 30 });
		map.claims = vec![(own.clone(), false), (claim(8), false)];
		assert_eq!(moves(&map, &me, Some(&own), &POLICY, 9), [Move::Challenge { claim: 1 }]);
		map.replicas = vec![replica(2, true, Some(0))];
		let defends = Policy { challenge: false, ..POLICY };
		assert_eq!(moves(&map, &me, Some(&own), &defends, 9), [Move::Challenge { claim: 1 }]);
		let neither = Policy { defend: false, ..POLICY };
		assert_eq!(moves(&map, &me, Some(&own), &neither, 9), []);
	}

	#[test]
	fn whoever_knows_a_trace_brings_what_is_due_of_it() {
		let (me, own) = (account(2), claim(7));
		let mut now = view(STEPS, Phase::Challenging { until: 5 });
		now.claims = vec![(claim(8), false)];
		let descent = Descent::begin(101, [claim(8).root, own.root]).unwrap();
		let challenger = Side::Challenger { who: account(9), claim: own.clone(), deposit: 5 };
		now.disputes = vec![DisputeView {
			number: 4,
			sides: [Side::Claim(0), challenger],
			stage: Stage::Descending(descent),
			moved: [true, false],
			until: 20,
		}];
		let show = Move::Show { dispute: 4, side: 1, level: 0, nodes: (0, 101) };
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), [show]);
		now.phase = Phase::Challenging { until: 30 };
		assert_eq!(
			moves(&now, &me, Some(&own), &POLICY, 9),
			[show],
			"it is in dispute with that already"
		);
		assert_eq!(moves(&now, &me, Some(&claim(8)), &POLICY, 9), []);
		now.disputes[0].moved = [false, true];
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), []);
		now.disputes[0].stage = Stage::Executing { index: 6, leaves: [H256::zero(); 2] };
		let execute = [Move::Execute { dispute: 4, index: 6 }];
		assert_eq!(moves(&now, &me, Some(&own), &POLICY, 9), execute);
	}
}
