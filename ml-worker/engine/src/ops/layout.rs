//! How operands lie in memory.

use crate::kernels::matmul::{Batch, View};
use candle_core::{CpuStorage, Layout, Result, WithDType};
use std::borrow::Cow;

/// Returns the elements of an operand, row major: without a copy if they lie like that, otherwise
/// as a copy.
pub fn elements<'a, T: WithDType>(
	storage: &'a CpuStorage,
	layout: &Layout,
) -> Result<Cow<'a, [T]>> {
	let data = storage.as_slice::<T>()?;
	Ok(match layout.contiguous_offsets() {
		Some((start, end)) => Cow::Borrowed(&data[start..end]),
		None => {
			let mut copy = Vec::with_capacity(layout.shape().elem_count());
			if layout.shape().elem_count() > 0 {
				gather(&data[layout.start_offset()..], layout.dims(), layout.stride(), &mut copy);
			}
			Cow::Owned(copy)
		}
	})
}

/// Appends the elements of a layout that begins with `data`, row major.
fn gather<T: Copy>(data: &[T], dims: &[usize], strides: &[usize], to: &mut Vec<T>) {
	match (dims, strides) {
		([len, dims @ ..], [stride, strides @ ..]) if !dims.is_empty() => {
			for index in 0..*len {
				gather(&data[index * stride..], dims, strides, to);
			}
		}
		([len], [stride]) => to.extend((0..*len).map(|index| data[index * stride])),
		_ => to.push(data[0]),
	}
}

/// Matrices that follow each other with one distance, in the place of an operand.
pub struct Matrices<'a> {
	data: Cow<'a, [f32]>,
	/// Elements from one matrix to the next, from one row to the next, and from one column to
	/// the next.
	strides: [usize; 3],
}

impl Matrices<'_> {
	/// As the kernels take them.
	pub fn batch(&self) -> Batch<'_> {
		let [stride, row_stride, column_stride] = self.strides;
		Batch { first: View { data: &self.data, row_stride, column_stride }, stride }
	}

	/// Whether they were copied.
	#[cfg(test)]
	pub fn is_copy(&self) -> bool {
		matches!(self.data, Cow::Owned(_))
	}
}

/// The `batch` matrices of `rows x columns` of an operand that holds them one after the other,
/// each row major or, if `transposed`, column major: where they lie if strides can say how,
/// otherwise a copy.
pub fn matrices<'a>(
	storage: &'a CpuStorage,
	layout: &Layout,
	batch: usize,
	[rows, columns]: [usize; 2],
	transposed: bool,
) -> Result<Matrices<'a>> {
	let stored = if transposed { [batch, columns, rows] } else { [batch, rows, columns] };
	let (data, [matrix, outer, inner]) = match strides(layout, stored) {
		Some(strides) => {
			let data = &storage.as_slice::<f32>()?[layout.start_offset()..];
			(Cow::Borrowed(data), strides)
		}
		None => (elements(storage, layout)?, [stored[1] * stored[2], stored[2], 1]),
	};
	let strides = if transposed { [matrix, inner, outer] } else { [matrix, outer, inner] };
	Ok(Matrices { data, strides })
}

/// The strides of a layout seen as three axes of these extents; none where an axis has no
/// single stride. An axis of one element has the stride that it would have without gaps.
fn strides(layout: &Layout, extents: [usize; 3]) -> Option<[usize; 3]> {
	let mut axes = layout.dims().iter().zip(layout.stride()).rev().filter(|(len, _)| **len != 1);
	let mut found = [extents[1] * extents[2], extents[2], 1];
	for (extent, found) in extents.into_iter().zip(&mut found).rev() {
		let mut covered = 1;
		while covered < extent {
			let (len, stride) = axes.next()?;
			match covered {
				1 => *found = *stride,
				_ if *stride != *found * covered => return None,
				_ => {}
			}
			covered *= len;
		}
		if covered != extent {
			return None;
		}
	}
	Some(found)
}
