// Nodes that are started here: a network of ours, or of the plain template, with links as on a wide area.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultBin, until } from '../end-to-end/lib/network.mjs';
import { LocalNetwork } from '../network/nodes.mjs';
import { whyNoNamespaces } from '../network/namespaces.mjs';
import { OtherNetwork } from '../storage/other.mjs';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { trainers } from '../../packages/polkadot-js/src/index.js';

/** Transactions that a pool takes: some blocks of them. */
const POOL = ['--pool-limit', '65536', '--pool-kbytes', '131072'];
const ARCHIVE = ['--state-pruning', 'archive', '--blocks-pruning', 'archive'];
/** Who trains, who verifies, and who computes tasks. */
const [TRAINERS, VERIFIERS] = [
	['//Alice', '//Bob'],
	['//Charlie', '//Dave', '//Eve'],
];
/** What a worker puts at stake, in whole units of the currency. */
const BOND = ['--bond', '500'];
/** Workers take what processor the nodes leave. */
const AFTER_NODES = ['-n', '10'];

/** Adds the pool's size to what a node is started with. */
const withPool = (Base, more) =>
	class extends Base {
		define(name, options = {}) {
			return super.define(name, { ...options, args: [...(options.args ?? more), ...POOL] });
		}
	};
const Ours = withPool(LocalNetwork, ARCHIVE);
const Template = withPool(OtherNetwork, []);

/** Starts the network that the options name; `guard` ends its processes if this program is killed. */
export async function startNetwork({ nodes, template, slot, c, links, workers, bin }, { folder, guard, hold }) {
	if (links) {
		const why = whyNoNamespaces();
		if (why) throw new UserError(`--links: ${why}`);
	}
	const binary = join(bin ?? defaultBin(), template ? 'solochain-template-node' : 'trainyard-node');
	if (!existsSync(binary))
		throw new UserError(`there is no ${binary}: build it, or name the folder that has it by --bin`);
	const settings = { folder, binary, powers: new Array(nodes).fill(1), slot, epoch: 600, wan: links };
	const network = template ? new Template({ ...settings, base: 'dev' }) : new Ours({ ...settings, c });
	hold(network);
	if (network.namespaces) guard.namespaces(network.namespaces.prefix);
	guard.watch(network.fleet);
	await network.start();
	const alive = () => network.fleet.check();
	await until('all nodes know each other', 90, () => network.meshed(), alive);
	await until('a block is final', 180, () => network.record.height > 0, alive);
	if (workers) await startWorkers(network, join(bin ?? defaultBin(), 'trainyard'));
	return network;
}

/** Starts trainers, verifiers, and who computes tasks, and waits until they are known. */
async function startWorkers(network, worker) {
	if (!existsSync(worker)) throw new UserError(`there is no ${worker}, which --workers needs beside the node`);
	const urls = network.authorities.map(({ url }) => url);
	const start = (name, args, index) => {
		const at = ['--node', urls[index % urls.length], '--dir', join(network.folder, name)];
		network.fleet.start(name, 'nice', [...AFTER_NODES, worker, ...args, ...at]);
	};
	TRAINERS.forEach((suri, index) => {
		// Authorities are trainers from the genesis on.
		const known = network.authorities.some(({ name }) => suri === `//${name}`);
		start(`trainer-${index}`, ['trainer', '--suri', suri, ...(known ? [] : BOND)], index);
		start(`tasks-${index}`, ['task', 'work', '--suri', suri], index);
	});
	VERIFIERS.forEach((suri, index) => start(`verifier-${index}`, ['verifier', '--suri', suri, ...BOND], index));
	const api = await network.api(network.authorities[0].name);
	try {
		await until(
			'trainers and verifiers are registered',
			180,
			async () =>
				(await api.call.trainyardApi.verifiers()).length >= VERIFIERS.length &&
				(await trainers(api)).length >= TRAINERS.length,
			() => network.fleet.check(),
		);
	} finally {
		await api.disconnect();
	}
}
