// What a person sees of a run: the same look as the shell scripts.

const terminal = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (terminal ? `\x1b[${code}m${text}\x1b[0m` : text);
export const bold = paint('1');
export const dim = paint('2');
export const green = paint('32');
export const red = paint('31');

/** A line under the present step. */
export const note = (text) =>
	console.log(
		text
			.split('\n')
			.map((line) => `    ${line}`)
			.join('\n'),
	);

/** A command as one would type it. */
export const shell = (args) => args.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ');

/** Steps with their times. */
export class Steps {
	#started = Date.now();
	times = [];

	/** Runs `work`; a failure is reported with the name of the step. */
	async step(name, work) {
		console.log(bold(`==> ${name}`));
		const from = Date.now();
		try {
			const result = await work();
			const seconds = (Date.now() - from) / 1_000;
			this.times.push([name, seconds]);
			note(`${green('done')} ${dim(`in ${seconds.toFixed(1)} s`)}`);
			return result;
		} catch (error) {
			error.step ??= name;
			throw error;
		}
	}

	/** Seconds since the beginning. */
	get seconds() {
		return (Date.now() - this.#started) / 1_000;
	}
}

/** Prints why a run failed. */
export function tellFailure(error, { logs, hint } = {}) {
	console.error(`\n${red(bold(`FAILED: ${error.step ?? 'start'}`))}`);
	console.error(`  why:        ${(error.message ?? String(error)).replaceAll('\n', '\n              ')}`);
	if (hint) console.error(`  what to do: ${hint}`);
	if (logs) console.error(`  logs:       ${logs}`);
}
