//! What a chain holds between two of its terms.

use super::PartError;
use alloc::vec::Vec;
use codec::{Decode, Encode, EncodeLike, Input, Output};
use core::ops::Range;
use trainyard_strict::{
	canonical_bits, whetstone::VARIABLES, DotChain, SumChain, LANES, SUM_LEVELS,
};

/// What a chain holds. With the number of terms that it has taken, it is all that the chain needs to
/// go on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(clippy::large_enum_variant)] // There is one at a time, on the stack.
pub enum Accumulator {
	/// Elements without a chain.
	#[default]
	None,
	/// A dot product.
	Dot(DotChain),
	/// A sum with lanes.
	Sum(SumChain),
	/// Dot products that are added one after the other.
	Dots {
		/// The sum of those that are whole.
		sum: f32,
		/// The present one.
		dot: DotChain,
	},
	/// Terms that are added one after the other.
	Add(f32),
	/// The largest so far; minus infinity before the first.
	Max(f32),
	/// The first of the largest so far.
	Largest {
		/// Its value.
		value: f32,
		/// Its index.
		at: u32,
	},
	/// The number of the first term that was looked for, from 1; 0 as long as there is none.
	First(u32),
	/// The variables of a lane of [`crate::ops::OpKind::Whetstone`].
	Lane([f32; VARIABLES]),
}

impl Accumulator {
	/// Takes the terms `range` of a dot product.
	pub(super) fn dot<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<(f32, f32), E>,
	) -> Result<(), E> {
		let Accumulator::Dot(chain) = self else { return Err(PartError::WrongAccumulator.into()) };
		for taken in range {
			let (x, y) = term(taken)?;
			chain.add(taken, x, y);
		}
		Ok(())
	}

	/// Takes the terms `range` of a sum with lanes.
	pub(super) fn sum<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<f32, E>,
	) -> Result<(), E> {
		let Accumulator::Sum(chain) = self else { return Err(PartError::WrongAccumulator.into()) };
		for taken in range {
			chain.add(taken, term(taken)?);
		}
		Ok(())
	}

	/// Takes the terms `range` of a sum in order, without those that are none.
	pub(super) fn add<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<Option<f32>, E>,
	) -> Result<(), E> {
		let Accumulator::Add(sum) = self else { return Err(PartError::WrongAccumulator.into()) };
		for taken in range {
			if let Some(x) = term(taken)? {
				*sum += x;
			}
		}
		Ok(())
	}

	/// Takes the terms `range` of a maximum. A NaN is never larger.
	pub(super) fn max<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<f32, E>,
	) -> Result<(), E> {
		let Accumulator::Max(largest) = self else {
			return Err(PartError::WrongAccumulator.into());
		};
		for taken in range {
			let x = term(taken)?;
			if x > *largest {
				*largest = x;
			}
		}
		Ok(())
	}

	/// Takes the terms `range` of a search for the first of the largest.
	pub(super) fn largest<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<f32, E>,
	) -> Result<(), E> {
		let Accumulator::Largest { value, at } = self else {
			return Err(PartError::WrongAccumulator.into());
		};
		for taken in range {
			let x = term(taken)?;
			// The first is taken whatever it is, also where it is a NaN.
			if taken == 0 || x > *value {
				(*value, *at) = (x, u32::try_from(taken).unwrap_or(u32::MAX));
			}
		}
		Ok(())
	}

	/// Takes the terms `range` of a search for the first that is true.
	pub(super) fn first<E: From<PartError>>(
		&mut self,
		range: Range<u64>,
		term: impl Fn(u64) -> Result<bool, E>,
	) -> Result<(), E> {
		let Accumulator::First(number) = self else {
			return Err(PartError::WrongAccumulator.into());
		};
		for taken in range {
			if *number == 0 && term(taken)? {
				*number = u32::try_from(taken).unwrap_or(u32::MAX).saturating_add(1);
			}
		}
		Ok(())
	}

	/// Returns the dot product of the `taken` terms of [`Accumulator::Dot`].
	pub(super) fn dotted(&self, taken: u64) -> Result<f32, PartError> {
		match self {
			Accumulator::Dot(chain) => Ok(chain.finish(taken)),
			_ => Err(PartError::WrongAccumulator),
		}
	}

	/// Returns the sum of the `taken` terms of [`Accumulator::Sum`].
	pub(super) fn summed(&self, taken: u64) -> Result<f32, PartError> {
		match self {
			Accumulator::Sum(chain) => Ok(chain.finish(taken)),
			_ => Err(PartError::WrongAccumulator),
		}
	}

	/// Returns what the terms of [`Accumulator::Add`] add up to.
	pub(super) fn added(&self) -> Result<f32, PartError> {
		match self {
			Accumulator::Add(sum) => Ok(*sum),
			_ => Err(PartError::WrongAccumulator),
		}
	}

	/// Returns the largest of the terms of [`Accumulator::Max`], a zero always +0.
	pub(super) fn maximum(&self) -> Result<f32, PartError> {
		match self {
			Accumulator::Max(largest) => Ok(*largest + 0.0),
			_ => Err(PartError::WrongAccumulator),
		}
	}
}

/// The numbers of the variants in SCALE.
const VARIANTS: u8 = 9;

impl Accumulator {
	/// Returns the number of the variant, and its words: bits of numbers, NaN as 7FC00000.
	fn words(&self) -> (u8, Vec<u32>) {
		let bits = canonical_bits;
		match self {
			Accumulator::None => (0, Vec::new()),
			Accumulator::Dot(DotChain { total, block }) => {
				(1, alloc::vec![bits(*total), bits(*block)])
			}
			Accumulator::Sum(SumChain { lanes }) => {
				(2, lanes.iter().flatten().map(|x| bits(*x)).collect())
			}
			Accumulator::Dots { sum, dot: DotChain { total, block } } => {
				(3, alloc::vec![bits(*sum), bits(*total), bits(*block)])
			}
			Accumulator::Add(sum) => (4, alloc::vec![bits(*sum)]),
			Accumulator::Max(largest) => (5, alloc::vec![bits(*largest)]),
			Accumulator::Largest { value, at } => (6, alloc::vec![bits(*value), *at]),
			Accumulator::First(number) => (7, alloc::vec![*number]),
			Accumulator::Lane(lane) => (8, lane.iter().map(|x| bits(*x)).collect()),
		}
	}
}

/// SCALE: the number of the variant, from 0, and its fields in their order; a number by its
/// canonical bits. Bits that are not canonical do not decode, so an accumulator has one form.
///
/// Accumulators are compared by this form, never by what they would finish to: fields that the number
/// of terms makes idle (the total of a dot product in its first block, the upper levels of a short
/// sum) are part of it, and an honest chain has them at +0.
impl Encode for Accumulator {
	fn size_hint(&self) -> usize {
		let (_, words) = self.words();
		words.len().saturating_mul(4).saturating_add(1)
	}

	fn encode_to<T: Output + ?Sized>(&self, to: &mut T) {
		let (variant, words) = self.words();
		to.push_byte(variant);
		words.iter().for_each(|word| word.encode_to(to));
	}
}

impl EncodeLike for Accumulator {}

impl Decode for Accumulator {
	fn decode<I: Input>(from: &mut I) -> Result<Self, codec::Error> {
		let variant = from.read_byte()?;
		let mut float = || {
			let bits = u32::decode(from)?;
			let x = f32::from_bits(bits);
			match canonical_bits(x) == bits {
				true => Ok(x),
				false => Err(codec::Error::from("a number that is not in canonical form")),
			}
		};
		Ok(match variant {
			0 => Accumulator::None,
			1 => Accumulator::Dot(DotChain { total: float()?, block: float()? }),
			2 => {
				let mut lanes = [[0.0; LANES]; SUM_LEVELS];
				for lane in lanes.iter_mut().flatten() {
					*lane = float()?;
				}
				Accumulator::Sum(SumChain { lanes })
			}
			3 => {
				let (sum, total, block) = (float()?, float()?, float()?);
				Accumulator::Dots { sum, dot: DotChain { total, block } }
			}
			4 => Accumulator::Add(float()?),
			5 => Accumulator::Max(float()?),
			6 => Accumulator::Largest { value: float()?, at: u32::decode(from)? },
			7 => Accumulator::First(u32::decode(from)?),
			8 => {
				let mut lane = [0.0; VARIABLES];
				for value in &mut lane {
					*value = float()?;
				}
				Accumulator::Lane(lane)
			}
			VARIANTS.. => return Err(codec::Error::from("no such chain")),
		})
	}
}
