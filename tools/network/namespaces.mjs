// Links that can be cut: each node in a network namespace of its own, all joined by bridges in
// another. Linux, as root, with iproute2.
//
// A node has two links: `peer` to the bridge, by which nodes meet, and `host` to this machine,
// by which only JSON-RPC is asked. There is no route from one to the other.

import { execFileSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

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

const said = (error) => String(error.stderr || error.message).trim();

/** The namespaces of one network; `close()` removes them. */
export class Namespaces {
	#made = [];
	#names = new Map();

	constructor() {
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
		ip('-n', this.switch, 'link', 'set', peer, 'master', 'left', 'up');
		ip('-n', space, 'addr', 'add', `${this.subnet}.0.${number}/24`, 'dev', 'peer');
		ip('-n', space, 'link', 'set', 'peer', 'up');
		ip('link', 'add', 'name', host, 'type', 'veth', 'peer', 'name', 'host', 'netns', space);
		ip('addr', 'add', `${this.subnet}.${number}.1/30`, 'dev', host);
		ip('link', 'set', host, 'up');
		ip('-n', space, 'addr', 'add', `${this.subnet}.${number}.2/30`, 'dev', 'host');
		ip('-n', space, 'link', 'set', 'host', 'up');
		this.#names.set(name, peer);
		return { space, peerAddress: `${this.subnet}.0.${number}`, hostAddress: `${this.subnet}.${number}.2` };
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
		// With a namespace go its links, and with a link its other end.
		for (const name of this.#made.splice(0).reverse()) ip('netns', 'del', name);
	}
}
