// A network of another node of the same SDK line: Aura and GRANDPA, pallet-balances, no files.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../end-to-end/lib/network.mjs';
import { LocalNetwork } from '../network/nodes.mjs';
import { address, describe, pair, ready } from '../node-bench/runtime.mjs';
import { httpRpc } from '../../packages/polkadot-js/src/chain.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { hexToU8a } from '../../packages/polkadot-js/src/polkadot.js';

/** What the account that sends has at genesis: more than any fees. */
const ENDOWMENT = 1e18;
/** Longest answer to a call, in ms: a busy node takes its time with a block of megabytes. */
const ANSWER = 120_000;

/** Authorities of another chain on this machine, driven as ours are. */
export class OtherNetwork extends LocalNetwork {
	/** `base`: what the node's `--chain` takes; of its genesis authorities and balances are changed. */
	constructor({ base, ...rest }) {
		super({ ...rest, c: [1, 1] });
		this.base = base;
	}

	async authority(name) {
		const { keystore, ...keys } = await super.authority(name);
		return { ...keys, keystore: { aura: keystore.babe, gran: keystore.gran } };
	}

	define(name, { args = [], ...rest } = {}) {
		const archive = ['--state-pruning', 'archive', '--blocks-pruning', 'archive'];
		return super.define(name, { ...rest, args: [...archive, '--database', 'paritydb', ...args] });
	}

	async specification(authorities) {
		const { stdout } = await this.fleet.must('export-base', this.binary, ['export-chain-spec', '--chain', this.base]);
		const spec = JSON.parse(stdout);
		const patch = spec.genesis?.runtimeGenesis?.patch;
		if (!patch?.aura || !patch.grandpa || !patch.balances) {
			throw new UserError(
				`--other-chain: ${this.base} is not a plain specification with a patch for aura, grandpa and balances`,
			);
		}
		await ready();
		patch.aura.authorities = authorities.map(({ session }) => session.babe);
		patch.grandpa.authorities = authorities.map(({ session }) => [session.grandpa, 1]);
		patch.balances.balances.push([address(pair(0)), ENDOWMENT]);
		const [plain, raw] = ['plain', 'raw'].map((form) => join(this.folder, `other-${form}.json`));
		writeFileSync(plain, JSON.stringify(spec));
		await this.fleet.must('export-raw', this.binary, [
			...['export-chain-spec', '--chain', plain, '--raw', '--output', raw],
		]);
		return raw;
	}
}

/** Starts a network of `nodes` equal nodes of the other chain, and waits until all know each other. */
export async function startOther({ folder, other, slot }, nodes, hold) {
	const network = new OtherNetwork({
		folder: join(folder, `${nodes}-others`),
		binary: other.binary,
		base: other.chain,
		powers: new Array(nodes).fill(1),
		slot,
		epoch: 600,
	});
	hold(network);
	await network.start();
	const alive = () => network.fleet.check();
	await until('all nodes of the other chain know each other', 60, () => network.meshed(), alive);
	await until('a block of the other chain is final', 120, () => network.record.height > 0, alive);
	const node = client(network, network.running[0]);
	const has = Number(new DataView((await node.ask('AuraApi_slot_duration', '0x')).buffer).getBigUint64(0, true));
	if (has !== slot) throw new UserError(`--other-chain: ${other.chain} has slots of ${has} ms, not of ${slot}`);
	return { network, node, description: await describe(node) };
}

/** Calls to a node. */
export function client(network, { name, url }) {
	const rpc = (method, params = []) => httpRpc(url, method, params, ANSWER);
	return {
		name,
		rpc,
		batch: (calls) => Promise.all(calls.map(([method, params]) => rpc(method, params))),
		/** What the runtime answers at a block, as bytes; at the best one where none is named. */
		ask: async (call, params, at) => hexToU8a(await rpc('state_call', at ? [call, params, at] : [call, params])),
	};
}
