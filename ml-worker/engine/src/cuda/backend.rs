//! What runs kernels: buffers, copies and launches.
//!
//! All code above this trait is the same for a GPU (`driver`) and for the simulation on the host,
//! by which tests run the kernels without a GPU.

use super::DeviceError;

/// An argument of a kernel, in the order of its parameters.
#[derive(Debug)]
pub enum Arg<'a, B> {
	/// Address of a buffer.
	Buffer(&'a B),
	/// `u32`.
	U32(u32),
	/// `u64`.
	U64(u64),
	/// `f32`.
	F32(f32),
	/// `Window`.
	Window(Geometry),
}

impl<B> Clone for Arg<'_, B> {
	fn clone(&self) -> Self {
		*self
	}
}

impl<B> Copy for Arg<'_, B> {}

/// `Window` of `images.cuh`: images, channels, height, width, kernel, stride, padding, windows
/// above each other, windows beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Geometry(pub [u32; 9]);

/// Executes kernels in the order in which they are launched.
pub trait Backend: Send + Sync + 'static {
	/// Memory of the device: elements of 32 bits.
	type Buffer: Send + Sync + 'static;

	/// Returns the device's name, in words.
	fn name(&self) -> String;

	/// Returns how many blocks of threads the device works on at a time, at least.
	fn multiprocessors(&self) -> u32;

	/// Allocates memory for `len` elements, whose values are not defined. Its owner frees it by
	/// dropping it, also while a launch that uses it has not run yet.
	fn allocate(&self, len: usize) -> Result<Self::Buffer, DeviceError>;

	/// Copies `values` to the device.
	fn upload(&self, values: &[f32]) -> Result<Self::Buffer, DeviceError>;

	/// Copies `values` to the device.
	fn upload_integers(&self, values: &[u32]) -> Result<Self::Buffer, DeviceError>;

	/// Returns the first `len` elements, after everything that was launched before is done.
	fn download(&self, buffer: &Self::Buffer, len: usize) -> Result<Vec<f32>, DeviceError>;

	/// Runs `kernel`, one of [`KERNELS`], in `blocks` blocks of `threads` threads. The arguments
	/// must be the kernel's parameters in type and number, and buffers as long as it reads and
	/// writes them.
	fn launch(
		&self,
		kernel: &'static str,
		blocks: u32,
		threads: u32,
		arguments: &[Arg<'_, Self::Buffer>],
	) -> Result<(), DeviceError>;
}

/// The kernels of `kernels/`.
pub const KERNELS: &[&str] = &[
	"activation",
	"activation_grad",
	"adam_step",
	"add_channel",
	"add_elements",
	"avg_pool",
	"avg_pool_grad",
	"causal_softmax",
	"causal_softmax_grad",
	"chain_link_128",
	"chain_link_32",
	"chain_link_64",
	"chain_link_whole",
	"chain_noise",
	"clip_factor",
	"conv_128",
	"conv_32",
	"conv_64",
	"conv_input_grad",
	"conv_weight_grad_128",
	"conv_weight_grad_32",
	"conv_weight_grad_64",
	"correct",
	"decay",
	"divide_elements",
	"dropout",
	"ema",
	"ema_square",
	"embedding",
	"embedding_grad",
	"fill",
	"find_nan",
	"functions",
	"hash_chunks",
	"hash_parents",
	"layer_norm",
	"layer_norm_grad",
	"layer_norm_products",
	"log_softmax",
	"matmul_nn_128",
	"matmul_nn_32",
	"matmul_nn_64",
	"matmul_nn_whole",
	"matmul_nt_128",
	"matmul_nt_32",
	"matmul_nt_64",
	"matmul_nt_whole",
	"matmul_tn_128",
	"matmul_tn_32",
	"matmul_tn_64",
	"matmul_tn_whole",
	"matmul_tt_128",
	"matmul_tt_32",
	"matmul_tt_64",
	"matmul_tt_whole",
	"max_pool",
	"max_pool_grad",
	"mul_add",
	"noise",
	"relu",
	"relu_grad",
	"rms_norm",
	"rms_norm_grad",
	"rms_norm_products",
	"row_loss",
	"row_loss_grad",
	"scale",
	"squared_loss",
	"squared_loss_grad",
	"sum_blocks",
	"sum_channel_blocks",
	"sum_column_blocks",
	"sum_parts",
	"swap_axes",
	"token_chain",
];
