//! Launches that several operators share: elementwise ones, sums, and products of matrices.

use super::{
	backend::{Arg, Backend, Geometry},
	DeviceError,
};
use trainyard_program::{ops::Window, spec::MAX_NORM_WIDTH};
use trainyard_strict::{DOT_BLOCK, LANES, SUM_BLOCK};

/// Threads of a block, except where a kernel says otherwise.
const THREADS: u32 = 256;
/// Blocks of an elementwise launch; further elements are taken in turns.
const MOST_BLOCKS: u64 = 1 << 16;
/// Sums (or rows) of a block: sixteen threads for each.
const GROUPS: u64 = THREADS as u64 / LANES as u64;
/// Columns of a block of `sum_column_blocks`.
const COLUMNS: u64 = 32;
/// Columns of rows that are summed up within a block of threads.
const MOST_COLUMNS: u32 = (SUM_BLOCK * SUM_BLOCK) as u32;
const _: () = assert!(MOST_COLUMNS >= MAX_NORM_WIDTH, "a valid job must be possible on a GPU");
/// Sides of the tiles of a product.
const SIDES: [u64; 3] = [128, 64, 32];
/// Elements of the largest buffer for results of parts of a product.
const MOST_PARTS: u64 = 1 << 28;

/// Multiples that make a product one of whole tiles: of its rows and columns, and of its terms.
const WHOLE: [u32; 2] = [128, 8];

/// Kernels of a product.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
	/// By side of the tile.
	tiles: [&'static str; 3],
	/// For results of whole tiles of the largest side.
	whole: Option<&'static str>,
}

/// Kernels of MatMul, by whether the operands are transposed.
pub const MATMUL: [[Kernels; 2]; 2] = [
	[
		Kernels {
			tiles: ["matmul_nn_128", "matmul_nn_64", "matmul_nn_32"],
			whole: Some("matmul_nn_whole"),
		},
		Kernels {
			tiles: ["matmul_nt_128", "matmul_nt_64", "matmul_nt_32"],
			whole: Some("matmul_nt_whole"),
		},
	],
	[
		Kernels {
			tiles: ["matmul_tn_128", "matmul_tn_64", "matmul_tn_32"],
			whole: Some("matmul_tn_whole"),
		},
		Kernels {
			tiles: ["matmul_tt_128", "matmul_tt_64", "matmul_tt_32"],
			whole: Some("matmul_tt_whole"),
		},
	],
];
/// Kernels of a link of chains of drilling.
pub const CHAIN_LINK: Kernels = Kernels {
	tiles: ["chain_link_128", "chain_link_64", "chain_link_32"],
	whole: Some("chain_link_whole"),
};
/// Kernels of Conv2d.
pub const CONV: Kernels = Kernels { tiles: ["conv_128", "conv_64", "conv_32"], whole: None };
/// Kernels of Conv2dWeightGrad.
pub const CONV_WEIGHT_GRAD: Kernels = Kernels {
	tiles: ["conv_weight_grad_128", "conv_weight_grad_64", "conv_weight_grad_32"],
	whole: None,
};

/// A product: `batch` results of `[m, n]`, dot products of `k` terms.
#[derive(Clone, Copy, Debug)]
pub struct Product {
	/// Pairs of matrices.
	pub batch: u32,
	/// Rows of a result.
	pub m: u32,
	/// Columns of a result.
	pub n: u32,
	/// Terms.
	pub k: u32,
}

impl Product {
	/// Elements of all results.
	fn len(self) -> u64 {
		u64::from(self.batch) * u64::from(self.m) * u64::from(self.n)
	}

	/// Returns whether results are whole tiles of the largest side.
	fn is_whole(self) -> bool {
		let [side, terms] = WHOLE;
		self.m % side == 0 && self.n % side == 0 && self.k % terms == 0 && self.k > 0
	}

	/// Index of the tile among [`SIDES`], and in how many parts the terms are taken: 1, or as many
	/// as there are blocks of terms. Every choice gives the same bits; this one takes the largest
	/// tile that still gives work to each of `multiprocessors`.
	fn choose(self, multiprocessors: u32) -> (usize, u32) {
		let (m, n) = (u64::from(self.m), u64::from(self.n));
		let blocks = |side: u64| u64::from(self.batch) * m.div_ceil(side) * n.div_ceil(side);
		// A tile of which more than half lies outside of the result is too large.
		let fits = |side: u64| side == SIDES[2] || m.min(n) > side / 2;
		let terms = self.k.div_ceil(DOT_BLOCK as u32).max(1);
		let room = u64::from(terms) * u64::from(self.batch) * m * n <= MOST_PARTS;
		for parts in [1, if room { terms } else { 1 }] {
			let busy = |side: u64| blocks(side) * u64::from(parts) >= u64::from(multiprocessors);
			if let Some(tile) = SIDES.iter().position(|side| fits(*side) && busy(*side)) {
				return (tile, parts);
			}
		}
		(2, if room { terms } else { 1 })
	}
}

/// Launches on a device.
pub struct Launches<'a, B: Backend>(pub &'a B);

impl<B: Backend> Launches<'_, B> {
	/// Threads for `n` outputs.
	pub fn each(
		&self,
		kernel: &'static str,
		n: u64,
		arguments: &[Arg<'_, B::Buffer>],
	) -> Result<(), DeviceError> {
		let blocks = n.div_ceil(u64::from(THREADS)).min(MOST_BLOCKS);
		self.blocks(kernel, blocks, THREADS, arguments)
	}

	/// Sixteen threads for each of `rows` rows of at most `cols` columns.
	pub fn rows(
		&self,
		kernel: &'static str,
		rows: u64,
		cols: u32,
		arguments: &[Arg<'_, B::Buffer>],
	) -> Result<(), DeviceError> {
		if cols > MOST_COLUMNS {
			return Err(DeviceError::Unsupported(format!(
				"rows of {cols} columns; on a GPU {kernel} takes at most {MOST_COLUMNS}"
			)));
		}
		self.blocks(kernel, rows.div_ceil(GROUPS), THREADS, arguments)
	}

	fn blocks(
		&self,
		kernel: &'static str,
		blocks: u64,
		threads: u32,
		arguments: &[Arg<'_, B::Buffer>],
	) -> Result<(), DeviceError> {
		match i32::try_from(blocks) {
			// No outputs.
			Ok(0) => Ok(()),
			Ok(blocks) => self.0.launch(kernel, blocks.unsigned_abs(), threads, arguments),
			Err(_) => Err(DeviceError::Unsupported(format!("{kernel} in {blocks} blocks"))),
		}
	}

	/// `n` elements, all `value`.
	pub fn filled(&self, value: f32, n: usize) -> Result<B::Buffer, DeviceError> {
		let out = self.0.allocate(n)?;
		self.each("fill", n as u64, &[Arg::Buffer(&out), Arg::F32(value), Arg::U64(n as u64)])?;
		Ok(out)
	}

	/// Strict sums of the rows of `[sums, n]`, of the squares with `square`.
	pub fn sums(
		&self,
		x: &B::Buffer,
		sums: u64,
		n: u64,
		square: bool,
	) -> Result<B::Buffer, DeviceError> {
		let blocks = n.div_ceil(SUM_BLOCK as u64).max(1);
		let out = self.0.allocate((sums * blocks) as usize)?;
		let sizes = [Arg::U64(sums), Arg::U64(n), Arg::U64(blocks), Arg::U32(square.into())];
		let arguments = [&[Arg::Buffer(x), Arg::Buffer(&out)][..], &sizes].concat();
		self.blocks("sum_blocks", (sums * blocks).div_ceil(GROUPS), THREADS, &arguments)?;
		match blocks {
			1 => Ok(out),
			_ => self.sums(&out, sums, blocks, false),
		}
	}

	/// Strict sums of the channels of `[images, channels, area]`.
	pub fn channel_sums(
		&self,
		x: &B::Buffer,
		images: u64,
		channels: u64,
		area: u64,
	) -> Result<B::Buffer, DeviceError> {
		let n = images * area;
		let blocks = n.div_ceil(SUM_BLOCK as u64).max(1);
		let out = self.0.allocate((channels * blocks) as usize)?;
		let sizes = [Arg::U64(channels), Arg::U64(n), Arg::U64(blocks), Arg::U64(area)];
		let arguments = [&[Arg::Buffer(x), Arg::Buffer(&out)][..], &sizes].concat();
		let groups = (channels * blocks).div_ceil(GROUPS);
		self.blocks("sum_channel_blocks", groups, THREADS, &arguments)?;
		match blocks {
			1 => Ok(out),
			_ => self.sums(&out, channels, blocks, false),
		}
	}

	/// Strict sums of the columns of `[rows, cols]`.
	pub fn column_sums(
		&self,
		x: &B::Buffer,
		rows: u64,
		cols: u32,
	) -> Result<B::Buffer, DeviceError> {
		let blocks = rows.div_ceil(SUM_BLOCK as u64).max(1);
		let out = self.0.allocate(blocks as usize * cols as usize)?;
		let arguments = [Arg::Buffer(x), Arg::Buffer(&out), Arg::U64(rows), Arg::U32(cols)];
		let tiles = u64::from(cols).div_ceil(COLUMNS) * blocks;
		self.blocks("sum_column_blocks", tiles, COLUMNS as u32 * LANES as u32, &arguments)?;
		match blocks {
			1 => Ok(out),
			_ => self.column_sums(&out, blocks, cols),
		}
	}

	/// A product by one of `kernels`; with the windows of a convolution.
	pub fn product(
		&self,
		kernels: Kernels,
		x: &B::Buffer,
		y: &B::Buffer,
		size: Product,
		window: Option<Geometry>,
	) -> Result<B::Buffer, DeviceError> {
		let (tile, parts) = size.choose(self.0.multiprocessors());
		let len = size.len();
		let out = self.0.allocate((len * u64::from(parts)) as usize)?;
		self.tiles(kernels, tile, [x, y, &out], size, parts, window)?;
		if parts == 1 {
			return Ok(out);
		}
		let total = self.0.allocate(len as usize)?;
		let arguments = [Arg::Buffer(&out), Arg::Buffer(&total), Arg::U64(len), Arg::U32(parts)];
		self.each("sum_parts", len, &arguments)?;
		Ok(total)
	}

	/// A product by one of `kernels`, into `out`, whose blocks take all terms in turn.
	pub fn whole_product(
		&self,
		kernels: Kernels,
		x: &B::Buffer,
		y: &B::Buffer,
		out: &B::Buffer,
		size: Product,
	) -> Result<(), DeviceError> {
		let (tile, _) = size.choose(self.0.multiprocessors());
		self.tiles(kernels, tile, [x, y, out], size, 1, None)
	}

	/// Launches the kernel of a tile, on both operands and the results.
	fn tiles(
		&self,
		kernels: Kernels,
		tile: usize,
		[x, y, out]: [&B::Buffer; 3],
		size: Product,
		parts: u32,
		window: Option<Geometry>,
	) -> Result<(), DeviceError> {
		let Product { batch, m, n, k } = size;
		let mut arguments = vec![Arg::Buffer(x), Arg::Buffer(y), Arg::Buffer(out)];
		arguments.extend([m, n, k, parts].map(Arg::U32));
		arguments.push(Arg::U64(size.len()));
		arguments.extend(window.map(Arg::Window));
		let tiles = u64::from(m).div_ceil(SIDES[tile]) * u64::from(n).div_ceil(SIDES[tile]);
		let blocks = tiles * u64::from(batch) * u64::from(parts);
		let kernel = match kernels.whole {
			Some(whole) if tile == 0 && size.is_whole() => whole,
			_ => kernels.tiles[tile],
		};
		self.blocks(kernel, blocks, THREADS, &arguments)
	}
}

/// Returns what kernels know of windows.
pub fn geometry(w: &Window) -> Geometry {
	Geometry([
		w.images,
		w.channels,
		w.height,
		w.width,
		w.kernel,
		w.stride,
		w.padding,
		w.out_height(),
		w.out_width(),
	])
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn tiles_and_parts_fill_the_device() {
		let choose = |batch, m, n, k| Product { batch, m, n, k }.choose(132);
		assert_eq!(choose(1, 4_096, 4_096, 4_096), (0, 1));
		assert_eq!(choose(1, 1_024, 1_024, 256), (1, 1));
		assert_eq!(choose(64, 64, 64, 32), (2, 1));
		// Few outputs and many terms: the terms in parts.
		assert_eq!(choose(1, 64, 576, 50_176), (1, 98));
		assert_eq!(choose(1, 10, 128, 64), (2, 1));
		assert_eq!(choose(1, 1, 1, 0), (2, 1));
		let whole = |m, n, k| Product { batch: 1, m, n, k }.is_whole();
		assert!(whole(128, 256, 8) && whole(1_024, 128, 520));
		assert!(!whole(130, 128, 8) && !whole(128, 64, 8) && !whole(128, 128, 4));
		assert!(!whole(128, 128, 0), "a product of no terms is zero, and has no tile of them");
		// Each block of threads of 17 multiprocessors has a part of the terms.
		assert_eq!(Product { batch: 1, m: 128, n: 128, k: 8_200 }.choose(17), (0, 17));
		// No room for parts.
		assert_eq!(choose(1, 32, 32, 1 << 31), (2, 1));
	}
}
