// A model read by an ordinary client of IPFS: helia asks a real node for all chunks by their CIDs, over bitswap,
// and what comes is the file that was stored. Chunks that the node lacks and peers that send other bytes.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { IpfsClient } from './lib/ipfs.mjs';
import { anyPort } from './lib/net.mjs';
import { Network, trainyard } from './lib/network.mjs';

const { blake2, blobRoot, chunkCid, chunkLength, contentHash, httpRpc } = trainyard;

const MIB = 1_048_576;
/** The shortest file whose chunks have 1 MiB, the longest that there are, has more than 32. */
const SIZE = 32 * MIB + 17;
/** How long something may take on a machine that does other things. */
const SECONDS = 120;
/** Chunks that the client asks for at once. */
const AT_ONCE = 8;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'bitswap') : mkdtempSync(join(tmpdir(), 'trainyard-bitswap-'));
const path = join(folder, 'model');
const clients = [];
let network, address, stored, cids;

/** A new client, which has nothing and knows nobody. */
async function client(options) {
	const one = await IpfsClient.start(options);
	clients.push(one);
	return one;
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort(), flags: ['--ipfs-server'] });
		const peer = await httpRpc(network.url, 'system_localPeerId');
		address = `/ip4/127.0.0.1/tcp/${network.p2pPort}/p2p/${peer}`;
		writeFileSync(path, randomBytes(SIZE));
		const put = ['model', 'put', path, '--suri', '//Bob', '--yes', '--no-wait-final', '--json', '--node', network.url];
		const { status, stdout, stderr } = await network.worker('put', put, { seconds: SECONDS });
		assert.equal(status, 0, stderr);
		stored = JSON.parse(stdout);
		({ cids } = JSON.parse((await network.script('cids', 'model-cids', [stored.root, '--json'])).stdout));
	},
	{ timeout: 300_000 },
);

after(
	async () => {
		await Promise.all(clients.map((one) => one.stop()));
		await network?.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('bitswap', { timeout: 300_000 }, () => {
	test('a whole model comes by its CIDs', async () => {
		assert.deepEqual([chunkLength(SIZE), cids.length, new Set(cids).size], [MIB, 33, 33]);
		const reader = await client();
		await reader.dial(address);
		const chunks = [];
		let next = 0;
		const read = async () => {
			while (next < cids.length) {
				const index = next++;
				chunks[index] = await reader.get(cids[index], { seconds: SECONDS });
			}
		};
		await Promise.all(Array.from({ length: AT_ONCE }, read));
		const bytes = Buffer.concat(chunks);
		assert.ok(bytes.equals(readFileSync(path)), 'the bytes are those that were stored');
		const root = Buffer.from(blobRoot(bytes.length, contentHash(bytes))).toString('hex');
		assert.equal(`0x${root}`, stored.root);
	});

	test('what the node lacks it says that it lacks', async () => {
		const reader = await client();
		const node = await reader.dial(address);
		const nowhere = chunkCid(blake2(randomBytes(32)));
		// Nobody else is there to be asked: a client that got no answer would wait until it is aborted.
		await assert.rejects(reader.ask(node, nowhere, { seconds: SECONDS }), { name: 'NoRoutersAvailableError' });
		const last = await reader.ask(node, cids.at(-1), { seconds: SECONDS });
		assert.equal(last.length, 17, 'and it goes on to give what it has');
	});

	test('other bytes than those of the CID are not taken', async () => {
		const right = readFileSync(path).subarray(32 * MIB);
		const wrong = Uint8Array.from(right);
		wrong[3] ^= 1;
		const liar = await client({ listens: true });
		await liar.pretend(cids.at(-1), wrong);
		// What it has honestly it gives, so what follows is no fault of the connection.
		const honest = Uint8Array.of(1, 2, 3);
		await liar.pretend(chunkCid(blake2(honest)), honest);

		const reader = await client();
		const peer = await reader.dial(liar.address());
		const given = await reader.ask(peer, chunkCid(blake2(honest)), { seconds: SECONDS });
		assert.deepEqual([...given], [...honest]);
		let sent = 0;
		let left = false;
		reader.libp2p.addEventListener('peer:disconnect', ({ detail }) => (left ||= detail.equals(peer)));
		reader.bitswap.network.addEventListener('bitswap:message', ({ detail }) => {
			if (detail.peer.equals(peer)) sent += detail.message.blocks.length;
		});
		await assert.rejects(reader.get(cids.at(-1), { seconds: 3 }), 'there is nobody with the right bytes');
		assert.deepEqual([sent, left], [1, false], 'the liar sent its bytes, and is still there');
		await reader.dial(address);
		assert.deepEqual(Buffer.from(await reader.get(cids.at(-1), { seconds: SECONDS })), right);
	});
});
