// Streams whose unit is more than one transaction: a blob that is stored in chunks and read back, a job from its
// posting to its settlement, a task with its input.

import { u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';
import { jobFromFlags, toChain } from '../../packages/polkadot-js/src/spec.js';
import { cutBlob } from '../../packages/polkadot-js/src/hash.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { leastAuditFee, quote, storeBlob, taskSpec, taskTerms } from '../../packages/polkadot-js/src/index.js';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { serveFiles } from '../end-to-end/lib/net.mjs';
import { now } from './sender.mjs';

/** The phases of each kind, in their order. */
export const PHASES = {
	blob: ['registered', 'stored', 'final', 'read'],
	job: ['posted', 'assigned', 'trained', 'audited', 'ended'],
	task: ['input', 'posted', 'drawn', 'computed', 'shown', 'ended'],
};
/** Why a unit was not begun. */
export const NO_ACCOUNT = 'all accounts of the stream were busy';
/** Ms until a chunk that a node has not yet is asked for again, and until it is given up. */
const [AGAIN, PATIENCE] = [250, 30_000];
/** What the pool says of a chunk of a blob that the block it looks at has not. */
const UNKNOWN = /Custom error: 101$/;
/** What it says where it has kept one that it refused. */
const KEPT = /^1014|^1013/;
/** Ms between two looks at whether a chunk has arrived. */
const LOOK = 20;

/** Events that end a phase: of a job, and of a task. */
const EVENTS = {
	taskMarket: { Assigned: 'assigned', RevealsOpened: 'trained', AuditOpened: 'audited', JobEnded: 'ended' },
	tasks: { Drawn: 'drawn', RevealsBegan: 'computed', ChallengesBegan: 'shown', Ended: 'ended' },
};
const POSTED = { taskMarket: 'JobPosted', tasks: 'Posted' };
const OF = { taskMarket: 'job', tasks: 'task' };

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One unit of a stream. Times of its phases are ms of this machine's clock. */
export class Operation {
	constructor(stream, index, due) {
		Object.assign(this, { stream, index, due, begun: null, phases: {}, bytes: 0, id: null, ending: null });
		Object.assign(this, { error: null, unsent: null, over: false, chunks: 0 });
	}

	reached(phase, at) {
		this.phases[phase] ??= at;
	}
}

export class Operations {
	all = [];
	#ids = new Map();

	/**
	 * `submit(operation, account, call)` sends a transaction and returns its entry; `lines` are the connections;
	 * `cutter` as of blobs.mjs; `words` make contents differ from those of other workloads.
	 */
	constructor({ submit, lines, cutter, words }) {
		Object.assign(this, { submit, lines, cutter, words });
	}

	/** Begins a unit of a stream that is due at `due`. Resolves when it has ended, well or not. */
	async begin(stream, due) {
		stream.begun = (stream.begun ?? 0) + 1;
		const operation = new Operation(stream.name, stream.begun - 1, due);
		this.all.push(operation);
		const account = stream.members.find(({ busy }) => !busy);
		if (!account) {
			Object.assign(operation, { unsent: NO_ACCOUNT, over: true });
			return operation;
		}
		account.busy = true;
		operation.begun = now();
		try {
			await this[stream.kind](stream, operation, account);
		} catch (error) {
			operation.error = error.message;
		}
		// A job or a task that is to settle goes on in the events.
		operation.over = operation.error !== null || stream.kind === 'blob' || 'ended' in operation.phases;
		account.busy = false;
		if (!operation.over) {
			await new Promise((resolve) => (operation.end = resolve));
			operation.over = true;
		}
		return operation;
	}

	/** Stores bytes and returns when a best block has each of their chunks. */
	async #store(operation, account, blob) {
		await this.submit(operation, account, blob.register).when('included');
		operation.reached('registered', now());
		operation.chunks = blob.uploads.length;
		return Promise.all(blob.uploads.map((call) => this.#upload(operation, account, call)));
	}

	/**
	 * Sends a chunk, again where the pool does not know the blob yet, until a block has it. Returns its entry. A pool
	 * that looks at several blocks may say so by one of them, and keep the transaction by another.
	 */
	async #upload(operation, account, call) {
		const end = now() + PATIENCE;
		const tries = [this.submit(operation, account, call)];
		for (;;) {
			const there = tries.find(({ seen }) => seen !== null);
			if (there) return there;
			const { refused, unsent } = tries.at(-1);
			if (unsent ?? operation.error) throw new Error(unsent ?? operation.error);
			if (refused !== null) {
				if (!(UNKNOWN.test(refused) || (tries.length > 1 && KEPT.test(refused))) || now() > end)
					throw new Error(refused);
				await sleep(AGAIN);
				if (UNKNOWN.test(refused) && tries.every(({ seen }) => seen === null)) {
					tries.push(this.submit(operation, account, call));
				}
			} else {
				await sleep(LOOK);
			}
		}
	}

	async blob(stream, operation, account) {
		const blob = await this.cutter.cut(stream.bytes, [...this.words, stream.name, operation.index]);
		operation.bytes = blob.bytes.length;
		operation.begun = now();
		const entries = await this.#store(operation, account, blob);
		operation.reached('stored', Math.max(...entries.map(({ seen }) => seen)));
		const finals = Promise.all(entries.map((entry) => entry.when('final')));
		const reading = stream.read ? this.#read(operation, account, blob) : null;
		await finals;
		operation.reached('final', Math.max(...entries.map(({ final }) => final)));
		await reading;
	}

	/** Reads a blob back from the node after the one that it was sent to, and compares all bytes. */
	async #read(operation, account, { root, bytes, chunk, uploads }) {
		const line = this.lines[(account.line + 1) % this.lines.length];
		const begun = now();
		for (let index = 0; index < uploads.length; index++) {
			const wanted = bytes.subarray(index * chunk, (index + 1) * chunk);
			const end = now() + PATIENCE;
			for (;;) {
				const found = await line.rpc('trainyard_modelChunk', [root, index]).catch(() => null);
				if (found) {
					if (found !== `0x${Buffer.from(wanted).toString('hex')}`)
						throw new Error('a chunk came back with other bytes');
					break;
				}
				if (now() > end) throw new Error('a chunk could not be read back');
				await sleep(AGAIN);
			}
		}
		operation.readMs = now() - begun;
		operation.reached('read', now());
	}

	async job(stream, operation, account) {
		await this.#post(operation, account, stream.call);
	}

	async task(stream, operation, account) {
		let input = stream.shared;
		if (!input) {
			const blob = await this.cutter.cut(stream.input_bytes, [...this.words, stream.name, operation.index]);
			operation.begun = now();
			const entries = await this.#store(operation, account, blob);
			operation.reached('input', Math.max(...entries.map(({ seen }) => seen)));
			input = { bytes: blob.bytes.length, root: blob.root };
		}
		await this.#post(operation, account, stream.callWith(input));
	}

	async #post(operation, account, call) {
		const entry = this.submit(operation, account, call);
		await entry.when('included');
		operation.reached('posted', entry.seen);
		operation.posting = entry;
		await entry.when('final');
	}

	/** Works in what the events of a final block say; `at` is when the block was first seen, `entryAt(index)` its entries. */
	told(events, at, entryAt, streams) {
		for (const { index, pallet, name, data } of events) {
			const key = OF[pallet];
			if (!key) continue;
			if (name === POSTED[pallet]) {
				const operation = index === null ? null : entryAt(index)?.op;
				if (!operation) continue;
				operation.id = data[key];
				this.#ids.set(`${key} ${data[key]}`, operation);
				if (streams.get(operation.stream).until === 'posted') operation.end?.();
				continue;
			}
			const operation = this.#ids.get(`${key} ${data[key]}`);
			const phase = EVENTS[pallet][name];
			if (!operation || !phase) continue;
			operation.reached(phase, at);
			if (phase !== 'ended') continue;
			const ending = data.ending ?? data.end;
			operation.ending = typeof ending === 'string' ? ending : Object.keys(ending)[0];
			operation.end?.();
		}
	}

	/** A transaction of a unit failed on chain. */
	failed(operation, reason) {
		operation.error ??= reason;
		operation.end?.();
	}

	/** Gives up what has not ended: the time for that is over. */
	stop() {
		for (const operation of this.all) {
			if (operation.over) continue;
			operation.error ??= 'it had not ended when the run ended';
			operation.end?.();
		}
	}
}

/** Prepares the streams of jobs and tasks: their calls, and what all their units share. Returns what closes what was opened. */
export async function prepare({ api, key, streams, count }) {
	const closes = [];
	for (const stream of streams) {
		if (stream.kind === 'job') await prepareJob(api, key, stream, count(stream), closes);
		if (stream.kind === 'task') await prepareTask(api, key, stream);
	}
	return async () => {
		for (const close of closes) await close();
	};
}

async function prepareJob(api, key, stream, count, closes) {
	const flags = { job: stream.template, ...(stream.location ? { location: stream.location } : {}) };
	if (stream.data) {
		const server = await serveFiles([stream.data]);
		closes.push(server.close);
		Object.assign(flags, { data: stream.data, location: server.url(basename(stream.data)) });
	}
	const job = await jobFromFlags(flags);
	// Twice the least, which may rise while the load lasts; the chain takes up to four times that.
	if (job.terms.audit_fee === undefined) job.terms.audit_fee = `${2n * ((await leastAuditFee(api, job)) ?? 0n)}`;
	const cost = await quote(api, key, job);
	const each = Math.ceil(count / stream.accounts);
	const needed = BigInt(each) * (cost.escrow + cost.record);
	if (needed > stream.smallest) {
		throw new UserError(
			`stream "${stream.name}": a job holds ${cost.escrow + cost.record} of the smallest unit, and an account posts ` +
				`${each}, which is more than its funds of ${stream.funds}: raise funds or accounts`,
		);
	}
	const { spec, terms } = toChain(job);
	stream.call = api.tx.taskMarket.submitJob(spec, terms, 4n * cost.fee_per_ut).method.toU8a();
}

async function prepareTask(api, key, stream) {
	const module = new Uint8Array(readFileSync(stream.module));
	await storeBlob(api, key, module);
	const on = (bytes) => ({ bytes: bytes.length, root: u8aToHex(cutBlob(bytes).root) });
	if (stream.input) {
		const input = new Uint8Array(Buffer.from(stream.input, 'hex'));
		await storeBlob(api, key, input);
		stream.shared = on(input);
	}
	const form = stream.steps === null ? { map: stream.map, record: stream.record } : { steps: stream.steps };
	const limits = { fuel: stream.fuel, pages: stream.pages, state: stream.state };
	const reward = stream.smallestReward;
	const named = on(module);
	// Terms follow from the form and the limits, not from the bytes.
	const spec = taskSpec({ module: named, input: stream.shared ?? named, form, limits });
	const terms = await taskTerms(api, spec, {
		reward,
		replicas: stream.replicas,
		audit: Math.round(stream.audit * 1_000),
	});
	stream.callWith = (input) => api.tx.tasks.post({ ...spec, input }, terms).method.toU8a();
}
