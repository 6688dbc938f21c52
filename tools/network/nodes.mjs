// N real nodes on this machine that make one network, each with its own base path, ports and keys.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fleet } from '../end-to-end/lib/fleet.mjs';
import { anyPort } from '../end-to-end/lib/net.mjs';
import { until } from '../end-to-end/lib/network.mjs';
import { connect, httpRpc } from '../../packages/polkadot-js/src/chain.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';
import { authority, nameOf, networkIdentity } from './accounts.mjs';
import { Namespaces } from './namespaces.mjs';
import { writeSpec } from './spec.mjs';
import { Watch, answers } from './watch.mjs';

/** Ports inside a namespace, where they are always free. */
const PEER_PORT = 30333;
const RPC_PORT = 9944;
/** Nodes keep all states, so that what they say can be checked afterwards. */
const ARCHIVE = ['--state-pruning', 'archive', '--blocks-pruning', 'archive'];
/** How long a node may take until it answers. */
const START_SECONDS = 90;
/** Power of one part, in micro-ut a day: 1,000 ut. */
export const PART = 1_000_000_000;

const hex = (text) => Buffer.from(text).toString('hex');

export class LocalNetwork {
	/** All nodes by name; `process` is null where one is stopped. */
	nodes = new Map();

	/**
	 * `powers`: one for each authority; `slot` in ms, `c` as [numerator, denominator],
	 * `epoch` in slots, `halfLife` in ms or undefined; `earned`: whether weight comes from work alone,
	 * and not from `powers`; `namespaces`: whether links can be cut; `wan`: what the links between nodes
	 * are like, in namespaces too, see `Namespaces`.
	 */
	constructor({ folder, binary, powers, slot, c, epoch, halfLife, earned = false, namespaces = false, wan = null }) {
		if (!existsSync(binary)) {
			throw new UserError(`${binary} is not there. Build it first: without --bin this does`);
		}
		Object.assign(this, { folder, binary, powers, slot, c, epoch, halfLife, earned });
		mkdirSync(folder, { recursive: true });
		this.fleet = new Fleet(join(folder, 'logs'));
		this.watch = new Watch({ epoch });
		this.namespaces = namespaces || wan ? new Namespaces({ wan }) : null;
	}

	get record() {
		return this.watch.record;
	}

	/** Nodes that run. */
	get running() {
		return [...this.nodes.values()].filter(({ process }) => process?.alive);
	}

	/** The nodes of the authorities, in the order of `powers`. */
	get authorities() {
		return [...this.nodes.values()].filter(({ name, keys }) => keys?.name === name);
	}

	/** Name of the authority with this BABE key. */
	nameOfKey(babe) {
		return this.authorities.find(({ keys }) => keys.babe === babe)?.name ?? babe.slice(0, 10);
	}

	/** Writes the genesis, starts all authorities, and waits until the chain has a block. */
	async start() {
		const authorities = [];
		for (const [index, power] of this.powers.entries()) {
			const keys = await this.authority(nameOf(index));
			authorities.push({ ...keys, power: Math.round(power * PART) });
			await this.define(keys.name, { keys });
		}
		await this.namespaces?.open();
		this.chain = await this.specification(authorities);
		await Promise.all([...this.nodes.keys()].map((name) => this.startNode(name)));
		await until(
			'the network makes a block',
			60 + (20 * this.slot * this.c[1]) / this.c[0] / 1_000,
			() => this.record.best > 0,
			() => this.fleet.check(),
		);
	}

	/** Account and session keys of the authority with this name. */
	authority(name) {
		return authority(name);
	}

	/** Writes the specification of a chain of these authorities; resolves to its path. */
	specification(authorities) {
		return writeSpec(this.fleet, this.binary, this.folder, { ...this, authorities });
	}

	/**
	 * Prepares a node; `keys` (of an authority) make it one. `args` are further arguments of its
	 * command line, kept for every start.
	 */
	async define(name, { keys = null, args = ARCHIVE } = {}) {
		const node = { name, keys, args, process: null, base: join(this.folder, 'nodes', name.toLowerCase()) };
		Object.assign(node, await networkIdentity(name));
		if (this.namespaces) {
			Object.assign(node, this.namespaces.join(name), { peerPort: PEER_PORT, rpcPort: RPC_PORT });
		} else {
			Object.assign(node, { peerAddress: '127.0.0.1', hostAddress: '127.0.0.1' });
			Object.assign(node, { peerPort: await anyPort(), rpcPort: await anyPort() });
		}
		node.address = `/ip4/${node.peerAddress}/tcp/${node.peerPort}`;
		node.url = `ws://${node.hostAddress}:${node.rpcPort}`;
		node.keystore = join(node.base, 'keystore');
		mkdirSync(node.keystore, { recursive: true });
		// The keystore's form: a file for each key, named by its type and public key.
		for (const [type, key] of Object.entries(keys?.keystore ?? {})) {
			writeFileSync(join(node.keystore, `${hex(type)}${u8aToHex(key).slice(2)}`), JSON.stringify(keys.suri), {
				mode: 0o600,
			});
		}
		this.nodes.set(name, node);
		return node;
	}

	/** Starts a node that does not run, and watches it once it answers. */
	async startNode(name, { env = {}, watch = true } = {}) {
		const node = this.nodes.get(name);
		const others = this.authorities.filter((other) => other !== node);
		const args = [
			...['--chain', this.chain, '--base-path', node.base, '--keystore-path', node.keystore],
			...['--name', name, '--node-key', node.secret],
			...['--listen-addr', node.address, '--rpc-port', String(node.rpcPort)],
			...(this.namespaces ? ['--unsafe-rpc-external'] : []),
			...['--rpc-cors', 'all', '--rpc-methods', 'unsafe'],
			...['--no-prometheus', '--no-telemetry', '--no-mdns', '--allow-private-ip'],
			...(node.keys ? ['--validator'] : []),
			// Reserved: whoever lost another tries again at once.
			...others.flatMap((other) => ['--reserved-nodes', `${other.address}/p2p/${other.peer}`]),
			...node.args,
		];
		const command = this.namespaces ? ['ip', 'netns', 'exec', node.space, this.binary] : [this.binary];
		node.process = this.fleet.start(`node-${name.toLowerCase()}`, command[0], [...command.slice(1), ...args], { env });
		await until(
			`node ${name} answers at ${node.url}`,
			START_SECONDS,
			() => answers(node.url),
			() => {
				if (!node.process.alive) throw new Error(node.process.obituary('before it answered'));
			},
		);
		if (watch) await this.watch.add(name, node.url);
		return node;
	}

	/** Ends a node at once, as a power cut would. */
	async kill(name) {
		const { process } = this.nodes.get(name);
		this.watch.remove(name);
		await process.kill();
	}

	/** Stops a node in order. */
	async stopNode(name) {
		const { process } = this.nodes.get(name);
		this.watch.remove(name);
		await process.stop();
	}

	/** Removes the database of a node that does not run; keys stay. */
	forget(name) {
		rmSync(join(this.nodes.get(name).base, 'chains'), { recursive: true, force: true });
	}

	/** A JSON-RPC call to a node. */
	rpc(name, method, params = []) {
		return httpRpc(this.nodes.get(name).url, method, params, 20_000);
	}

	/** polkadot.js, connected to a node; the caller disconnects it. */
	api(name) {
		return connect(this.nodes.get(name).url);
	}

	/** Height and hash of a node's best and highest final block, asked now. */
	async heads(name) {
		const [best, finalHash] = await Promise.all([
			this.rpc(name, 'chain_getHeader'),
			this.rpc(name, 'chain_getFinalizedHead'),
		]);
		const final = await this.rpc(name, 'chain_getHeader', [finalHash]);
		return { best: Number(best.number), final: Number(final.number), finalHash };
	}

	/** Number of peers of a node. */
	async peers(name) {
		return (await this.rpc(name, 'system_health')).peers;
	}

	/** Whether every running node has all other running nodes as peers. */
	async meshed() {
		const running = this.running;
		const peers = await Promise.all(running.map(({ name }) => this.peers(name).catch(() => 0)));
		return peers.every((count) => count >= running.length - 1);
	}

	/** The slot that the clock shows. */
	get slotNow() {
		return Math.floor(Date.now() / this.slot);
	}

	/** Stops everything and removes the namespaces. */
	async stop() {
		this.watch.close();
		await this.fleet.stop();
		this.namespaces?.close();
	}
}
