// A linear congruential generator, stepped as often as the input says: a task whose result has a formula.
//
// The input is two numbers of 8 bytes, little endian: where it begins, and how often it is stepped. A step of the task
// returns where it ended, and the same number of steps.

typedef unsigned long long u64;
typedef unsigned int u32;

static u64 state[2];

__attribute__((export_name("input"))) u32 input(u32 length) {
	if (length != sizeof state) __builtin_trap();
	return (u32)state;
}

__attribute__((export_name("step"))) u64 step(u32 at, u32 length) {
	(void)length;
	u64 x = state[0];
	for (u64 n = state[1]; n > 0; n--) x = x * 6364136223846793005ull + 1442695040888963407ull;
	state[0] = x;
	return (u64)at << 32 | sizeof state;
}
