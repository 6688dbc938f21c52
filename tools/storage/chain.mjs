// A network of real nodes on which files are stored, and what its blocks say of them.

import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../end-to-end/lib/network.mjs';
import { LocalNetwork } from '../network/nodes.mjs';

export const MIB = 1_048_576;
/** Accounts with a balance in the preset. */
export const NAMES = ['//Alice', '//Bob', '//Charlie', '//Dave', '//Eve', '//Ferdie'];

/** Starts a network of `nodes` equal nodes, and waits until all know each other. */
export async function startNetwork({ folder, bin, slot, c, wan }, nodes, hold) {
	const network = new LocalNetwork({
		folder: join(folder, `${nodes}-nodes`),
		binary: join(bin, 'trainyard-node'),
		powers: new Array(nodes).fill(1),
		slot,
		c,
		epoch: 600,
		wan,
	});
	hold(network);
	await network.start();
	const alive = () => network.fleet.check();
	await until('all nodes know each other', 60, () => network.meshed(), alive);
	await until('a block is final', 120, () => network.record.height > 0, alive);
	return network;
}

/** Makes a file of random bytes, so that nothing of it is on chain already. */
export function randomFile(folder, name, bytes) {
	mkdirSync(folder, { recursive: true });
	const path = join(folder, name);
	writeFileSync(path, '');
	for (let at = 0; at < bytes; at += MIB) {
		writeFileSync(path, randomBytes(Math.min(MIB, bytes - at)), { flag: 'a' });
	}
	return path;
}

/** Files with the secret URIs of the accounts after the first. */
export function senderFiles(folder, senders) {
	return NAMES.slice(1, senders).map((suri) => {
		const path = join(folder, `key-${suri.slice(2)}`);
		writeFileSync(path, suri, { mode: 0o600 });
		return path;
	});
}

/** Arguments of `trainyard model put`. */
export function putArgs(network, path, { senders, window }) {
	const others = senderFiles(network.folder, senders);
	return [
		...['model', 'put', path, '--yes', '--json', '--suri', NAMES[0], '--node', urls(network)[0]],
		...(others.length ? ['--senders', ...others] : []),
		...(window ? ['--window', String(window)] : []),
	];
}

/** RPC addresses of all nodes. */
export const urls = (network) => network.running.map(({ url }) => url);

/** Runs the worker to its end; what it prints as JSON. */
export async function worker(network, { bin }, name, args, seconds = 3_600) {
	const { stdout } = await network.fleet.must(name, join(bin, 'trainyard'), args, { seconds });
	return JSON.parse(stdout);
}

/**
 * What the blocks of heights `from` to `to` hold of a file: of each its hash, the number and bytes of
 * chunks, and how long after the first node the last one had it, in ms.
 */
export async function blocksWith(network, api, root, chunkBytes, size, from, to) {
	const blocks = [];
	const times = new Map();
	for (let number = from; number <= to; number++) {
		const hash = await api.rpc.chain.getBlockHash(number);
		const events = await (await api.at(hash)).query.system.events();
		let chunks = 0;
		let bytes = 0;
		for (const { event } of events) {
			if (!api.events.modelStorage.ChunkStored.is(event) || event.data[0].toString() !== root) continue;
			const index = event.data[1].toNumber();
			times.set(index, (times.get(index) ?? 0) + 1);
			chunks++;
			bytes += Math.min(chunkBytes, size - index * chunkBytes);
		}
		const seen = network.record.blocks.get(hash.toString());
		const arrived = [...(seen?.arrived.values() ?? [])];
		const spread = arrived.length > 1 ? Math.max(...arrived) - Math.min(...arrived) : null;
		blocks.push({ number, hash: hash.toString(), chunks, bytes, spread });
	}
	return { blocks, times };
}

/** The value below which a share of the sorted values lies. */
export function quantile(values, share) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
}

/** What limits say of a block: bytes of ordinary transactions, and of all normal ones. */
export async function limits(api) {
	const { max } = api.consts.system.blockLength;
	return {
		ordinary: api.consts.modelStorage.ordinaryLength.toNumber(),
		normal: max.normal.toNumber(),
		whole: max.mandatory.toNumber(),
	};
}
