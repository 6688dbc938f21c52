// The expected values were computed with an independent implementation (RFC 6962's
// recursive definition over another BLAKE2b), from the definitions in `trainyard-protocol`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hexToU8a, u8aToHex } from '@polkadot/util';
import { CHUNK, chainingValue, merged } from '../src/blake3.js';
import * as hash from '../src/hash.js';

const leaves = (n) =>
	Array.from({ length: n }, (_, i) => hash.leaf(new Uint8Array(new BigUint64Array([BigInt(i)]).buffer)));
const blob = Uint8Array.from({ length: 30_000 }, (_, i) => i % 256);
const fill = (byte) => new Uint8Array(32).fill(byte);

test('Merkle roots equal the recursive definition', () => {
	const expected = {
		0: '0x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
		1: '0x5187b7a8021bf4f2c004ea3a54cfece1754f11c7624d2363c7f4cf4fddd1441e',
		2: '0xee86f5cf8beac0c795bc5101c691752a11b23bb3b462cac16eef040be6bba3dd',
		3: '0xaeb6c268c415c83013fac3ddbafb1af79de8ac4ddf5433745cb0048ee9aeb0ff',
		5: '0x1554931a25f5fe2580c470e8d832fb0bc4451c48c9bcac8a8966c24213d1a39c',
		8: '0xf8fd4ece2247cd8e7aaf0a6b720c09e8fcb36c005f48e9e6766cebcb0ce7c7cd',
		13: '0x3d05e72a078462acbcfb1872f2fa0cb0d1f74a86d63f2be954a6c9bb9d3c7a24',
	};
	for (const [n, root] of Object.entries(expected)) {
		assert.equal(u8aToHex(hash.merkleRoot(leaves(Number(n)))), root, `${n} leaves`);
	}
});

test('every leaf has a proof, and nothing else passes for it', () => {
	for (let n = 1; n <= 17; n++) {
		const all = leaves(n);
		const root = hash.merkleRoot(all);
		for (let i = 0; i < n; i++) {
			const proof = hash.merkleProof(all, i);
			assert.ok(hash.merkleVerify(root, all[i], i, n, proof), `${i} of ${n}`);
			assert.ok(!hash.merkleVerify(root, all[i], i, n, [...proof, root]), 'an entry left over');
			assert.ok(!hash.merkleVerify(root, all[i], n, n, proof), 'an index past the end');
			if (proof.length > 0) assert.ok(!hash.merkleVerify(root, all[i], i, n, proof.slice(1)), 'an entry missing');
			for (let j = 0; j < n; j++) {
				if (i === j) continue;
				assert.ok(!hash.merkleVerify(root, all[j], i, n, proof), `leaf ${j} at ${i} of ${n}`);
				assert.ok(!hash.merkleVerify(root, all[i], j, n, proof), `leaf ${i} at ${j} of ${n}`);
			}
		}
		assert.equal(hash.merkleProof(all, n), null);
	}
});

test('blobs are cut as the chain cuts them', () => {
	const cut = hash.cutBlob(blob);
	assert.equal(cut.chunks.length, 8);
	assert.equal(u8aToHex(cut.content), '0xda0c53bd7b44f86531a1deee1de701762e4d4265a0a6844b4dabcba9c33d1e99');
	assert.equal(u8aToHex(cut.root), '0x310dad37fef326a6169c9373cb9191328dcfd8db6ba9925cbbdbcca92dc87e06');
	assert.equal(
		u8aToHex(hash.cutBlob(new Uint8Array()).root),
		'0xccae564ef8a55f1f0a91ce6ab716d9b692d06d963d072c3e7c8fe8cd1182dc84',
	);
	assert.equal(hash.cutBlob(new Uint8Array()).proof(0), null);
});

test('every chunk has a path under the content hash, and nothing else passes for it', () => {
	for (const size of [1, 1_024, 4_095, 4_096, 4_097, 9_000, 20_000, 30_000, 262_145]) {
		const bytes = Uint8Array.from({ length: size }, (_, i) => (i ^ (i >> 9)) % 251);
		const { content, chunks, proof } = hash.cutBlob(bytes);
		chunks.forEach((chunk, i) => {
			const path = proof(i);
			const verify = (index, shown, way) => hash.chunkVerify(size, content, index, shown, way);
			assert.ok(verify(i, chunk, path), `${i} of ${size} bytes`);
			assert.ok(!verify(i, chunk, [...path, content]), 'an entry left over');
			assert.ok(!verify(chunks.length, chunk, path), 'an index past the end');
			if (path.length > 0) assert.ok(!verify(i, chunk, path.slice(1)), 'an entry missing');
			const other = chunk.slice();
			other[other.length >> 1] ^= 1;
			assert.ok(!verify(i, other, path), 'a changed byte');
			assert.ok(!verify(i, chunk.subarray(1), path), 'a byte missing');
			if (i > 0) assert.ok(!verify(i - 1, chunk, path), 'an index before it');
		});
	}
});

test('the nodes of the tree lead to the hash of the whole', () => {
	for (const size of [1_025, 2_048, 3_000, 5_120, 8_192, 9_217, 70_000]) {
		const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7) % 251);
		let left = CHUNK;
		while (2 * left < size) left *= 2;
		const first = chainingValue(bytes.subarray(0, left), 0);
		const second = chainingValue(bytes.subarray(left), left / CHUNK);
		assert.equal(u8aToHex(merged(first, second, true)), u8aToHex(hash.contentHash(bytes)), `${size} bytes`);
		assert.notEqual(u8aToHex(merged(first, second)), u8aToHex(hash.contentHash(bytes)));
	}
	// The number of a chunk may pass 2^32: it is hashed as 64 bits.
	const numbers = [0, 1, 2 ** 32, 2 ** 32 + 1].map((n) => u8aToHex(chainingValue(Uint8Array.of(1), n)));
	assert.equal(new Set(numbers).size, 4);
});

test('chunks that did not change are the same at the same place', () => {
	const tuned = Uint8Array.from([...blob, 7]);
	tuned[5_000] ^= 1;
	const same = (one, other) => hash.sameChunks(hash.cutBlob(one), hash.cutBlob(other));
	assert.deepEqual(same(blob, blob), [0, 1, 2, 3, 4, 5, 6, 7]);
	assert.deepEqual(same(tuned, blob), [0, 2, 3, 4, 5, 6]);
	assert.deepEqual(same(blob.subarray(1), blob), []);
	// A blob of one chunk hashes it as the whole, and chunks of another length begin elsewhere.
	assert.deepEqual(same(blob.subarray(0, 4_096), blob.subarray(0, 8_192)), []);
	assert.deepEqual(same(new Uint8Array(300_000), new Uint8Array(30_000)), []);
	assert.deepEqual(same(new Uint8Array(), blob), []);
});

test('chunks cover a blob of any size', () => {
	for (const size of [0, 1, 4095, 4096, 4097, 26_680, 262_144, 262_145, 70_000_000]) {
		const count = hash.chunkCount(size);
		const total = Array.from({ length: count }, (_, i) => hash.chunkSizeAt(size, i)).reduce((a, b) => a + b, 0);
		assert.equal(total, size);
		assert.equal(hash.chunkSizeAt(size, count), null);
	}
	assert.equal(hash.chunkLength(26_680), 4096);
	assert.equal(hash.chunkLength(262_145), 8192);
	assert.equal(hash.chunkLength(2 ** 40), hash.MAX_CHUNK);
});

test('leaves of traces and bundles are those of docs/strict-arithmetic.md', () => {
	const page = readFileSync(new URL('../../../docs/strict-arithmetic.md', import.meta.url), 'utf8');
	const vector = (question) => hexToU8a(`0x${page.match(new RegExp(`^${question} = ([0-9a-f]{64})$`, 'm'))[1]}`);
	const [a, b] = [vector('content x 12'), vector('content y 7')];
	// x(1) of the page.
	const loss = (48 - 50) / 64;
	const evaluation = { loss, correct: 7, labels: 9 };
	const slices = (n) => hash.slicesRoot(Array(n).fill({ losses: a, correct: b }));
	const steps = (n) => Array.from({ length: n }, (_, step) => hash.stepLeaf(step, loss, a));
	const evaluated = (step) => hash.evaluationLeaf(step, evaluation, slices(3));
	const sealed = (step) => hash.sealedTrace(hash.merkleRoot([...steps(step), evaluated(step)]));
	const found = {
		'trace step 258': hash.stepLeaf(258, loss, a),
		'trace slices 1': slices(1),
		'trace slices 3': slices(3),
		'trace evaluation 258': evaluated(258),
		'trace sealed 0': sealed(0),
		'trace sealed 5': sealed(5),
		'trace checkpoint 5': hash.checkpointLeaf({ step: 5, state: a, evaluation, trace: sealed(5) }),
		'trace diverged 0': hash.divergedLeaf({ step: 0, trace: hash.sealedTrace(hash.merkleRoot([])) }),
		'trace diverged 5': hash.divergedLeaf({ step: 5, trace: hash.sealedTrace(hash.merkleRoot(steps(5))) }),
	};
	for (const [question, bytes] of Object.entries(found)) {
		assert.equal(u8aToHex(bytes), u8aToHex(vector(question)), question);
	}
	const others = Object.keys(found).length;
	assert.equal(page.match(/^trace \w+ \d+ = /gm).length, others, 'every vector is compared');
	assert.deepEqual(hash.stepLeaf(1, Number.NaN, a), hash.stepLeaf(1, -Number.NaN, a));
});

test('commitments have the frozen layout', () => {
	const result = {
		genesis: fill(1),
		job: 7,
		account: fill(9),
		bundleRoot: fill(2),
		trueRoot: fill(5),
		modelRoot: fill(3),
		segments: 258,
		salt: fill(4),
	};
	assert.equal(
		u8aToHex(hash.resultCommitment(result)),
		'0xc58fa385323253fb915fb75c7f0b47619b1d7e5aca6907d4d5e458e98c4eb6db',
	);
	assert.equal(
		u8aToHex(hash.resultCommitment({ ...result, diverged: true })),
		'0x901a61215d2452c9ebb6ea07742b30dbe4b1428dda24dbeac4ec7139e677b502',
	);
	assert.equal(
		u8aToHex(hash.forcedCommitment(fill(7))),
		'0x17cdc7bca3f2a0bda60c6de5b96f82a36239b44bde397a3862d529ba8b3d7c62',
	);
	assert.equal(
		u8aToHex(hash.forcedTraceRoot(fill(7), 258)),
		'0x6a5794a12faafc651ff4ddd64a65f83622ee0996ec47213b5fd494557f2f0ca9',
	);
	// SCALE of [Accept([{ segment 5, trace 0x11…, end 0x22… }]), Unavailable]
	const findings = hexToU8a(`0x08000405000000${'11'.repeat(32)}${'22'.repeat(32)}02`);
	assert.equal(
		u8aToHex(hash.verdictCommitment({ genesis: fill(1), job: 7, round: 2, account: fill(9), findings, salt: fill(4) })),
		'0xb80f0d3242de65baef319fd4ec9a619ac90dc4403fa242c15d7c2ada66b8e8f5',
	);
	// A trainer of job 7, segment 258, and an end that is a checkpoint with the state 0x02…
	const challenge = {
		genesis: fill(1),
		challenger: fill(9),
		defendant: hexToU8a(`0x0007000000${'08'.repeat(32)}`),
		target: hexToU8a('0x0102010000'),
		claimed: hexToU8a(`0x0000${'02'.repeat(32)}`),
		salt: fill(4),
	};
	assert.equal(
		u8aToHex(hash.challengeCommitment(challenge)),
		'0xa0b4703ea0bc355eb9fce2ed2bf1c0fba0fb5ddba96dcaba81fb5dc11d5540fd',
	);
});
