// What the kernels use of CUDA, in ordinary C++, so that tests can execute them without a GPU.
//
// Blocks run one after the other. The threads of a block that meet at barriers are contexts of
// their own, which take turns: each runs to its next barrier. A barrier that only some of the
// threads reach, undefined on a GPU, is an error here.
#pragma once
#include <cmath>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes)
#define __shared__ static thread_local

struct Index {
	unsigned x, y, z;
};
static thread_local Index threadIdx, blockIdx, blockDim, gridDim;

// Each is one operation of IEEE 754; this unit is compiled with -ffp-contract=off.
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __uint_as_float(unsigned bits) {
	float x;
	std::memcpy(&x, &bits, sizeof x);
	return x;
}
static inline unsigned __float_as_uint(float x) {
	unsigned bits;
	std::memcpy(&bits, &x, sizeof bits);
	return bits;
}

// The threads of a block that wait for each other.
struct Block {
	static constexpr size_t STACK = 1 << 17;
	ucontext_t scheduler;
	std::vector<ucontext_t> contexts;
	std::vector<std::unique_ptr<char[]>> stacks;
	std::vector<char> done;
	size_t running = 0;
	void (*body)(void*) = nullptr;
	void* argument = nullptr;
};
static thread_local Block block;
static thread_local bool together = false, barrier_alone = false;

static void __syncthreads() {
	if (!together) {
		barrier_alone = true;
		return;
	}
	swapcontext(&block.contexts[block.running], &block.scheduler);
}

static void enter() {
	block.body(block.argument);
	block.done[block.running] = 1;
	swapcontext(&block.contexts[block.running], &block.scheduler);
}

// Executes one block of `threads`; false where a barrier is reached by some only.
static bool run_block(unsigned threads, void (*body)(void*), void* argument) {
	block.body = body;
	block.argument = argument;
	block.done.assign(threads, 0);
	block.contexts.resize(threads);
	while (block.stacks.size() < threads) {
		block.stacks.emplace_back(new char[Block::STACK]);
	}
	for (unsigned t = 0; t < threads; t++) {
		ucontext_t& context = block.contexts[t];
		getcontext(&context);
		context.uc_stack.ss_sp = block.stacks[t].get();
		context.uc_stack.ss_size = Block::STACK;
		context.uc_link = nullptr;
		makecontext(&context, enter, 0);
	}
	// Forwards and backwards in turns, so that a barrier that is missing shows in both ways.
	unsigned ended = 0;
	for (bool forwards = true; ended == 0; forwards = !forwards) {
		for (unsigned i = 0; i < threads; i++) {
			unsigned t = forwards ? i : threads - 1 - i;
			block.running = t;
			threadIdx = {t, 0, 0};
			swapcontext(&block.scheduler, &block.contexts[t]);
			ended += block.done[t];
		}
		if (ended != 0 && ended != threads) return false;
	}
	return true;
}

// A kernel and its arguments.
template <class... Parameters>
struct Call {
	void (*kernel)(Parameters...);
	void** arguments;

	template <size_t... I>
	void unpack(std::index_sequence<I...>) const {
		kernel(*static_cast<Parameters*>(arguments[I])...);
	}
	void make() const { unpack(std::index_sequence_for<Parameters...>()); }
	static void of(void* call) { static_cast<const Call*>(call)->make(); }
};

// Executes `kernel` over a grid of one dimension. 0: done; 2: a barrier that only some threads
// reach.
template <class... Parameters>
static int launch(void (*kernel)(Parameters...), bool barriers, unsigned blocks, unsigned threads,
	void** arguments) {
	Call<Parameters...> call = {kernel, arguments};
	gridDim = {blocks, 1, 1};
	blockDim = {threads, 1, 1};
	together = barriers;
	barrier_alone = false;
	for (unsigned b = 0; b < blocks; b++) {
		blockIdx = {b, 0, 0};
		if (barriers) {
			if (!run_block(threads, Call<Parameters...>::of, &call)) return 2;
			continue;
		}
		for (unsigned t = 0; t < threads; t++) {
			threadIdx = {t, 0, 0};
			call.make();
		}
	}
	return barrier_alone ? 2 : 0;
}
