// Strict arithmetic on a GPU: the operations of docs/strict-arithmetic.md, each rounded once.
//
// Every addition, multiplication, division, root and fused multiply-add goes through these
// functions, whose intrinsics the compiler neither fuses, splits, reorders nor approximates.
#pragma once

typedef float f32;
typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __device__ __forceinline__
#define KERNEL extern "C" __global__ void

DEVICE f32 add(f32 a, f32 b) { return __fadd_rn(a, b); }
DEVICE f32 sub(f32 a, f32 b) { return __fsub_rn(a, b); }
DEVICE f32 mul(f32 a, f32 b) { return __fmul_rn(a, b); }
DEVICE f32 divide(f32 a, f32 b) { return __fdiv_rn(a, b); }
DEVICE f32 root(f32 x) { return __fsqrt_rn(x); }
DEVICE f32 fused(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }

// The binary32 with these bits, and back.
DEVICE f32 number(u32 bits) { return __uint_as_float(bits); }
DEVICE u32 bits(f32 x) { return __float_as_uint(x); }
// The sign bit cleared, and flipped.
DEVICE f32 magnitude(f32 x) { return number(bits(x) & 0x7FFFFFFFu); }
DEVICE f32 negated(f32 x) { return number(bits(x) ^ 0x80000000u); }

// Four numbers from and to a place of 16 bytes' alignment, in one access where there is one.
DEVICE void load_four(f32 x[4], const f32* from) {
#ifdef __CUDACC__
	float4 four = *(const float4*)from;
	x[0] = four.x;
	x[1] = four.y;
	x[2] = four.z;
	x[3] = four.w;
#else
	for (u32 i = 0; i < 4; i++) x[i] = from[i];
#endif
}
DEVICE void store_four(f32* out, const f32 x[4]) {
#ifdef __CUDACC__
	*(float4*)out = make_float4(x[0], x[1], x[2], x[3]);
#else
	for (u32 i = 0; i < 4; i++) out[i] = x[i];
#endif
}

// Number of this thread among all of the launch, and how many there are.
DEVICE u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

// One thread for each of `n` outputs; where there are more outputs than threads, a thread takes
// several in turn.
#define EACH(i, n) for (u64 i = thread_number(); i < (n); i += thread_count())

// Terms of a dot product that form one chain of fused multiply-adds.
#define DOT_BLOCK 512u
// Terms of a sum that form one block, and its partial sums.
#define SUM_BLOCK 1024u
#define LANES 16u

// A hyper-parameter, or the only element of a tensor.
DEVICE f32 factor_of(f32 value, const f32* tensor, u32 from_tensor) {
	return from_tensor ? tensor[0] : value;
}
