/* A sweep over the parameters of an epidemic (the SIR model): what part of a population was ill at the worst time, and
 * what part ever was.
 *
 * The input is a struct sweep. Index i is row i / columns of the rates of infection and column i % columns of the rates
 * of recovery; its result is a struct result. Numbers are those of the machine: little endian, and doubles of IEEE 754. */

typedef unsigned int u32;
typedef unsigned long long u64;

struct sweep {
	double infection_from, infection_step; /* in a day */
	double recovery_from, recovery_step;   /* in a day */
	double infected;                       /* part of the population that is infected on day 0 */
	double dt;                             /* days of a step of the integration */
	u32 columns, steps;
};

struct result {
	double infection, recovery, peak, ever;
};

static struct sweep sweep;
static struct result result;

/* Returns where the host writes an input of so many bytes. */
__attribute__((export_name("input"))) void *input(u32 length) {
	if (length != sizeof sweep)
		__builtin_trap();
	return &sweep;
}

struct rates {
	double s, i;
};

/* How fast the parts that can be infected, and that are, change. */
static struct rates change(double beta, double gamma, double s, double i) {
	double infected = beta * s * i;
	return (struct rates){-infected, infected - gamma * i};
}

/* Returns the place of the result in the upper half and its length in the lower one. */
__attribute__((export_name("map"))) u64 map(u32 at, u32 length, u64 index) {
	(void)at, (void)length;
	if (sweep.columns == 0)
		__builtin_trap();
	double beta = sweep.infection_from + sweep.infection_step * (double)(index / sweep.columns);
	double gamma = sweep.recovery_from + sweep.recovery_step * (double)(index % sweep.columns);
	double s = 1 - sweep.infected, i = sweep.infected, h = sweep.dt, peak = i;
	for (u32 step = 0; step < sweep.steps; step++) {
		struct rates a = change(beta, gamma, s, i);
		struct rates b = change(beta, gamma, s + h / 2 * a.s, i + h / 2 * a.i);
		struct rates c = change(beta, gamma, s + h / 2 * b.s, i + h / 2 * b.i);
		struct rates d = change(beta, gamma, s + h * c.s, i + h * c.i);
		s += h / 6 * (a.s + 2 * b.s + 2 * c.s + d.s);
		i += h / 6 * (a.i + 2 * b.i + 2 * c.i + d.i);
		if (i > peak)
			peak = i;
	}
	result = (struct result){beta, gamma, peak, 1 - s};
	return (u64)(u32)&result << 32 | sizeof result;
}
