// The kernels as a library of the host, by name.
#include "cuda.h"

#include "../trainyard.cu"

// Kernels of independent threads, and kernels whose threads meet at barriers.
#define ALONE(name) \
	if (std::strcmp(kernel, #name) == 0) return launch(name, false, blocks, threads, arguments);
#define TOGETHER(name) \
	if (std::strcmp(kernel, #name) == 0) return launch(name, true, blocks, threads, arguments);
#define TILES(name) TOGETHER(name##_128) TOGETHER(name##_64) TOGETHER(name##_32)

// Executes a kernel. `arguments` points to the arguments, as for `cuLaunchKernel`. 0: done, 1:
// there is no such kernel, 2: a barrier that only some threads reach.
extern "C" int trainyard_simulate(const char* kernel, unsigned blocks, unsigned threads,
	void** arguments) {
	ALONE(fill)
	ALONE(scale)
	ALONE(decay)
	ALONE(mul_add)
	ALONE(ema)
	ALONE(ema_square)
	ALONE(adam_step)
	ALONE(add_elements)
	ALONE(divide_elements)
	ALONE(add_channel)
	ALONE(relu)
	ALONE(relu_grad)
	ALONE(activation)
	ALONE(activation_grad)
	ALONE(swap_axes)
	ALONE(row_loss)
	ALONE(row_loss_grad)
	ALONE(correct)
	ALONE(squared_loss_grad)
	ALONE(clip_factor)
	ALONE(embedding)
	ALONE(token_chain)
	ALONE(embedding_grad)
	ALONE(find_nan)
	ALONE(functions)
	ALONE(conv_input_grad)
	ALONE(max_pool)
	ALONE(max_pool_grad)
	ALONE(avg_pool)
	ALONE(avg_pool_grad)
	ALONE(sum_parts)
	ALONE(dropout)
	ALONE(noise)
	ALONE(chain_noise)
	ALONE(hash_chunks)
	ALONE(hash_parents)
	TOGETHER(sum_blocks)
	TOGETHER(sum_channel_blocks)
	TOGETHER(sum_column_blocks)
	TOGETHER(log_softmax)
	TOGETHER(causal_softmax)
	TOGETHER(causal_softmax_grad)
	TOGETHER(layer_norm)
	TOGETHER(layer_norm_grad)
	TOGETHER(layer_norm_products)
	TOGETHER(rms_norm)
	TOGETHER(rms_norm_grad)
	TOGETHER(rms_norm_products)
	TOGETHER(squared_loss)
	TILES(chain_link)
	TOGETHER(chain_link_whole)
	TOGETHER(matmul_nn_whole)
	TOGETHER(matmul_nt_whole)
	TOGETHER(matmul_tn_whole)
	TOGETHER(matmul_tt_whole)
	TILES(matmul_nn)
	TILES(matmul_nt)
	TILES(matmul_tn)
	TILES(matmul_tt)
	TILES(conv)
	TILES(conv_weight_grad)
	return 1;
}
