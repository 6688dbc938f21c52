// A client of IPFS: helia's core with its bitswap, over TCP, noise and yamux. It shares no code with the node,
// whose network is litep2p.

import { setTimeout as sleep } from 'node:timers/promises';
import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { createBitswap } from '@helia/bitswap';
import { Helia } from '@helia/utils';
import { identify } from '@libp2p/identify';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import { MemoryBlockstore } from 'blockstore-core';
import { MemoryDatastore } from 'datastore-core';
import { createLibp2p } from 'libp2p';
import { CID } from 'multiformats/cid';
import { from } from 'multiformats/hashes/hasher';
import { trainyard } from './network.mjs';

// Helia's packages use what Node.js has since version 22, and since 19.
Promise.withResolvers ??= function () {
	let resolve, reject;
	const promise = new this((yes, no) => {
		[resolve, reject] = [yes, no];
	});
	return { promise, resolve, reject };
};

globalThis.CustomEvent ??= class extends Event {
	constructor(type, options = {}) {
		super(type, options);
		this.detail = options.detail ?? null;
	}
};

/** Milliseconds without a byte after which helia leaves a stream: 5,000 by itself, in which a busy machine says nothing. */
const PATIENCE = 60_000;
/** Seconds after which a wish is said again. Helia says it once, and a stream that is replaced may lose it. */
const AGAIN = 10;

/** The hash of the CIDs of chunks, which helia does not bring. */
const blake2b256 = from({ name: 'blake2b-256', code: 0xb220, encode: trainyard.blake2 });

/** A member of IPFS that keeps what it has in memory, and knows nobody until it dials. */
export class IpfsClient {
	/** Starts one. `listens`: others can dial it at `address()`. */
	static async start({ listens = false } = {}) {
		const client = new IpfsClient();
		client.blocks = new MemoryBlockstore();
		client.libp2p = await createLibp2p({
			addresses: { listen: listens ? ['/ip4/127.0.0.1/tcp/0'] : [] },
			transports: [tcp()],
			connectionEncrypters: [noise()],
			streamMuxers: [yamux()],
			services: { identify: identify() },
		});
		const broker = (components) => {
			const bitswap = createBitswap(components, {
				hashLoader: { getHasher: async () => blake2b256 },
				messageReceiveTimeout: PATIENCE,
			});
			client.bitswap = bitswap;
			return {
				name: 'bitswap',
				start: () => bitswap.start(),
				stop: () => bitswap.stop(),
				retrieve: (cid, options) => bitswap.want(cid, options),
			};
		};
		client.helia = new Helia({
			libp2p: client.libp2p,
			blockstore: client.blocks,
			datastore: new MemoryDatastore(),
			blockBrokers: [broker],
			hashers: [blake2b256],
			// Nobody is looked up: only who was dialled is asked.
			routers: [],
		});
		await client.helia.start();
		return client;
	}

	/** Where others reach it. */
	address() {
		return this.libp2p.getMultiaddrs()[0].toString();
	}

	/** Connects to the peer at this address (`/ip4/…/tcp/…/p2p/…`); returns its identity. */
	async dial(address) {
		return (await this.libp2p.dial(multiaddr(address))).remotePeer;
	}

	/** The bytes with this CID, from any peer: at once where they came before. */
	async get(cid, { seconds }) {
		const wanted = CID.parse(cid);
		for (let left = seconds; ; left -= AGAIN) {
			// A wish that was given up stays in the list for a moment, and who wishes the same again then joins it
			// and asks nobody.
			while (this.bitswap.wantList.has(wanted)) await sleep(20);
			const signal = AbortSignal.timeout(Math.min(left, AGAIN) * 1_000);
			try {
				return await this.helia.blockstore.get(wanted, { signal });
			} catch (error) {
				if (!signal.aborted || left <= AGAIN) throw error;
			}
		}
	}

	/** The bytes with this CID from this one peer; fails as soon as it says that it has none. */
	ask(peer, cid, { seconds }) {
		const session = this.bitswap.createSession({ providers: [peer] });
		return session.retrieve(CID.parse(cid), { signal: AbortSignal.timeout(seconds * 1_000) });
	}

	/** Lets this client give out `bytes` under a CID, whether they have it or not. */
	pretend(cid, bytes) {
		return this.blocks.put(CID.parse(cid), bytes);
	}

	async stop() {
		await this.helia.stop();
		await this.libp2p.stop();
	}
}
