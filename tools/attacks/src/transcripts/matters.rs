//! What is disputed: in which job, and in what the two sides differ.

use super::{operators, targets};
use serde::Serialize;
use std::collections::BTreeSet;
use trainyard_court::{
	game::{Moment, Target},
	referee::Lowered,
	testing::run::{other, Change, Job, Run},
};
use trainyard_protocol::{blob, content, H256};

/// What a transcript is about.
pub struct Matter {
	/// Its name on the command line: that of an operator, or of something else that can be false.
	pub name: &'static str,
	/// Its job, or what is false, in words.
	pub what: &'static str,
	/// The job.
	pub job: fn() -> Job,
	/// In what the two sides differ.
	pub differs: Differs,
	/// The kinds of the pieces that are left, for the cheat and for the false accuser; `clock` where
	/// nobody brings one.
	pub pieces: [&'static str; 2],
	/// What the openings of the piece have to show.
	pub reads: Option<&'static str>,
}

/// In what the two sides differ.
#[derive(Clone, Copy)]
pub enum Differs {
	/// In one element of a result of the operator with the matter's name, and all that follows from it.
	Operator,
	/// In one thing that a run changes.
	Run(fn(&Job, &Run) -> Change),
	/// In that, where a seat is accused that vouched for it.
	Seat(fn(&Job, &Run) -> Change),
	/// In the file that is stored for the state of this checkpoint: in a word of a tensor, or of its
	/// header.
	Stored {
		/// Index of the checkpoint.
		state: u32,
		/// The word of the second tensor.
		tensor: Option<usize>,
		/// The word of the header.
		header: Option<usize>,
	},
}

/// Who is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
	/// The defendant: what it delivered, vouched for or stored is false.
	Cheat,
	/// The challenger: it denies what is true.
	Accuser,
}

/// Both roles, as they stand in tables.
pub const ROLES: [Role; 2] = [Role::Cheat, Role::Accuser];

impl Role {
	/// Who is wrong, in words.
	pub fn name(self) -> &'static str {
		match self {
			Role::Cheat => "as cheat",
			Role::Accuser => "as false accuser",
		}
	}
}

/// What both sides hold.
pub struct Sides {
	/// What the defendant delivered and defends.
	pub delivered: Run,
	/// What the challenger says instead.
	pub claims: Run,
	/// What is accused.
	pub target: Target,
	/// The bytes of the file that is stored for a state, where that is accused.
	pub blob: Option<Vec<u8>>,
}

/// Returns everything that is disputed: all operators of jobs, then all else.
pub fn all() -> Vec<Matter> {
	operators::all().into_iter().chain(targets::all()).collect()
}

/// The root of the blob of a file.
fn root(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}

impl Matter {
	/// Returns whether it is about an operator.
	pub fn is_operator(&self) -> bool {
		matches!(self.differs, Differs::Operator)
	}

	/// Returns whether a seat is accused.
	pub fn accuses_a_seat(&self) -> bool {
		matches!(self.differs, Differs::Seat(_))
	}

	/// Makes the runs of both sides of a job that has its seed.
	pub fn sides(&self, job: &Job, role: Role) -> Sides {
		let honest = Run::new(job, Change::Nothing);
		let changed = match self.differs {
			Differs::Operator => self.bent(job, &honest),
			Differs::Run(change) | Differs::Seat(change) => Run::new(job, change(job, &honest)),
			Differs::Stored { state, tensor, header } => {
				return stored(job, role, state, tensor, header);
			}
		};
		let (delivered, claims) = match role {
			Role::Cheat => (changed, honest),
			Role::Accuser => (honest, changed),
		};
		let target = match (parts(&delivered, &claims), self.accuses_a_seat()) {
			(Some(Target::Segment(segment)), true) => Target::Evidence(segment),
			(Some(target), false) => target,
			(target, _) => panic!("{}: {target:?}", self.name),
		};
		Sides { delivered, claims, target, blob: None }
	}

	/// Returns a run that writes one element of a result of the operator otherwise, in a step or in an
	/// evaluation.
	fn bent(&self, job: &Job, honest: &Run) -> Run {
		let moments =
			[Moment::Step { segment: 0, step: 1 }, Moment::Slice { checkpoint: 1, slice: 0 }];
		for at in moments {
			let computation = at.computation().expect("it is one");
			let lowered = Lowered::new(&job.world.case, computation).expect("the job has it");
			for (result, part) in (0..).zip(lowered.parts()) {
				let kind = &lowered.program().ops[part.op as usize].kind;
				if operators::name_of(kind) != self.name {
					continue;
				}
				for element in BTreeSet::from([part.len / 2, 0, part.len - 1]) {
					let bits = other(honest.computed_at(&at).bits(result, element));
					let run = Run::new(job, Change::Element { at, result, element, bits });
					// Nothing is false where nothing comes of it.
					if parts(&run, honest).is_some() {
						return run;
					}
				}
			}
		}
		panic!("{} has no element with an effect", self.name);
	}
}

/// Returns the sides of a dispute about the file of a state. The training is honest.
fn stored(
	job: &Job,
	role: Role,
	state: u32,
	tensor: Option<usize>,
	header: Option<usize>,
) -> Sides {
	let of = |tensor, header| {
		let mut run = Run::new(job, Change::Nothing).with_stored(state, tensor);
		run.stored_header = header;
		run
	};
	// Who accuses has a false file, which is stored or not: it computes from it that the true one, or the
	// state, is wrong.
	let (delivered, claims) = (of(None, None), of(tensor, header));
	let file = match role {
		Role::Cheat => &claims,
		Role::Accuser => &delivered,
	};
	let bytes = file.blob_bytes().expect("it is stored");
	let target = Target::Rescue { blob: root(&bytes), state };
	Sides { delivered, claims, target, blob: Some(bytes) }
}

/// Returns what an honest challenger accuses: where the results part first.
fn parts(delivered: &Run, claims: &Run) -> Option<Target> {
	for index in 0.. {
		match (delivered.leaf(index), claims.leaf(index)) {
			(None, None) => break,
			(Some(one), Some(other)) if one == other => {}
			(Some(_), Some(_)) if index == 0 => return Some(Target::Start),
			(Some(_), Some(_)) => return Some(Target::Segment(index - 1)),
			_ => return Some(Target::Stop),
		}
	}
	let models = [delivered, claims].map(|run| run.result().model_root);
	(models[0] != models[1]).then_some(Target::Model)
}
