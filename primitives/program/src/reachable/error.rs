//! What in a state no honest run has.

use alloc::string::String;
use core::fmt;

/// What no honest run has: a tensor, its element, its value and the bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreachable {
	/// A tensor of the state is not there.
	Missing {
		/// Its name.
		tensor: String,
	},
	/// A tensor has another number of elements than it must.
	Length {
		/// Its name.
		tensor: String,
		/// How many it must have.
		expected: u64,
		/// How many it has.
		found: u64,
	},
	/// An element is out of its bounds.
	Element {
		/// The tensor's name.
		tensor: String,
		/// The element, row major.
		index: u64,
		/// Its value.
		value: f32,
		/// Which bound it breaks.
		limit: Limit,
		/// The bound: a largest magnitude, or the end of an interval.
		bound: f64,
	},
	/// The elements are out of their bounds together.
	Sum {
		/// The tensor's name, or which tensors.
		tensor: String,
		/// The sum of their squares; of second moments, of the elements.
		sum: f64,
		/// The largest that an honest run has.
		bound: f64,
	},
}

/// Which bound an element breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
	/// It must be a finite number.
	Number,
	/// Its magnitude is bounded.
	Size,
	/// It cannot be negative.
	Sign,
	/// It is the power of beta of its step, and nothing else.
	Power,
	/// It has the magnitude of a mapping's elements, and nothing else.
	Magnitude,
	/// It is what it was before.
	Kept,
	/// A first moment is bounded by the root of the second.
	Root,
	/// It cannot be less after these steps.
	Least,
	/// It cannot be more after these steps.
	Most,
}

impl fmt::Display for Unreachable {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Unreachable::Missing { tensor } => write!(f, "{tensor} is missing"),
			Unreachable::Length { tensor, expected, found } => {
				write!(f, "{tensor} has {found} elements, but must have {expected}")
			}
			Unreachable::Element { tensor, index, value, limit, bound } => {
				write!(f, "element {index} of {tensor} is {value:e}, but {limit}")?;
				match limit {
					Limit::Number | Limit::Sign => Ok(()),
					_ => write!(f, " {bound:e}"),
				}
			}
			Unreachable::Sum { tensor, sum, bound } => {
				write!(f, "the sum over {tensor} is {sum:e}, but clipping allows at most {bound:e}")
			}
		}
	}
}

impl fmt::Display for Limit {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Limit::Number => "must be a finite number",
			Limit::Size => "no honest run has a magnitude above",
			Limit::Sign => "cannot be negative",
			Limit::Power => "the power at this step is",
			Limit::Magnitude => "the magnitude in a mapping is",
			Limit::Kept => "no step changes a mapping, in which it was",
			Limit::Root => "beside its second moment an honest run has at most",
			Limit::Least => "the steps of its segment leave at least",
			Limit::Most => "the steps of its segment bring at most",
		})
	}
}

#[cfg(feature = "std")]
impl std::error::Error for Unreachable {}
