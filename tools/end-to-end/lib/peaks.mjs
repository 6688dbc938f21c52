// The most memory that processes take, with those that they start: of a daemon whose replays are processes of their
// own the sum of all that live at once. Read from /proc, so it needs Linux.

import { readFileSync, readdirSync } from 'node:fs';

/** Milliseconds between two looks. */
const PERIOD = 500;

/** Reads a line of /proc/PID/status in bytes; 0 where there is none. */
function resident(pid) {
	try {
		const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
		return Number(kib ?? 0) * 1_024;
	} catch {
		return 0;
	}
}

/** Each process of this machine with the one that started it. */
function parents() {
	const all = new Map();
	for (const entry of readdirSync('/proc')) {
		if (!/^\d+$/.test(entry)) continue;
		try {
			const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
			// The name is in parentheses and may hold anything.
			all.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
		} catch {
			// It has ended meanwhile.
		}
	}
	return all;
}

export class Peaks {
	#watched = new Map();
	#peaks = {};
	#timer = setInterval(() => this.#look(), PERIOD);

	/** Watches a process and all that it starts, under this name. */
	watch(name, pid) {
		this.#watched.set(pid, name);
		this.#peaks[name] = 0;
	}

	#look() {
		const above = parents();
		const sums = {};
		for (const pid of above.keys()) {
			for (let at = pid; at > 1; at = above.get(at) ?? 0) {
				const name = this.#watched.get(at);
				if (name === undefined) continue;
				sums[name] = (sums[name] ?? 0) + resident(pid);
				break;
			}
		}
		for (const [name, bytes] of Object.entries(sums)) this.#peaks[name] = Math.max(this.#peaks[name], bytes);
	}

	/** Ends, and returns the peaks in bytes by name. */
	stop() {
		clearInterval(this.#timer);
		return this.#peaks;
	}
}
