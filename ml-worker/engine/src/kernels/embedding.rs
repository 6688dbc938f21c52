//! Rows of a table by tokens.

use super::{rows::by_rows, Arithmetic, Isa, SimdTask, PARALLEL_FROM};
use trainyard_program::reference::ExecError;

/// Returns the tokens that the numbers stand for. Fails if one is not a whole number below the
/// vocabulary.
pub fn tokens(numbers: &[f32], vocabulary: u32) -> Result<Vec<usize>, ExecError> {
	let token = |(index, x): (u64, &f32)| {
		// The cast saturates, and gives 0 for NaN, which does not equal it.
		let token = *x as u32;
		if token as f32 == *x && token < vocabulary {
			Ok(token as usize)
		} else {
			Err(ExecError::BadToken { index, vocabulary })
		}
	};
	(0u64..).zip(numbers).map(token).collect()
}

/// Returns the rows `table[tokens[i]]`, of `width` elements each.
///
/// # Panics
/// Panics if the table has no row for a token.
pub fn embedding(table: &[f32], tokens: &[usize], width: usize) -> Vec<f32> {
	let mut out = vec![0.0; tokens.len() * width];
	by_rows(&mut out, width, 1, |first, out| {
		for (out, token) in out.chunks_exact_mut(width).zip(&tokens[first..]) {
			out.copy_from_slice(&table[token * width..][..width]);
		}
	});
	out
}

/// Returns the gradient of [`embedding`] by its table of `vocabulary` rows: from +0, for `i`
/// ascending, `out[tokens[i]] = out[tokens[i]] + gradient[i]`.
///
/// Positions are sorted by their tokens first, in ascending order for each, so that threads
/// share out the rows of the table.
///
/// # Panics
/// Panics if a token is not below the vocabulary, or if `gradient` does not have a row for each
/// token.
pub fn embedding_grad(
	isa: Isa,
	gradient: &[f32],
	tokens: &[usize],
	vocabulary: usize,
	width: usize,
) -> Vec<f32> {
	assert_eq!(gradient.len(), tokens.len() * width);
	// Where the positions of each token begin; the last entry says where they end.
	let mut starts = vec![0; vocabulary + 1];
	for token in tokens {
		starts[token + 1] += 1;
	}
	for token in 0..vocabulary {
		starts[token + 1] += starts[token];
	}
	let (mut free, mut positions) = (starts.clone(), vec![0; tokens.len()]);
	for (position, token) in tokens.iter().enumerate() {
		positions[free[*token]] = position;
		free[*token] += 1;
	}
	let mut out = vec![0.0; vocabulary * width];
	// Additions for each element of the table.
	let work = (tokens.len() / vocabulary.max(1)).clamp(1, PARALLEL_FROM);
	by_rows(&mut out, width, work, |first, out| {
		let starts = &starts[first..];
		isa.run(EmbeddingGrad { gradient, starts, positions: &positions, width, out });
	});
	out
}

struct EmbeddingGrad<'a> {
	gradient: &'a [f32],
	/// Where the positions of each row begin, and where those of the last row end.
	starts: &'a [usize],
	positions: &'a [usize],
	width: usize,
	out: &'a mut [f32],
}

impl SimdTask for EmbeddingGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let ranges = self.starts.iter().zip(&self.starts[1..]);
		for ((start, end), out) in ranges.zip(self.out.chunks_exact_mut(self.width)) {
			for position in &self.positions[*start..*end] {
				let gradient = &self.gradient[position * self.width..][..self.width];
				for (out, g) in out.iter_mut().zip(gradient) {
					*out += g;
				}
			}
		}
	}
}
