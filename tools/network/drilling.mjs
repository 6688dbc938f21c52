// Trainers that drill at different speeds: a driller beside each node, as its operator would run it,
// and a project whose units they compute.
//
// All of them share this machine, so a slower trainer is one that rests between units: it drills
// for its share of the time.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, until } from '../end-to-end/lib/network.mjs';
import { UserError, keyFromSuri, send } from '../../packages/polkadot-js/src/index.js';

/** Proposes the project; it has a balance in the preset and is no trainer. */
const OWNER = '//Ferdie';
/** They recompute what is drawn: nothing is credited unchecked, and newcomers are always drawn. */
const VERIFIERS = ['//Ferdie//one', '//Ferdie//two', '//Ferdie//three'];
/** What each of them is given: a hundred and fifty TRY, for the least bond and fees. */
const GIFT = 150_000_000_000_000n;
/** Blocks in which trainers vote on it. */
const REVIEW_BLOCKS = 5;
/** Light units, the least that is allowed and a little more: what counts here is that they come. */
const PROJECT = `title = "Matrix products on a local network"
units = 5000
replicas = 2
commit_blocks = 60

[chain]
size = 128
links = 150
`;
/** Seconds that a unit may take, with all its transactions. */
const UNIT_SECONDS = 600;

export class Drilling {
	#stopped = false;
	#loops = [];
	/** Units that each trainer has computed. */
	units = new Map();

	/** `speeds` maps names to speeds, relative to each other; `change` may change them. */
	constructor(network, binary, speeds) {
		if (!existsSync(binary)) throw new UserError(`${binary} is not there. Build it first: without --bin this does`);
		Object.assign(this, { network, binary, speeds: new Map(speeds) });
		this.fastest = Math.max(...speeds.values());
	}

	/** Gives a trainer another speed, at most that of the fastest one before; 0 stops it. */
	change(name, speed) {
		this.speeds.set(name, speed);
	}

	#worker(name, node, args, options) {
		return this.network.fleet.must(name, this.binary, [...args, '--node', node.url], options);
	}

	/** Proposes the project, lets all trainers vote for it, and starts to drill when it is active. */
	async start() {
		const { network } = this;
		const [first] = network.authorities;
		const api = await network.api(first.name);
		try {
			const ferdie = await keyFromSuri(OWNER);
			const gifts = await Promise.all(
				VERIFIERS.map(async (suri) => api.tx.balances.transferKeepAlive((await keyFromSuri(suri)).address, GIFT)),
			);
			await send(api, api.tx.utility.batchAll(gifts), ferdie);
			for (const [index, suri] of VERIFIERS.entries()) {
				const name = `verifier-${index + 1}`;
				const folder = join(network.folder, name);
				const args = ['verifier', '--suri', suri, '--dir', folder, '--bond', '100', '--node', first.url];
				network.fleet.start(name, this.binary, args);
			}
			const review = api.tx.parameters.setParameter({ Periods: { Review: [null, REVIEW_BLOCKS] } });
			await send(api, api.tx.sudo.sudo(review), await keyFromSuri('//Alice'));
			const file = join(network.folder, 'project.toml');
			writeFileSync(file, PROJECT);
			await this.#worker('project-propose', first, ['project', 'propose', file, '--suri', OWNER]);
			for (const { name, keys } of network.authorities) {
				await this.#worker(`project-vote-${name}`, first, ['project', 'vote', '0', '--aye', '--suri', keys.suri]);
			}
			await until('the project is active', 180, async () => {
				const { stdout } = await this.#worker('project-list', first, ['project', 'list', '--json']);
				return JSON.parse(stdout).some(({ state }) => state === 'active');
			});
		} finally {
			await api.disconnect();
		}
		this.#loops = network.authorities.map((node) => this.#drill(node));
	}

	/** Fails when a driller failed; otherwise resolves when all have been stopped. */
	async done() {
		await Promise.all(this.#loops);
	}

	async #drill({ name, keys, url }) {
		const { network } = this;
		const log = `driller-${name.toLowerCase()}`;
		const flags = ['--threads', '1', '--projects', '--no-stints', '--units', '1'];
		const args = ['driller', '--suri', keys.suri, '--dir', join(network.folder, log), ...flags];
		this.units.set(name, 0);
		while (!this.#stopped) {
			const share = this.speeds.get(name) / this.fastest;
			if (share === 0) {
				await sleep(500);
				continue;
			}
			const from = Date.now();
			const { status, stderr, stdout } = await network.fleet.run(log, this.binary, [...args, '--node', url], {
				seconds: UNIT_SECONDS,
			});
			if (this.#stopped) return;
			if (status !== 0)
				throw new Error(`the driller of ${name} failed with exit status ${status}:\n${stderr || stdout}`);
			this.units.set(name, this.units.get(name) + 1);
			const rest = (Date.now() - from) * (1 / share - 1);
			for (const end = Date.now() + rest; Date.now() < end && !this.#stopped;) {
				await sleep(Math.min(500, Math.max(1, end - Date.now())));
				// A driller that was asked to hurry rests no more.
				if (this.speeds.get(name) / this.fastest > share) break;
			}
		}
	}

	/** Lets no more units begin. */
	stop() {
		this.#stopped = true;
	}
}
