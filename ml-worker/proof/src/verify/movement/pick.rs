//! In which segment a run moved farthest for what it does around it.

use super::{summed_rates, Plan};
use serde::Serialize;
use std::ops::Range;
use trainyard_program::{reachable::Kind, spec::CheckedSpec};

/// Segments on each side of one with which it is compared.
const BESIDE: usize = 8;

/// How far each tensor moved in each segment of a run, or in each of its stretches.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
	pub(super) names: Vec<String>,
	pub(super) kinds: Vec<Kind>,
	/// Quotients of each segment, by tensor.
	pub(super) quotients: Vec<Vec<f64>>,
	/// The checkpoints between which each was measured.
	pub(super) spans: Vec<(u32, u32)>,
	/// The last checkpoint of the run.
	pub(super) last: u32,
	/// Whether training diverged in the segment after that.
	pub(super) diverged: bool,
}

/// The segment in which a run moved farthest for what it does around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
	/// The segment; of a stretch its first one.
	pub segment: u32,
	/// The tensor that shows it.
	pub tensor: String,
	/// Its quotient: of a parameter its movement for a learning rate of 1 in all, of a first moment or a
	/// velocity its movement, of a second moment the root of it.
	pub quotient: f64,
	/// With what it is compared: how far the tensor, or the middle one of its kind, moves in the
	/// segments around this one.
	pub reference: f64,
	/// Quotient by reference. It is the largest binary64 where nothing of that kind moves around it.
	pub ratio: f64,
}

impl Movement {
	/// Makes the quotients of a run that read by `plan` and moved so far: of each segment the largest
	/// `|x' - x|` of each part. Beside it are the checkpoints between which each was measured, the last one of the run,
	/// and whether training diverged in the segment after that.
	pub(super) fn new(
		spec: &CheckedSpec,
		plan: &Plan,
		moved: &[Vec<f64>],
		(spans, last, diverged): (Vec<(u32, u32)>, u32, bool),
	) -> Self {
		let step = |index: u32| spec.checkpoint_step(index).unwrap_or(spec.training.steps);
		let quotients = spans.iter().zip(moved).map(|((from, to), moved)| {
			let rates = summed_rates(spec, step(*from), step(*to));
			// At a rate of zero no parameter moves: whatever does has a huge quotient, a finite one.
			let rates = rates.max(f64::from(f32::MIN_POSITIVE));
			let quotient = |(moved, kind): (&f64, &Kind)| match kind {
				Kind::Parameter => moved / rates,
				Kind::SecondMoment => moved.sqrt(),
				_ => *moved,
			};
			moved.iter().zip(&plan.kinds).map(quotient).collect()
		});
		let (names, kinds) = (plan.names.clone(), plan.kinds.clone());
		let quotients = quotients.collect();
		Self { names, kinds, quotients, spans, last, diverged }
	}

	/// Returns the names of the tensors, in the order of the columns of [`Self::quotients`].
	pub fn names(&self) -> &[String] {
		&self.names
	}

	/// Returns the quotients of each segment, by tensor.
	pub fn quotients(&self) -> &[Vec<f64>] {
		&self.quotients
	}

	/// Returns with what each quotient of this segment is compared, by tensor.
	pub fn references(&self, segment: usize) -> Vec<f64> {
		let all = self.quotients.len();
		let beside = |range: Range<usize>, tensor: usize| {
			let rows = self.quotients.get(range).unwrap_or_default();
			middle(rows.iter().filter_map(|row| row.get(tensor)).copied().collect())
		};
		let before = segment.saturating_sub(BESIDE)..segment.min(all);
		let next = segment.saturating_add(1).min(all);
		let after = next..next.saturating_add(BESIDE).min(all);
		let own: Vec<f64> = (0..self.names.len())
			.map(|tensor| beside(before.clone(), tensor).max(beside(after.clone(), tensor)))
			.collect();
		let of_kind = |kind: Kind| {
			let same = own.iter().zip(&self.kinds).filter(|(_, other)| **other == kind);
			(kind, middle(same.map(|(own, _)| *own).collect()))
		};
		let kinds = [Kind::Parameter, Kind::Velocity, Kind::FirstMoment, Kind::SecondMoment];
		let least = kinds.map(of_kind);
		let counts = |(own, kind): (&f64, &Kind)| {
			least.iter().filter(|(of, _)| of == kind).fold(*own, |own, (_, least)| own.max(*least))
		};
		own.iter().zip(&self.kinds).map(counts).collect()
	}

	/// Returns which of those that were measured can be picked: all but what begins the run, and the segments that
	/// seat 0 replays.
	pub fn candidates(&self) -> Range<usize> {
		let measured = self.quotients.len();
		let first = usize::from(self.spans.first().is_none_or(|(from, _)| *from == 0));
		let ends = self.spans.get(measured.saturating_sub(1));
		let is_end =
			ends.is_some_and(|(from, to)| *to == self.last && to.saturating_sub(*from) == 1);
		first..measured.saturating_sub(usize::from(is_end && !self.diverged)).max(first)
	}

	/// Returns the ratios of the quotients of this segment to their references, by tensor. What moves
	/// where nothing of its kind does has the largest binary64.
	pub fn ratios(&self, segment: usize) -> Vec<f64> {
		let ratio = |(quotient, reference): (&f64, f64)| match (*quotient > 0.0, reference > 0.0) {
			(false, _) => 0.0,
			(true, false) => f64::MAX,
			(true, true) => (quotient / reference).min(f64::MAX),
		};
		let quotients = self.quotients.get(segment).map(Vec::as_slice).unwrap_or_default();
		quotients.iter().zip(self.references(segment)).map(ratio).collect()
	}

	/// Returns the segment with the largest ratio among [`Self::candidates`]; `None` where nothing moves
	/// in any, or there is none.
	pub fn pick(&self) -> Option<Pick> {
		let mut best: Option<(usize, usize, f64)> = None;
		for segment in self.candidates() {
			for (tensor, ratio) in self.ratios(segment).into_iter().enumerate() {
				if ratio > best.map_or(0.0, |(.., most)| most) {
					best = Some((segment, tensor, ratio));
				}
			}
		}
		let (segment, tensor, ratio) = best?;
		Some(Pick {
			segment: self.spans.get(segment)?.0,
			tensor: self.names.get(tensor)?.clone(),
			quotient: *self.quotients.get(segment)?.get(tensor)?,
			reference: *self.references(segment).get(tensor)?,
			ratio,
		})
	}
}

/// Returns the median of these numbers, of an even count the lower of the two in the middle, or their
/// mean where that is zero; 0 of none.
fn middle(mut values: Vec<f64>) -> f64 {
	values.sort_by(f64::total_cmp);
	match values.get(values.len().saturating_sub(1) / 2) {
		None => 0.0,
		Some(median) if *median > 0.0 => *median,
		Some(_) => values.iter().sum::<f64>() / values.len() as f64,
	}
}
