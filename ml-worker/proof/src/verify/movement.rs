//! How far a run moves from checkpoint to checkpoint, tensor by tensor, and in which segment it moves
//! farthest, by its parameters or by its moments.
//!
//! A made-up state is a jump: between two neighbouring checkpoints something moves farther than
//! elsewhere in the run. Draws rarely find that one segment; here it is looked for, and no state is
//! fetched whole for it. Each tensor below 64 KiB is read whole, and two chunks of 1 KiB of each larger
//! one, the same in all checkpoints, at places that nobody but the seat knows
//! beforehand ([`vrf::own_chunks`]).
//!
//! - [`Measure`] says of which tensors: one seat looks at the parameters, another at the moments. The
//!   moments of an honest run spread wider than its parameters, and picked together they would hide what
//!   these show;
//! - [`Plan`] is what is read of every checkpoint, [`Walk`] reads it from a [`Source`], one
//!   checkpoint after the other, and goes on where it was interrupted;
//! - [`Movement`] has the quotients, and [`Movement::pick`] is the segment.
//!
//! **The quotient.** Of each tensor and segment the largest `|x' - x|` of the elements that are read.
//! Of a parameter it is divided by the sum of the segment's learning rates, which says how far honest
//! steps could go: a warm-up, with its small steps, hides no jump. Moments are averages of gradients,
//! in which no learning rate is: divided by it they would be largest wherever the schedule is near
//! zero, and that would hide all jumps elsewhere. Second moments are averages of squares, so of theirs
//! it is the root; otherwise one batch with large gradients would weigh more than any jump.
//!
//! **The reference** of a tensor in a segment is what the quotient is compared with: the larger of two
//! medians, that of the eight segments before and that of the eight after. Training slows down by
//! itself, so over a whole run the first segments would always stand out, and hide everything else;
//! beside its neighbours no honest segment does. Where training goes from fast to slow, the larger of
//! both sides counts. To raise it, a cheat would have to make up most of the segments on one side, too.
//! A reference is at least the middle one of its kind (parameters, first moments, second ones) in that
//! segment: a slice that stands still but for one segment, for example of weights behind pixels that
//! are almost always black, is then compared with the others.
//!
//! **The pick** is the segment with the largest ratio of a quotient to its reference, of equal ratios
//! the earliest segment, and the first tensor in it. The first segment and the last are no picks: seat
//! 0 replays them ([`duties::required`](trainyard_protocol::duties::required)). The first has nothing
//! before it and moves farthest in every run. Where training diverged, seat 0 replays that segment, and
//! the last one before it can be picked.
//!
//! **Two levels.** Of a job whose trainers do not keep all states ([`trainyard_program::thinning`]), the states that
//! are kept are read first, and the stretch between two of them is picked that moved farthest for what the stretches
//! around it do. Then all states of that stretch are read, and of the first one, which trainers compute again, and in
//! these two a segment is picked, compared with those around it in the same stretch ([`Levels`]).
//!
//! `tools/movement/spread.py` computes all of this a second time, and `docs/benchmarks.md` has its
//! figures.

mod kept;
mod levels;
mod pick;
mod walk;

pub use levels::{any_of, Levels};
pub use pick::{Movement, Pick};
pub use walk::{Fault, Local, Request, Source, Walk};

use crate::bundle::openings::{Part, Parts, Tensors, MAX_BYTES, MAX_PARTS, WHOLE_BYTES};
use primitive_types::H256;
use serde::Serialize;
use std::sync::Arc;
pub use trainyard_program::samples::SLICES;
use trainyard_program::{reachable::Kind, schedule::LearningRate, spec::CheckedSpec};
use trainyard_protocol::{content, vrf};

/// By which tensors of a run a segment is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
	/// The parameters of the model.
	Parameters,
	/// The optimizer's first and second moments, or its velocity.
	Moments,
}

impl Measure {
	/// Both, in the order of the seats that pick by them.
	pub const ALL: [Self; 2] = [Self::Parameters, Self::Moments];

	/// Returns by which the seat of this number picks, if it does.
	pub fn of_seat(seat: usize) -> Option<Self> {
		seat.checked_sub(1).and_then(|at| Self::ALL.get(at)).copied()
	}

	/// Returns whether it looks at tensors of this kind.
	fn reads(self, kind: Kind) -> bool {
		match kind {
			Kind::Parameter => self == Self::Parameters,
			Kind::Velocity | Kind::FirstMoment | Kind::SecondMoment => self == Self::Moments,
			// They are checked to the bit wherever a state is read.
			Kind::Mapping | Kind::Beta1Power | Kind::Beta2Power => false,
		}
	}
}

/// What one seat reads of every checkpoint of a job.
#[derive(Clone, Debug)]
pub struct Plan {
	tensors: Arc<Tensors>,
	/// A part of each tensor that is read.
	parts: Vec<Part>,
	/// Of each part, the name of its tensor.
	names: Vec<String>,
	/// Of each part, what its tensor is.
	kinds: Vec<Kind>,
}

impl Plan {
	/// Returns what the seat with this VRF `output` that picks by `measure` reads of a job.
	pub fn of(spec: &CheckedSpec, measure: Measure, output: &H256) -> Self {
		Self::of_kinds(spec, |kind| measure.reads(kind), output)
	}

	/// Returns what is read of every checkpoint of a job by whoever keeps [samples](crate::bundle::samples) of them
	/// for others: at these `places` all that seats read that pick by any measure there.
	pub fn of_samples(spec: &CheckedSpec, places: &H256) -> Self {
		Self::of_kinds(spec, |_| true, places)
	}

	fn of_kinds(spec: &CheckedSpec, reads: impl Fn(Kind) -> bool, output: &H256) -> Self {
		let tensors = Arc::new(Tensors::of(spec));
		let (mut parts, mut names, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
		for (tensor, name) in (0u32..).zip(tensors.names()) {
			let kind = Kind::of(name).0;
			if !reads(kind) {
				continue;
			}
			let bytes = tensors.bytes(tensor).unwrap_or(u64::MAX);
			let count = u32::try_from(content::chunks(bytes)).unwrap_or(u32::MAX);
			let chunks = match bytes < WHOLE_BYTES {
				true => Vec::new(),
				false => vrf::own_chunks(output, tensor, count, SLICES),
			};
			parts.push(Part { tensor, chunks });
			names.push(name.to_owned());
			kinds.push(kind);
		}
		Self { tensors, parts, names, kinds }
	}

	/// Returns the parts that are read, one of each tensor, in the order of their tensors.
	pub fn parts(&self) -> &[Part] {
		&self.parts
	}

	/// Returns the names of the tensors, in the order of [`Self::parts`].
	pub fn names(&self) -> &[String] {
		&self.names
	}

	/// Returns what to ask for to have all of it of one checkpoint: its index, the steps done there, and the hash of
	/// its state.
	pub fn requests(&self, checkpoint: u32, step: u32, state: H256) -> Vec<Request> {
		let (mut all, mut from) = (Vec::new(), 0);
		while let Some(request) = self.request((checkpoint, step, state), from, usize::MAX) {
			from += request.parts.len();
			all.push(request);
		}
		all
	}

	/// Returns what to ask for of a checkpoint, from part number `from` on, at most so many parts; `None` where no
	/// part is left.
	fn request(
		&self,
		(checkpoint, step, state): (u32, u32, H256),
		from: usize,
		most: usize,
	) -> Option<Request> {
		let count = self.asked_from(from, most);
		let parts = Parts::new(self.parts.get(from..)?.get(..count)?.to_vec())?;
		Some(Request { checkpoint, step, state, parts, tensors: self.tensors.clone() })
	}

	/// Returns how many of the parts from number `from` on one request asks for, `most` at most and at
	/// least one.
	fn asked_from(&self, from: usize, most: usize) -> usize {
		let mut sum = 0u64;
		let bytes = |part: &Part| self.tensors.bytes(part.tensor).unwrap_or(u64::MAX);
		let fits = |part: &&Part| {
			sum = sum.saturating_add(bytes(part).min(WHOLE_BYTES));
			sum <= MAX_BYTES
		};
		let parts = self.parts.get(from..).unwrap_or_default();
		parts.iter().take(most.clamp(1, MAX_PARTS)).take_while(fits).count().max(1)
	}
}

/// Returns the sum of the learning rates of the steps `from..to`, each as the schedule of the
/// specification has it, exact up to its last rounding to binary64.
pub fn summed_rates(spec: &CheckedSpec, from: u32, to: u32) -> f64 {
	let rates = LearningRate::of(&spec.training);
	let (mut sum, mut rest) = (0.0f64, 0.0f64);
	for step in from..to {
		let rate = f64::from(rates.at(step));
		let next = sum + rate;
		// What this addition rounds away (Knuth, The Art of Computer Programming 2, 4.2.2).
		let added = next - sum;
		rest += (sum - (next - added)) + (rate - added);
		sum = next;
	}
	sum + rest
}

#[cfg(test)]
mod tests;
