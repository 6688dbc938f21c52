//! One block of an update: the largest values of a block, in a few bits each.

use crate::{
	bits::{Reader, Writer},
	rule::{Compression, Fault, BLOCK},
};
use alloc::vec::Vec;
use trainyard_strict::Arithmetic;

/// A value of a block that an update has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
	/// Its place in the block.
	pub place: u32,
	/// Whether it is negative.
	pub negative: bool,
	/// Which of the magnitudes of the block it has.
	pub level: u32,
}

/// A block of an update.
///
/// All values have magnitudes from `least` to `least` and so many times `step` as there are levels; one of
/// level `j` stands for `least + (j + 1/2) step`. Bytes, the least significant bit of each first: `least` and
/// `step` as binary32; of each place, ascending, the low bits; the high parts of the places, as one bit each
/// that is 1, and before it so many that are 0 as the part is larger than that of the place before; sign and
/// level of each value; zeros up to a whole byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
	/// The least magnitude of those that were picked.
	pub least: f32,
	/// By how much magnitudes of neighbouring levels differ.
	pub step: f32,
	/// The values, in ascending order of their places.
	pub entries: Vec<Entry>,
}

impl Block {
	/// Returns the block of values, none of which may be infinite or NaN: of those with the largest magnitudes as
	/// many as the compression picks, of equal ones those before.
	pub fn of<A: Arithmetic>(rule: Compression, values: &[f32]) -> Result<Self, Fault> {
		let length = length_of(values.len())?;
		if values.iter().any(|value| !value.is_finite()) {
			return Err(Fault::NotFinite);
		}
		let count = rule.picked(length);
		let picked = largest(values, count);
		let size = |place: &u32| values.get(*place as usize).copied().unwrap_or(0.0).abs();
		let least = picked.iter().map(size).fold(f32::INFINITY, f32::min).min(f32::MAX);
		let most = picked.iter().map(size).fold(0.0, f32::max);
		let levels = rule.levels();
		let step = (most - least) / levels as f32;
		let last = levels.saturating_sub(1);
		let level = |size: f32| {
			// The cast cuts off what is behind the point, and a quotient too large is the last level.
			if step > 0.0 {
				(((size - least) / step) as u32).min(last)
			} else {
				0
			}
		};
		let entry = |place: &u32| {
			let value = values.get(*place as usize).copied().unwrap_or(0.0);
			Entry { place: *place, negative: value.is_sign_negative(), level: level(value.abs()) }
		};
		let entries = picked.iter().map(entry).collect();
		let block = Self { least, step, entries };
		// Half a step below the largest there is no overflow.
		if block.is_finite::<A>(rule) {
			Ok(block)
		} else {
			Err(Fault::NotFinite)
		}
	}

	/// Returns what an entry of this block stands for.
	pub fn value<A: Arithmetic>(&self, entry: &Entry) -> f32 {
		let size = A::fma(self.step, entry.level as f32 + 0.5, self.least);
		if entry.negative {
			-size
		} else {
			size
		}
	}

	fn is_finite<A: Arithmetic>(&self, rule: Compression) -> bool {
		let last = Entry { place: 0, negative: false, level: rule.levels().saturating_sub(1) };
		self.value::<A>(&last).is_finite()
	}

	/// Writes the block of `length` values behind what is in `out`.
	pub fn write(&self, rule: Compression, length: u32, out: &mut Vec<u8>) {
		let mut bits = Writer::new(out);
		bits.put(self.least.to_bits(), 32);
		bits.put(self.step.to_bits(), 32);
		let low = rule.low_bits(length);
		for entry in &self.entries {
			bits.put(entry.place, low);
		}
		let mut before = 0;
		let mut written = 0u32;
		for entry in &self.entries {
			let high = entry.place >> low;
			for _ in before..high {
				bits.put(0, 1);
			}
			bits.put(1, 1);
			written = written.saturating_add(high.saturating_sub(before)).saturating_add(1);
			before = high;
		}
		for _ in written..rule.high_bits(length) {
			bits.put(0, 1);
		}
		for entry in &self.entries {
			bits.put(u32::from(entry.negative), 1);
			bits.put(entry.level, rule.bits().saturating_sub(1));
		}
		bits.finish();
	}

	/// Reads the block of `length` values from its bytes, no more and no fewer. Every block has one form, and
	/// others are refused.
	pub fn read<A: Arithmetic>(
		rule: Compression,
		length: u32,
		bytes: &[u8],
	) -> Result<Self, Fault> {
		let length = length_of(length as usize)?;
		let [found, expected] = [bytes.len() as u64, u64::from(rule.block_bytes(length))];
		let short = Fault::Length { found, expected };
		if found != expected {
			return Err(short);
		}
		let mut bits = Reader::new(bytes);
		let least = f32::from_bits(bits.take(32).ok_or(short)?);
		let step = f32::from_bits(bits.take(32).ok_or(short)?);
		let is_scale = |x: f32| x.is_finite() && x.is_sign_positive();
		if !is_scale(least) || !is_scale(step) {
			return Err(Fault::Scale);
		}
		let count = rule.picked(length);
		let low = rule.low_bits(length);
		let mut entries = Vec::with_capacity(count as usize);
		for _ in 0..count {
			entries.push(Entry { place: bits.take(low).ok_or(short)?, negative: false, level: 0 });
		}
		let mut places = entries.iter_mut();
		let mut high = 0u32;
		for _ in 0..rule.high_bits(length) {
			if bits.take(1).ok_or(short)? == 0 {
				high = high.saturating_add(1);
			} else {
				let entry = places.next().ok_or(Fault::Places)?;
				entry.place |= high << low;
			}
		}
		if places.next().is_some() {
			return Err(Fault::Places);
		}
		let ascending = entries.iter().zip(entries.iter().skip(1)).all(|(a, b)| a.place < b.place);
		if !ascending || entries.last().is_some_and(|last| last.place >= length) {
			return Err(Fault::Places);
		}
		for entry in &mut entries {
			entry.negative = bits.take(1).ok_or(short)? == 1;
			entry.level = bits.take(rule.bits().saturating_sub(1)).ok_or(short)?;
		}
		if !bits.is_padding() {
			return Err(Fault::Padding);
		}
		// The least of the magnitudes has level 0, and all have where they are equal.
		let least_there = entries.iter().any(|entry| entry.level == 0);
		if !least_there || (step == 0.0 && entries.iter().any(|entry| entry.level != 0)) {
			return Err(Fault::Levels);
		}
		let block = Self { least, step, entries };
		if block.is_finite::<A>(rule) {
			Ok(block)
		} else {
			Err(Fault::Scale)
		}
	}
}

/// Returns the length of a block that has so many values, if one can.
fn length_of(values: usize) -> Result<u32, Fault> {
	let length = u32::try_from(values).map_err(|_| Fault::Shape)?;
	match (1..=BLOCK).contains(&length) {
		true => Ok(length),
		false => Err(Fault::Shape),
	}
}

/// Returns the places of the `count` values of the largest magnitudes, ascending; of equal ones those before.
fn largest(values: &[f32], count: u32) -> Vec<u32> {
	// The bits of magnitudes are in their order, and the complement of the place settles ties.
	let key =
		|(place, value): (u32, &f32)| (u64::from(value.abs().to_bits()) << 32) | u64::from(!place);
	let mut keys: Vec<u64> = (0..).zip(values).map(key).collect();
	let count = (count as usize).min(keys.len());
	if count == 0 {
		return Vec::new();
	}
	if count < keys.len() {
		keys.select_nth_unstable_by(count.saturating_sub(1), |a, b| b.cmp(a));
	}
	let mut places: Vec<u32> = keys.iter().take(count).map(|key| !(*key as u32)).collect();
	places.sort_unstable();
	places
}
