// Sealed files: the vectors that the Rust crate is tested with, and what must not open.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils';
import { contentHash } from '../src/blake3.js';
import { publicSealKey, readSealKey, sealFor, sealKey, unseal } from '../src/seal.js';

const vectors = new URL('../../../ml-worker/seal/src/vectors/', import.meta.url);
const read = (name) => readFileSync(new URL(name, vectors), 'utf8').trim();
const key = sealKey(Uint8Array.from({ length: 32 }, (_, i) => i));
const bytes = (length) => Uint8Array.from({ length }, (_, i) => (i ^ (i >> 8) ^ (i >> 16)) & 255);

test('sealed files are those of the Rust crate, and open', () => {
	assert.equal(key.public, read('public.txt'));
	const lines = read('sealed.txt').split('\n');
	assert.equal(lines.length, 8);
	for (const line of lines) {
		const [length, hash] = line.split(' ');
		const sealed = sealFor(bytes(Number(length)), key.public);
		assert.equal(bytesToHex(contentHash(sealed)), hash, `${length} bytes`);
		assert.deepEqual(unseal(sealed, key.secret), bytes(Number(length)));
	}
});

test('another key, a changed byte and a missing piece are found', () => {
	const sealed = sealFor(bytes(200_000), key.public);
	assert.throws(() => unseal(sealed, sealKey().secret), /sealed for another key, or damaged/);
	const changed = (at) => sealed.map((byte, i) => (i === at ? byte ^ 1 : byte));
	assert.throws(() => unseal(changed(3), key.secret), /no sealed file/);
	assert.throws(() => unseal(changed(20), key.secret), /sealed for another key, or damaged/);
	assert.throws(() => unseal(changed(150_000), key.secret), /piece 2 .* does not open/);
	for (const cut of [0, 47, 48, 60, 65_600, 65_601, sealed.length - 1]) {
		assert.throws(() => unseal(sealed.subarray(0, cut), key.secret), /open|sealed/, `${cut}`);
	}
	const longer = new Uint8Array([...sealed, ...new Uint8Array(17)]);
	assert.throws(() => unseal(longer, key.secret), /does not open/);
});

test('keys are read with their checksum, and from the file that the worker writes', () => {
	const { public: open, secret } = sealKey();
	assert.equal(readSealKey(`# Opens what is sealed for ${open}\n${secret}\n`), secret);
	for (const text of ['', '# nothing', `${secret}\n${secret}`, open]) {
		assert.throws(() => readSealKey(text), /no (file with a )?secret key/);
	}
	const digit = open.endsWith('0') ? '1' : '0';
	assert.throws(() => sealFor(bytes(1), open.slice(0, -1) + digit), /checksum/);
	assert.throws(() => sealFor(bytes(1), secret), /no public key/);
	assert.throws(() => unseal(bytes(100), open), /no secret key/);
});

test('a point of low order, or written in another way, is not sealed for', () => {
	const nine = Buffer.alloc(32);
	nine[0] = 9;
	assert.equal(unseal(sealFor(bytes(9), key.public), key.secret).length, 9);
	assert.ok(sealFor(bytes(9), publicSealKey(nine)).length > 9);
	const highBit = Buffer.from(nine);
	highBit[31] |= 0x80;
	const beyond = Buffer.alloc(32, 0xff);
	[beyond[0], beyond[31]] = [0xf6, 0x7f];
	for (const point of [Buffer.alloc(32), highBit, beyond]) {
		assert.throws(() => sealFor(bytes(1), publicSealKey(point)), /everybody could open it/);
	}
});
