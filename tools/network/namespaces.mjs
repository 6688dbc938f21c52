// Links that can be cut: each node in a network namespace of its own, all joined by bridges in
// another. Linux, as root, with iproute2.
//
// A node has two links: `peer` to the bridge, by which nodes meet, and `host` to this machine,
// by which only JSON-RPC is asked. There is no route from one to the other.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';

const WAN = fileURLToPath(new URL('wan.py', import.meta.url));

const ip = (...args) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

/** Why namespaces cannot be had here, or null where they can. */
export function whyNoNamespaces() {
	if (process.platform !== 'linux') return 'network namespaces are Linux';
	if (process.getuid() !== 0) return 'network namespaces need root';
	const name = `ty${process.pid}-try`;
	try {
		ip('netns', 'add', name);
	} catch (error) {
		return error.code === 'ENOENT' ? 'the command ip is not there (Debian: iproute2)' : `ip netns: ${said(error)}`;
	}
	try {
		ip('-n', name, 'link', 'add', 'name', 'left', 'type', 'bridge');
		ip('-n', name, 'link', 'add', 'name', 'one', 'type', 'veth', 'peer', 'name', 'two');
		return null;
	} catch (error) {
		return `this kernel makes no bridge or veth: ${said(error)}`;
	} finally {
		ip('netns', 'del', name);
	}
}

/** Bounds what leaves by a link, with a queue of at most 200 ms. */
const tc = (space, link, mbit) =>
	execFileSync(
		'tc',
		[
			'-n',
			space,
			'qdisc',
			'add',
			'dev',
			link,
			'root',
			'tbf',
			'rate',
			`${mbit}mbit`,
			'burst',
			'128kb',
			'latency',
			'200ms',
		],
		{ stdio: ['ignore', 'pipe', 'pipe'] },
	);

const said = (error) => String(error.stderr || error.message).trim();

/**
 * The namespaces of one network; `close()` removes them. `wan` makes the links between nodes those of a
 * wide-area network: `delay` and `jitter` of one way in ms, `loss` in per cent, `mbit` that a node sends.
 * `mbit` beside it bounds both what a node sends and what it receives.
 */
export class Namespaces {
	#made = [];
	#names = new Map();
	#links = [];
	#relay = null;

	constructor({ wan = null, mbit = null } = {}) {
		this.wan = wan;
		this.mbit = mbit;
		this.prefix = `ty${process.pid % 100_000}`;
		this.switch = `${this.prefix}-sw`;
		const taken = new Set(
			Object.values(networkInterfaces())
				.flat()
				.map(({ address }) => address.split('.').slice(0, 2).join('.')),
		);
		const free = Array.from({ length: 100 }, (_, index) => `10.${100 + ((process.pid + index) % 100)}`);
		this.subnet = free.find((net) => !taken.has(net));
		if (!this.subnet) throw new Error('all of 10.100.0.0 to 10.199.0.0 are in use on this machine');
		try {
			this.#add(this.switch);
			for (const side of ['left', 'right']) {
				ip('-n', this.switch, 'link', 'add', 'name', side, 'type', 'bridge');
				ip('-n', this.switch, 'link', 'set', side, 'up');
			}
		} catch (error) {
			this.close();
			throw error;
		}
	}

	#add(name) {
		ip('netns', 'add', name);
		this.#made.push(name);
		ip('-n', name, 'link', 'set', 'lo', 'up');
	}

	/** A namespace for the node `name`, on the left bridge. Returns its addresses. */
	join(name) {
		const number = this.#names.size + 1;
		const space = `${this.prefix}-${number}`;
		const [peer, host] = [`${this.prefix}p${number}`, `${this.prefix}h${number}`];
		this.#add(space);
		ip('-n', this.switch, 'link', 'add', 'name', peer, 'type', 'veth', 'peer', 'name', 'peer', 'netns', space);
		const port = this.wan ? this.#far(peer, number) : peer;
		ip('-n', this.switch, 'link', 'set', port, 'master', 'left', 'up');
		ip('-n', space, 'addr', 'add', `${this.subnet}.0.${number}/24`, 'dev', 'peer');
		ip('-n', space, 'link', 'set', 'peer', 'up');
		ip('link', 'add', 'name', host, 'type', 'veth', 'peer', 'name', 'host', 'netns', space);
		ip('addr', 'add', `${this.subnet}.${number}.1/30`, 'dev', host);
		ip('link', 'set', host, 'up');
		ip('-n', space, 'addr', 'add', `${this.subnet}.${number}.2/30`, 'dev', 'host');
		ip('-n', space, 'link', 'set', 'host', 'up');
		if (this.mbit) {
			tc(space, 'peer', this.mbit);
			tc(this.switch, peer, this.mbit);
		} else if (this.wan?.mbit) tc(space, 'peer', this.wan.mbit);
		this.#names.set(name, port);
		return { space, peerAddress: `${this.subnet}.0.${number}`, hostAddress: `${this.subnet}.${number}.2` };
	}

	/** A link from the node's own to a port of the bridge, by a program that delays and loses frames. */
	#far(peer, number) {
		const [far, port] = [`${this.prefix}f${number}`, `${this.prefix}b${number}`];
		ip('-n', this.switch, 'link', 'add', 'name', far, 'type', 'veth', 'peer', 'name', port);
		for (const name of [peer, far]) ip('-n', this.switch, 'link', 'set', name, 'up');
		this.#links.push(`${peer}:${far}`);
		return port;
	}

	/** Lets the frames of all nodes that joined pass, where they go by a wide-area network. */
	async open() {
		if (!this.wan) return;
		const { delay, jitter = 0, loss = 0 } = this.wan;
		const numbers = ['--delay', delay, '--jitter', jitter, '--loss', loss].map(String);
		const args = ['netns', 'exec', this.switch, 'python3', '-B', WAN, ...numbers, ...this.#links];
		this.#relay = spawn('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });
		let complaint = '';
		this.#relay.stderr.setEncoding('utf8').on('data', (text) => (complaint += text));
		const ended = once(this.#relay, 'exit').then(() => {
			throw new Error(`${WAN}: ${complaint.trim() || 'it ended'}`);
		});
		// It ends by itself at the end of the network.
		ended.catch(() => {});
		await Promise.race([once(this.#relay.stdout, 'data'), ended]);
	}

	/** Returns the bytes that left by the link of a node whose `mbit` is bounded, with headers. */
	sent(space) {
		const [bound] = JSON.parse(
			execFileSync('tc', ['-n', space, '-s', '-j', 'qdisc', 'show', 'dev', 'peer'], { encoding: 'utf8' }),
		);
		return bound.bytes;
	}

	/** Cuts the network: these nodes meet only each other, and so do the rest. */
	cut(names) {
		for (const [name, peer] of this.#names) {
			ip('-n', this.switch, 'link', 'set', peer, 'master', names.includes(name) ? 'right' : 'left');
		}
	}

	/** Joins the halves again. */
	heal() {
		this.cut([]);
	}

	/** Removes everything; processes in the namespaces must have ended. */
	close() {
		this.#relay?.kill();
		// With a namespace go its links, and with a link its other end.
		for (const name of this.#made.splice(0).reverse()) ip('netns', 'del', name);
	}
}
