//! What is disputed beside the operators: every target of the court, and every kind of piece.

use super::matters::{Differs, Matter};
use trainyard_court::{
	game::{Moment, Witness},
	referee::{Computation, Lowered},
	testing::{
		jobs,
		run::{
			other,
			Change::{self, *},
			Job, Run,
		},
	},
};
use trainyard_program::{
	ops::Role,
	spec::{EarlyStop, ONE_NANO},
};
use trainyard_protocol::{bundle::Evaluation, H256};

/// Something that one run changes, see [`Matter`].
const fn change(
	name: &'static str,
	what: &'static str,
	job: fn() -> Job,
	pieces: [&'static str; 2],
	change: fn(&Job, &Run) -> Change,
) -> Matter {
	Matter { name, what, job, differs: Differs::Run(change), pieces, reads: None }
}

/// A file of the state of checkpoint 1.
const fn file(
	name: &'static str,
	what: &'static str,
	pieces: [&'static str; 2],
	tensor: Option<usize>,
	header: Option<usize>,
) -> Matter {
	let differs = Differs::Stored { state: 1, tensor, header };
	Matter { name, what, job: jobs::small, differs, pieces, reads: None }
}

/// The first result of a step that a role of the program names.
fn result(job: &Job, step: u32, is: impl Fn(Role, u64) -> bool) -> u32 {
	let lowered = Lowered::new(&job.world.case, Computation::Step { step }).expect("it has it");
	let mut results = (0..).zip(lowered.parts());
	let found = results.find(|(result, part)| lowered.role(*result).is_ok_and(|r| is(r, part.len)));
	found.expect("each step has one").0
}

/// The loss of a step.
fn loss(job: &Job, step: u32) -> Witness {
	Witness::Result { result: result(job, step, |role, _| role == Role::Loss), element: 0 }
}

/// An element whose chain is longer than a stretch.
fn of_a_long_chain(job: &Job, honest: &Run) -> Change {
	let at = Moment::Step { segment: 0, step: 0 };
	let lowered = Lowered::new(&job.world.case, Computation::Step { step: 0 }).expect("it has it");
	let is_long = |result: &u32| {
		let stretch = lowered.stretch(*result).expect("it is one of them");
		lowered.terms(*result, 0).is_ok_and(|terms| terms > stretch)
	};
	let result = (0..lowered.results()).find(is_long).expect("there is one");
	let element = lowered.parts()[result as usize].len / 2;
	Element { at, result, element, bits: other(honest.computed_at(&at).bits(result, element)) }
}

/// A training with a rule for an early stop that makes enough progress to go on: its loss falls in each of
/// its three segments.
fn improves() -> Job {
	let mut spec = jobs::spec();
	spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 0 });
	spec.training.learning_rate_nano = ONE_NANO / 100;
	Job::new(spec)
}

/// Returns all of them.
pub fn all() -> Vec<Matter> {
	vec![
		change(
			"initial-weight",
			"a weight with which the training begins",
			jobs::small,
			["Initial"; 2],
			|_, _| Initial { tensor: 0, element: 7 },
		),
		change(
			"tuned-weight",
			"a weight of the model that a fine-tuning begins with",
			jobs::tuned,
			["Initial"; 2],
			|_, _| Initial { tensor: 0, element: 9 },
		),
		Matter {
			reads: Some("the inputs of the rows"),
			..change(
				"row",
				"the inputs of the training rows",
				jobs::small,
				["Stretch"; 2],
				|_, _| Rows { labels: false },
			)
		},
		Matter {
			reads: Some("the labels of the rows"),
			..change(
				"label",
				"the labels of the training rows",
				jobs::small,
				["Stretch"; 2],
				|_, _| Rows { labels: true },
			)
		},
		Matter {
			reads: Some("the inputs of the rows"),
			..change(
				"validation-row",
				"an input of a validation row",
				jobs::cnn,
				["Stretch"; 2],
				|_, _| ValidationRows,
			)
		},
		change(
			"long-chain",
			"an element with a chain of several stretches",
			jobs::broad,
			["Stretch"; 2],
			of_a_long_chain,
		),
		change(
			"one-of-70-steps",
			"the loss in the leaf of one of 70 steps",
			jobs::steps,
			["StepJoin"; 2],
			|_, _| Loss { step: 65 },
		),
		change("next-state", "the state after a step", jobs::small, ["StepJoin"; 2], |_, _| Bent {
			step: 3,
		}),
		change(
			"logits",
			"the logits in the leaf of a step",
			jobs::small,
			["StepJoin"; 2],
			|_, _| Logits { step: 2 },
		),
		change(
			"label-loss",
			"the loss of a label in an evaluation",
			jobs::small,
			["SliceJoin"; 2],
			|_, _| Slice { checkpoint: 2, slice: 0 },
		),
		change("evaluation", "the loss of an evaluation", jobs::small, ["Mean"; 2], |_, _| Mean {
			checkpoint: 1,
		}),
		change(
			"correct-labels",
			"the labels that an evaluation says are predicted",
			jobs::small,
			["Mean"; 2],
			|_, _| Correct { checkpoint: 3 },
		),
		change(
			"early-stop-missed",
			"it goes on where an early stop ends it",
			jobs::stops_soon,
			["Stop"; 2],
			|_, _| GoesOn,
		),
		change(
			"early-stop-made-up",
			"it ends where no early stop ends it",
			improves,
			["Stop"; 2],
			|_, _| Ends { segments: 2 },
		),
		change(
			"model-header",
			"a byte of the header of the model file",
			jobs::small,
			["Model"; 2],
			|_, _| Model { word: 20 },
		),
		change(
			"model-bytes",
			"a byte at the end of the model file",
			jobs::small,
			["Model"; 2],
			|_, honest| Model { word: honest.model_bytes.len() / 4 - 1 },
		),
		file(
			"stored-bytes",
			"a number in the file that is stored for a state",
			["Stored"; 2],
			Some(3),
			None,
		),
		file(
			"stored-header",
			"a byte of the header of that file",
			["StoredHeader"; 2],
			None,
			Some(5),
		),
		change(
			"divergence-by-a-loss",
			"it says that training diverged, by a loss that is finite",
			jobs::small,
			["NotFinite"; 2],
			|job, _| Diverged { step: 3, witness: loss(job, 3) },
		),
		change(
			"divergence-by-a-state",
			"the same, by a number of the state at the end of a segment",
			jobs::small,
			["NotFiniteState"; 2],
			|_, _| Diverged { step: 4, witness: Witness::State { tensor: 3, element: 2 } },
		),
		change(
			"divergence-by-an-evaluation",
			"the same, by an evaluation that nothing leads to",
			jobs::small,
			["clock", "Mean"],
			|_, _| {
				let (evaluation, slices) = (Evaluation::new(f32::NAN, 1, 10), H256::repeat_byte(3));
				Diverged { step: 4, witness: Witness::Evaluation { evaluation, slices } }
			},
		),
		change(
			"past-a-loss",
			"it goes on past a loss that is not finite",
			jobs::diverges_in_a_loss,
			["NotFinite"; 2],
			|_, _| Diverges,
		),
		change(
			"past-a-state",
			"it goes on past a NaN in the state after a step",
			jobs::diverges_in_a_state,
			["NotFinite"; 2],
			|_, _| Diverges,
		),
		change(
			"past-an-end",
			"it goes on past an infinite number in the state at the end of a segment",
			jobs::diverges_at_an_end,
			["NotFiniteState"; 2],
			|_, _| Diverges,
		),
		change(
			"past-an-evaluation",
			"it goes on past an evaluation that is not finite",
			jobs::diverges_in_an_evaluation,
			["Mean"; 2],
			|_, _| Diverges,
		),
		change(
			"past-the-start",
			"it begins from a state whose loss is not finite",
			jobs::diverges_before_it_begins,
			["Mean"; 2],
			|_, _| Diverges,
		),
		Matter {
			name: "evidence",
			what: "a seat vouches for a false state",
			job: jobs::small,
			differs: Differs::Seat(|_, _| Bent { step: 1 }),
			pieces: ["StepJoin"; 2],
			reads: None,
		},
	]
}
