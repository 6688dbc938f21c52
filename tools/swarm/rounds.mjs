// One session of peers in namespaces, over links of one kind.
//
// This program is in the place of the chain: it says which updates of a round count, once more than half of the
// peers that live have said what they have: all of that. So one peer that waits for longer than others holds
// nobody up, and one that waits for less leaves nobody out. It kills nobody: a peer is told in which round it dies,
// and does so in the middle of sending. It is started again at once.

import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Namespaces } from '../network/namespaces.mjs';

/** The port of every peer, each in its own namespace. */
const PORT = 4_600;
/** Seconds for which updates are waited for at first: so many times what their bytes take, and 3 more. */
const PATIENCE = 4;

/** A generator of numbers from 0 to 1: mulberry32. */
function drawn(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/**
 * Draws who is killed in which round, and after which part of its sending: `share` of all peers in all rounds but
 * the first, to the nearest whole number.
 */
export function deaths({ share, peers, rounds, seed }) {
	const draw = drawn(seed);
	const all = Array.from({ length: peers * (rounds - 1) }, (_, at) => ({
		peer: at % peers,
		round: 1 + Math.floor(at / peers),
		order: draw(),
		part: 0.05 + 0.9 * draw(),
	}));
	all.sort((a, b) => a.order - b.order);
	return all.slice(0, Math.round(share * all.length)).map(({ peer, round, part }) => ({ peer, round, part }));
}

/** Which updates of a round count, of what peers say that they have; null as long as that cannot be said. */
export function counting(reports, living) {
	if (living.size === 0) return [];
	if (reports.size * 2 <= living.size) return null;
	const had = new Set([...reports.values()].flat());
	return [...had].sort((a, b) => a - b);
}

class Session {
	#peers = [];
	#counted = [];
	#reports = [];
	#done = [];
	#fail = null;

	constructor(terms) {
		this.terms = terms;
		this.namespaces = new Namespaces({ mbit: terms.mbit, wan: terms.wan });
		this.folder = join(terms.folder, 'session');
		// The first failure ends all of it.
		this.failed = new Promise((_, reject) => (this.#fail = reject));
		this.failed.catch(() => {});
	}

	/** Plays all rounds. */
	async play() {
		const { peers, rounds } = this.terms;
		for (let number = 0; number < peers; number++) {
			const folder = join(this.folder, String(number));
			mkdirSync(folder, { recursive: true });
			this.#peers.push({
				number,
				folder,
				joins: 0,
				next: 0,
				location: null,
				begun: false,
				killed: 0,
				...this.namespaces.join(String(number)),
			});
		}
		await Promise.race([this.namespaces.open(), this.failed]);
		const started = this.#peers.map((peer) => this.#start(peer));
		await Promise.race([Promise.all(started), this.failed]);
		const before = this.#peers.map(({ space }) => this.namespaces.sent(space));
		for (const peer of this.#peers) this.#begin(peer);
		await Promise.race([new Promise((ends) => (this.end = ends)), this.failed]);
		const wire = this.#peers.map(({ space }, at) => this.namespaces.sent(space) - before[at]);
		await Promise.race([Promise.all(this.#peers.map((peer) => this.#finish(peer))), this.failed]);
		const all = this.#done.slice(1).flatMap((round) => [...round.values()]);
		return {
			rounds,
			wire: wire.reduce((sum, bytes) => sum + bytes, 0) / peers / rounds,
			// From the end of the first round, in which connections are made.
			wall: (this.#ended(rounds - 1) - this.#ended(0)) / 1e3,
			counted: this.#counted.slice(1).reduce((sum, counted) => sum + counted.length, 0),
			killed: this.#peers.reduce((sum, peer) => sum + peer.killed, 0),
			hashes: this.#done.map((round) => [...round.values()].map(({ done }) => done)),
			times: all.filter(({ took_part }) => took_part),
		};
	}

	/** When the last one of those that took part in a round ended it. */
	#ended(round) {
		const took = [...this.#done[round].values()];
		return Math.max(
			...(took.some((one) => one.took_part) ? took.filter((one) => one.took_part) : took).map((one) => one.at),
		);
	}

	/** Starts the process of a peer, and returns when it is there. */
	#start(peer) {
		const { bin, updates, peers, rounds, movement, seconds, bytes, mbit, dying } = this.terms;
		const dies = dying.filter((death) => death.peer === peer.number).map(({ round, part }) => `${round}:${part}`);
		const patience = 3 + (PATIENCE * bytes * (peers - 1) * 8) / (mbit * 1e6);
		const args = {
			'links-peer': peer.number,
			updates,
			trainers: peers,
			rounds,
			movement,
			folder: peer.folder,
			listen: `${peer.peerAddress}:${PORT}`,
			seconds,
			waits: patience,
			...(dies.length ? { dies: dies.join(',') } : {}),
		};
		const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
		peer.process = spawn('ip', ['netns', 'exec', peer.space, bin, ...flags], { stdio: ['pipe', 'pipe', 'pipe'] });
		peer.complaint = '';
		peer.process.stderr
			.setEncoding('utf8')
			.on('data', (said) => (peer.complaint = (peer.complaint + said).slice(-4_000)));
		// Who is killed reads nothing more.
		peer.process.stdin.on('error', () => {});
		peer.process.on('error', (error) => this.#fail(error));
		const { process } = peer;
		return new Promise((here) => {
			createInterface({ input: process.stdout }).on('line', (line) => {
				const said = JSON.parse(line);
				if (said.here === undefined) return this.#heard(peer, said);
				peer.location = said.here;
				peer.next = said.round;
				here();
			});
			peer.exited = new Promise((exited) =>
				process.on('exit', (code, signal) => {
					exited(code);
					if (code !== 0) this.#died(peer, code, signal);
				}),
			);
		});
	}

	#say(peer, what) {
		peer.process.stdin.write(`${JSON.stringify(what)}\n`);
	}

	/** Tells a peer where all are, and what it missed. */
	#begin(peer) {
		peer.begun = true;
		this.#say(peer, { peers: this.#peers.map(({ location }) => location), round: peer.joins });
		this.#counted.forEach((counted, round) => {
			if (round >= peer.next) this.#say(peer, { counted, round });
		});
	}

	#heard(peer, said) {
		const { round } = said;
		if (said.has) {
			(this.#reports[round] ??= new Map()).set(peer.number, said.has);
			this.#count(round);
			return;
		}
		(this.#done[round] ??= new Map()).set(peer.number, { ...said, at: performance.now() });
		peer.next = round + 1;
		if (this.#peers.every(({ next }) => next >= this.terms.rounds)) this.end();
	}

	/** Says which updates of a round count, if that can be said. */
	#count(round) {
		if (this.#counted[round]) return;
		const living = new Set(this.#peers.filter(({ joins }) => joins <= round).map(({ number }) => number));
		const counted = counting(this.#reports[round] ?? new Map(), living);
		if (!counted) return;
		this.#counted[round] = counted;
		for (const peer of this.#peers) if (peer.begun) this.#say(peer, { counted, round });
	}

	/** Starts a peer again that was killed as it was told. */
	#died(peer, code, signal) {
		const planned = this.terms.dying.some(({ peer: of, round }) => of === peer.number && round === peer.next);
		// `ip netns exec` is replaced by the program, so the signal is the program's.
		if (!planned || signal !== 'SIGABRT') {
			const how = `peer ${peer.number} ended in round ${peer.next} (${signal ?? `exit code ${code}`})`;
			return this.#fail(new Error(`${how}: ${peer.complaint.trim()}`));
		}
		const round = peer.next;
		peer.killed++;
		peer.joins = round + 1;
		peer.begun = false;
		this.#count(round);
		this.#start(peer).then(() => this.#begin(peer));
	}

	#finish(peer) {
		peer.process.stdin.end();
		return peer.exited;
	}

	/** Ends what is left of it. */
	close() {
		for (const { process } of this.#peers) process?.kill('SIGKILL');
		this.namespaces.close();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** Plays one session, and returns what came of it. */
export async function play(terms) {
	const session = new Session(terms);
	// Also where this program is stopped: namespaces would stay.
	const close = () => session.close();
	process.once('exit', close);
	try {
		return await session.play();
	} finally {
		process.off('exit', close);
		close();
	}
}
