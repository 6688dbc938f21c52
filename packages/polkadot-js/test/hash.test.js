// The expected values were computed with an independent implementation (RFC 6962's
// recursive definition over another BLAKE2b), from the definitions in `trainyard-protocol`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexToU8a, u8aToHex } from '@polkadot/util';
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
	assert.equal(u8aToHex(cut.merkleRoot), '0x5810a53f87f13d379c927ddcd61dabf32ffecf3132bdf65dc4d648409b46f398');
	assert.equal(u8aToHex(cut.root), '0xba1f5fb33d0a10ba43a155ef564ce981e637c701d13e52fd25ef978f94af60fb');
	assert.equal(
		u8aToHex(hash.cutBlob(new Uint8Array()).root),
		'0xce92a6794a2d81acf19f2137334a3ab181e84abef613472065413f2b8e28c5e9',
	);
	cut.chunks.forEach((chunk, i) => {
		const leaf = hash.chunkLeaf(hash.blake2(chunk));
		assert.ok(hash.merkleVerify(cut.merkleRoot, leaf, i, 8, cut.proof(i)));
	});
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

test('commitments have the frozen layout', () => {
	const result = {
		genesis: fill(1),
		job: 7,
		account: fill(9),
		bundleRoot: fill(2),
		modelRoot: fill(3),
		segments: 258,
		salt: fill(4),
	};
	assert.equal(
		u8aToHex(hash.resultCommitment(result)),
		'0xcbc6d09a1aba672198143994d6dfcb5ed019d35e44d2d45b08302d429350ea97',
	);
	assert.equal(
		u8aToHex(hash.resultCommitment({ ...result, diverged: true })),
		'0x9c135dda941afb288b1944c75dc444e8d1d81cb74433e43014d06c66df309069',
	);
	// SCALE of [Accept([{ segment 5, trace 0x11…, end 0x22… }]), Unavailable]
	const findings = hexToU8a(`0x08000405000000${'11'.repeat(32)}${'22'.repeat(32)}02`);
	assert.equal(
		u8aToHex(hash.verdictCommitment({ genesis: fill(1), job: 7, round: 2, account: fill(9), findings, salt: fill(4) })),
		'0xb80f0d3242de65baef319fd4ec9a619ac90dc4403fa242c15d7c2ada66b8e8f5',
	);
});
