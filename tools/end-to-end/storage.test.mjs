// What nodes keep of stored models, with real nodes: an author whose chunk is deleted makes blocks without
// its reward and the chain goes on; and a node that comes by warp sync fetches the chunks from its peers.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Fleet } from './lib/fleet.mjs';
import { anyPort } from './lib/net.mjs';
import { defaultBin, sleep, trainyard, until } from './lib/network.mjs';

const { cutBlob, fetchBlob, httpRpc, keyFromSuri, send } = trainyard;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'storage') : mkdtempSync(join(tmpdir(), 'trainyard-storage-'));
const fleet = new Fleet(join(folder, 'logs'));
/** Blocks whose bodies the author keeps. */
const PRUNING = 64;
/** How long something may take on a machine that does other things. */
const SECONDS = 240;

const nodes = new Map();
let api;
let alice;

/** Starts a node of the development chain that knows the others; resolves when it answers. */
async function startNode(name, flags) {
	const [rpcPort, port] = [await anyPort(), await anyPort()];
	const others = [...nodes.values()].map(({ port, peer }) => `/ip4/127.0.0.1/tcp/${port}/p2p/${peer}`);
	const base = join(folder, name);
	const process = fleet.start(name, join(defaultBin(), 'trainyard-node'), [
		...['--base-path', base, '--rpc-port', String(rpcPort), '--port', String(port)],
		...['--no-prometheus', '--no-telemetry', '--no-mdns', '--rpc-cors', 'all'],
		...others.flatMap((address) => ['--bootnodes', address]),
		...flags,
	]);
	const url = `ws://127.0.0.1:${rpcPort}`;
	const node = { name, base, port, url, process, rpc: (method, params = []) => httpRpc(url, method, params) };
	const answers = () => node.rpc('system_localPeerId').catch(() => null);
	node.peer = await until(`${name} answers`, SECONDS, answers, () => fleet.check());
	nodes.set(name, node);
	return node;
}

const height = async (node) => Number((await node.rpc('chain_getHeader')).number);
const final = async (node) => {
	const hash = await node.rpc('chain_getFinalizedHead');
	return Number((await node.rpc('chain_getHeader', [hash])).number);
};
/** Where the node has chunks as files. */
const chunksOf = (node) => join(node.base, 'chains', 'trainyard_dev', 'chunks');
const hex = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`;

/** The blob of the tests, on chain. */
const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8) * 7 + (i >> 16) * 13) % 256);
const blob = cutBlob(bytes);
const root = hex(blob.root);

before(
	async () => {
		const node = await startNode('author', ['--dev', '--blocks-pruning', String(PRUNING)]);
		// They must follow from the beginning: of an author that prunes nobody has old blocks. Warp sync asks
		// three peers at least.
		await Promise.all(['second', 'third'].map((name) => startNode(name, ['--chain', 'dev'])));
		await until('the author makes a block', SECONDS, async () => (await height(node)) > 0);
		api = await trainyard.connect(node.url);
		alice = await keyFromSuri('//Alice');
		const { modelStorage } = api.tx;
		await send(api, modelStorage.register(bytes.length, blob.content, null), alice);
		for (const [index, chunk] of blob.chunks.entries()) {
			await send(api, modelStorage.uploadChunk(root, index, blob.proof(index), hex(chunk)), alice);
		}
	},
	{ timeout: 600_000 },
);

after(
	async () => {
		await api?.disconnect();
		await fleet.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

/** What the author of block `number` got, and the storage events of the block. */
async function looked(number) {
	const at = await api.at(await api.rpc.chain.getBlockHash(number));
	const events = await at.query.system.events();
	const rewarded = events.find(({ event }) => event.method === 'BlockRewarded');
	const storage = events.filter(({ event }) => event.section === 'modelStorage').map(({ event }) => event);
	return { reward: rewarded.event.data.reward.toBigInt(), storage };
}

test('an author that prunes keeps what the chain retains', { timeout: 600_000 }, async () => {
	const node = nodes.get('author');
	const files = () => readdirSync(chunksOf(node)).filter((name) => !name.endsWith('.part'));
	await until(
		'all chunks are files',
		SECONDS,
		() => files().length === blob.chunks.length,
		() => fleet.check(),
	);
	// Until the blocks that brought them are pruned.
	const uploaded = await height(node);
	await until('they are pruned', SECONDS, async () => (await final(node)) > uploaded + PRUNING + 2);
	assert.deepEqual(await fetchBlob(api, root), bytes, 'every chunk can be read');
	const status = await until('the node looked', SECONDS, async () => {
		const status = await node.rpc('trainyard_storage');
		return status.looked && status.retained === blob.chunks.length && status;
	});
	assert.deepEqual([status.held, status.missing, status.prunes], [blob.chunks.length, 0, true]);
	const now = await height(node);
	for (let number = now - 10; number <= now; number++) {
		const { reward, storage } = await looked(number);
		assert.ok(reward > 0n, `block ${number} has its reward`);
		assert.deepEqual(storage, []);
	}
	const keeping = await node.rpc('trainyard_keeping', [root]);
	assert.deepEqual([keeping.lost, keeping.doubted, keeping.awaited], [[], [], 0]);
	assert.ok(BigInt(keeping.rent) > 0n && BigInt(keeping.due) > 0n);
});

test('nodes that come by warp sync fetch the chunks', { timeout: 900_000 }, async () => {
	for (const name of ['second', 'third']) {
		const node = nodes.get(name);
		await until(
			`${name} is in step`,
			SECONDS,
			async () => (await final(node)) > 10,
			() => fleet.check(),
		);
	}
	const late = await startNode('late', ['--chain', 'dev', '--sync', 'warp']);
	await until(
		'warp sync',
		SECONDS,
		() => /Warp sync is complete/.test(late.process.log()),
		() => fleet.check(),
	);
	const status = await until(
		'the chunks are there',
		SECONDS,
		async () => {
			const status = await late.rpc('trainyard_storage');
			return status.looked && status.missing === 0 && status.retained === blob.chunks.length && status;
		},
		() => fleet.check(),
	);
	assert.equal(status.fetched, blob.chunks.length);
	assert.equal(readdirSync(chunksOf(late)).length, blob.chunks.length);
	for (const [index, chunk] of blob.chunks.entries()) {
		assert.equal(await late.rpc('trainyard_modelChunk', [root, index]), hex(chunk), `chunk ${index}`);
	}
});

test('a chunk that all nodes lost costs a reward, and the chain goes on', { timeout: 900_000 }, async () => {
	// The other nodes would give it to the author.
	for (const name of ['late', 'third', 'second']) {
		await nodes.get(name)?.process.stop();
		nodes.delete(name);
	}
	const node = nodes.get('author');
	const hash = (await api.call.trainyardApi.chunkHash(root, 5)).unwrap().toHex().slice(2);
	const file = join(chunksOf(node), hash);
	assert.ok(existsSync(file));
	const saved = readFileSync(file);
	rmSync(file);
	const from = await height(node);
	// Each block draws it with one part in 37.
	let doubted;
	let next = from + 1;
	const rewards = [];
	await until(
		'it is drawn',
		600,
		async () => {
			for (; next <= (await height(node)); next++) {
				const { reward, storage } = await looked(next);
				rewards.push(reward);
				if (storage.some(({ method }) => method === 'ChunkDoubted')) doubted ??= next;
			}
			return doubted;
		},
		() => fleet.check(),
	);
	assert.equal((await looked(doubted)).reward, 0n, 'who does not show it has no reward');
	assert.match(node.process.log(), /this block has no reward: it asks for chunk 5/);
	// The next blocks are paid: it is asked for at no loss.
	await until('ten more blocks', SECONDS, async () => (await height(node)) > doubted + 10);
	for (let number = doubted + 1; number <= doubted + 10; number++) {
		const { reward, storage } = await looked(number);
		assert.ok(reward > 0n, `block ${number} has its reward`);
		assert.deepEqual(storage, []);
	}
	assert.equal(rewards.filter((reward) => reward === 0n).length, 1);
	const status = await until('the node says so', SECONDS, async () => {
		const status = await node.rpc('trainyard_storage');
		return status.missing === 1 && status;
	});
	assert.match(status.advice, /lacks 1 chunks/);
	assert.match(node.process.log(), /lacks 1 chunks/);
	assert.deepEqual((await node.rpc('trainyard_keeping', [root])).doubted, [5]);
	await assert.rejects(node.rpc('trainyard_modelChunk', [root, 5]), /this node lacks it/);

	// It comes back, and the chain knows.
	writeFileSync(file, saved);
	await until('the chunk is found', SECONDS, async () => {
		await sleep(500);
		return (await node.rpc('trainyard_keeping', [root])).doubted.length === 0;
	});
	assert.deepEqual(await fetchBlob(api, root), bytes);
});
