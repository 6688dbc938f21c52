// A local development chain with its workers: the real binaries, on ports that are free.

import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as trainyard from '../../../packages/polkadot-js/src/index.js';
import { Fleet } from './fleet.mjs';
import { anyPort, portNear } from './net.mjs';

export { trainyard };

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The real data that comes with the repository. */
export const DIGITS = join(ROOT, 'ml-worker/examples/data/digits.csv');

/** Addresses of the development accounts, by name. */
export const ADDRESS = Object.fromEntries(
	Object.entries(trainyard.DEVELOPMENT_NAMES).map(([address, name]) => [name, address]),
);

/** Where the scripts build the binaries. */
export const defaultBin = () =>
	process.env.TRAINYARD_BIN ??
	join(process.env.CARGO_TARGET_DIR ?? join(homedir(), '.cache/trainyard-target'), 'release');

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks `probe` every 300 ms until it gives something; fails after `seconds`. */
export async function until(what, seconds, probe, alive = () => {}) {
	const end = Date.now() + seconds * 1_000;
	for (;;) {
		const found = await probe();
		if (found) return found;
		alive();
		if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`);
		await sleep(300);
	}
}

/** Workers take what processor nodes leave: a node that waits for one misses its slots. */
const AFTER_NODES = ['-n', '10'];

export class Network {
	/** `folder` takes chain, logs and the workers' files; `bin` holds the two binaries. */
	constructor({ folder, bin = defaultBin() }) {
		this.folder = folder;
		this.nodeBinary = join(bin, 'trainyard-node');
		this.workerBinary = join(bin, 'trainyard');
		for (const binary of [this.nodeBinary, this.workerBinary]) {
			if (!existsSync(binary)) {
				throw new Error(`${binary} is not there. Build it first: ./scripts/demo or ./scripts/test does`);
			}
		}
		mkdirSync(folder, { recursive: true });
		this.fleet = new Fleet(join(folder, 'logs'));
	}

	/** Starts the node of the development chain, with `flags` beside its own; resolves when it makes blocks. */
	async startNode({ rpcPort, flags = [] } = {}) {
		this.rpcPort ??= rpcPort ?? (await portNear(9944));
		this.p2pPort ??= await anyPort();
		this.url = `ws://127.0.0.1:${this.rpcPort}`;
		this.node = this.fleet.start('node', this.nodeBinary, [
			'--dev',
			'--base-path',
			join(this.folder, 'chain'),
			'--rpc-port',
			String(this.rpcPort),
			'--port',
			String(this.p2pPort),
			'--no-prometheus',
			'--no-telemetry',
			'--no-mdns',
			// polkadot.js Apps is a page of another origin.
			'--rpc-cors',
			'all',
			...flags,
		]);
		await until(
			'the node makes a block',
			180,
			() =>
				trainyard.httpRpc(this.url, 'chain_getHeader').then(
					(header) => Number(header.number) > 0,
					() => false,
				),
			() => this.fleet.check(),
		);
		return this.node;
	}

	/** Connects polkadot.js. */
	async connect() {
		this.api ??= await trainyard.connect(this.url);
		return this.api;
	}

	/**
	 * Starts a worker in a long-running role as the development account `suri`. `flags` may name
	 * another way to the node, and `env` has variables of the environment, such as a proxy.
	 */
	startWorker(role, suri, flags = [], name = `${role}-${suri.replace(/\W/g, '').toLowerCase()}`, env = {}) {
		const folder = join(this.folder, name);
		const node = flags.includes('--node') ? [] : ['--node', this.url];
		const command = [this.workerBinary, role, ...node, '--suri', suri, '--dir', folder, ...flags];
		return this.fleet.start(name, 'nice', [...AFTER_NODES, ...command], { env });
	}

	/** Runs a command of the worker to its end. */
	worker(name, args, options) {
		return this.fleet.run(name, this.workerBinary, args, options);
	}

	/** Runs a command of the polkadot.js package as its own process. */
	script(name, command, args, options) {
		return this.fleet.must(
			name,
			process.execPath,
			[join(ROOT, `packages/polkadot-js/bin/${command}.js`), '--node', this.url, ...args],
			options,
		);
	}

	/** The job as the chain returns it, or null. */
	job = (id) => trainyard.job(this.api, id);

	/** Waits until job `id` has ended; `watch` sees it at each look. */
	ended(id, seconds = 150, watch = () => {}) {
		return until(
			`job ${id} ends`,
			seconds,
			async () => {
				const job = await this.job(id);
				watch(job);
				return job && trainyard.ending(job) !== null && job;
			},
			() => this.fleet.check(),
		);
	}

	/** Waits until these accounts are registered as verifiers. */
	verifiersReady(accounts, seconds = 60) {
		return until(
			`${accounts.length} verifiers are registered`,
			seconds,
			async () => {
				const all = await this.api.call.trainyardApi.verifiers();
				const known = new Set(all.map(([account]) => account.toString()));
				return accounts.every((account) => known.has(ADDRESS[account]));
			},
			() => this.fleet.check(),
		);
	}

	/** Waits until these accounts are registered as trainers. */
	trainersReady(accounts, seconds = 60) {
		return until(
			`${accounts.join(', ')} registered as trainer`,
			seconds,
			async () => {
				const known = new Set((await trainyard.trainers(this.api)).map(({ account }) => account));
				return accounts.every((account) => known.has(ADDRESS[account]));
			},
			() => this.fleet.check(),
		);
	}

	/** Stops everything. */
	async stop() {
		await this.api?.disconnect().catch(() => {});
		await this.fleet.stop();
	}
}
