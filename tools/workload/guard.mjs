// Sees to it that nothing is left behind if this program is killed so that it cannot clean up itself.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('guard.sh', import.meta.url));

/** A process that waits until this one has gone, and then ends what it was told of. */
export class Guard {
	constructor() {
		// Apart from this one, so that a signal to all of a terminal does not end it first.
		this.child = spawn('bash', [PROGRAM], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
		this.child.stdin.on('error', () => {});
		this.child.unref();
		this.child.stdin.unref?.();
	}

	#tell(...words) {
		this.child.stdin.write(`${words.join(' ')}\n`);
	}

	/** Namespaces whose names begin with this. */
	namespaces(prefix) {
		this.#tell('netns', prefix);
	}

	/** All processes that a fleet starts from now on. */
	watch(fleet) {
		const start = fleet.start.bind(fleet);
		fleet.start = (...args) => {
			const process = start(...args);
			this.#tell('process', process.pid);
			process.exited.then(() => this.#tell('gone', process.pid));
			return process;
		};
	}

	/** Everything is cleaned up: nothing is left to do. */
	async close() {
		this.#tell('done');
		this.child.stdin.end();
	}
}
