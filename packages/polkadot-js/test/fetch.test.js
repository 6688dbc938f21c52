import assert from 'node:assert/strict';
import { test } from 'node:test';
import { u8aToHex } from '@polkadot/util';
import { chunkCid } from '../src/cid.js';
import { fetchBlob, modelRootOf } from '../src/commands/fetch-model.js';
import { blobCids } from '../src/commands/model-cids.js';
import { blake2, cutBlob } from '../src/hash.js';

const bytes = Uint8Array.from({ length: 30_000 }, (_, i) => (i * 7) % 251);
const cut = cutBlob(bytes);
const root = u8aToHex(cut.root);

const some = (value) => ({ isNone: false, isSome: true, unwrap: () => value });
const none = { isNone: true, isSome: false };

/** A node that keeps one blob; `serve` may bend what it gives out, `view` what it says. */
function fakeNode({ serve = (chunk) => chunk, hashes = (hash) => hash, view = {} } = {}) {
	const blob = { size_: { toBigInt: () => 30_000n }, chunks: 8, missing: [], ...view };
	return {
		call: {
			trainyardApi: {
				blob: async (wanted) => (wanted === root ? some(blob) : none),
				chunkHash: async (_, index) => {
					const hash = hashes(blake2(cut.chunks[index]), index);
					return hash ? some({ toU8a: () => hash }) : none;
				},
			},
		},
		_rpcCore: {
			provider: {
				send: async (method, [wanted, index]) => {
					assert.equal(method, 'trainyard_modelChunk');
					assert.equal(wanted, root);
					const chunk = serve(cut.chunks[index], index);
					return chunk && u8aToHex(chunk);
				},
			},
		},
	};
}

test('a blob comes back whole', async () => {
	const seen = [];
	assert.deepEqual(await fetchBlob(fakeNode(), root, (done, of) => seen.push(`${done}/${of}`)), bytes);
	assert.deepEqual(seen.at(-1), '8/8');
});

test('a changed byte is found, in the chunk where it is', async () => {
	const serve = (chunk, index) => {
		if (index !== 5) return chunk;
		const other = chunk.slice();
		other[17] ^= 1;
		return other;
	};
	await assert.rejects(fetchBlob(fakeNode({ serve }), root), /chunk 5 of 8 .*do not have the hash/);
});

test('a short chunk is found', async () => {
	const serve = (chunk, index) => (index === 7 ? chunk.subarray(1) : chunk);
	await assert.rejects(fetchBlob(fakeNode({ serve }), root), /chunk 7 of 8 .*1327 bytes came, 1328 were expected/);
});

test('a node that lies about bytes and hashes alike is found by the root', async () => {
	const forged = cut.chunks[2].slice().reverse();
	const node = fakeNode({
		serve: (chunk, index) => (index === 2 ? forged : chunk),
		hashes: (hash, index) => (index === 2 ? blake2(forged) : hash),
	});
	await assert.rejects(fetchBlob(node, root), /the chunks make the root 0x[0-9a-f]{64}, not/);
});

test('what is not there is said', async () => {
	await assert.rejects(fetchBlob(fakeNode(), u8aToHex(blake2(bytes))), /the chain has no blob/);
	await assert.rejects(fetchBlob(fakeNode({ view: { missing: [1, 2] } }), root), /2 of 8 chunks are missing/);
	await assert.rejects(fetchBlob(fakeNode({ serve: () => null }), root), /the node does not have it/);
});

test('the model of a job is the accepted one', async () => {
	const withJob = (job) => ({ _rpcCore: { provider: { send: async () => job } } });
	const job = {
		replicas: [
			{ fate: 'rejected', reveal: { model_root: '0x01' } },
			{ fate: 'accepted', reveal: { model_root: '0x02' } },
		],
	};
	assert.equal(await modelRootOf(withJob(job), 3), '0x02');
	job.replicas.pop();
	await assert.rejects(modelRootOf(withJob(job), 3), /job 3 has no accepted model \(rejected\)/);
	await assert.rejects(modelRootOf(withJob(null), 3), /there is no job 3/);
});

test('chunks have the names that IPFS has for them', async () => {
	// As the package multiformats writes it.
	assert.equal(
		chunkCid(blake2(new TextEncoder().encode('hello world'))),
		'bafk2bzaceaswza5ss4iu2ia3galz6pyo6dfm5f4dmiw2lf2de22dmf4k533ba',
	);
	assert.throws(() => chunkCid(new Uint8Array(31)), /a hash has 32 bytes, not 31/);
	const { size, cids } = await blobCids(fakeNode(), root);
	assert.deepEqual([size, cids.length], [30_000, 8]);
	assert.deepEqual(
		cids,
		cut.chunks.map((chunk) => chunkCid(blake2(chunk))),
	);
});

test('chunks that are not there have no names', async () => {
	await assert.rejects(blobCids(fakeNode(), u8aToHex(blake2(bytes))), /the chain has no blob/);
	await assert.rejects(blobCids(fakeNode({ view: { missing: [1, 2] } }), root), /2 of 8 chunks are missing/);
	const hashes = (hash, index) => (index === 3 ? null : hash);
	await assert.rejects(blobCids(fakeNode({ hashes }), root), /chunk 3 of blob 0x[0-9a-f]{64} went away/);
});
