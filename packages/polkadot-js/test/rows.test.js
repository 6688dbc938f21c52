// Roots of rows. The expected ones were computed by `tools/cross-check`, which shares nothing with this
// package; the worker has the same in `ml-worker/proof/src/data/tests/roots.rs`.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { u8aConcat, u8aToHex } from '@polkadot/util';
import { blake3 } from '@noble/hashes/blake3';
import { nearest } from '../src/data/number.js';
import { strictSum } from '../src/data/table.js';
import { blake2, contentHash, rowsRoot } from '../src/hash.js';
import { describeDataset, jobFromFlags } from '../src/spec.js';

/** The files that NumPy wrote, of which the worker's tests say how. */
const written = (name) => fileURLToPath(new URL(`../../../ml-worker/proof/tests/files/${name}`, import.meta.url));
const example = (name) => fileURLToPath(new URL(`../../../ml-worker/examples/data/${name}`, import.meta.url));
const location = 'http://127.0.0.1:8600/data';
const scratch = mkdtempSync(join(tmpdir(), 'trainyard-'));
const file = (name, bytes) => {
	const path = join(scratch, name);
	writeFileSync(path, bytes);
	return path;
};

/** The bits of a binary32. */
const bits = (x) => {
	const view = new DataView(new ArrayBuffer(4));
	view.setFloat32(0, x);
	return view.getUint32(0).toString(16).padStart(8, '0');
};

test('BLAKE3 and the layout of the rows root are those of the protocol', () => {
	// Of BLAKE3's own test vectors: the first bytes of 0, 1, …, 250, 0, ….
	const input = (length) => Uint8Array.from({ length }, (_, i) => i % 251);
	assert.equal(u8aToHex(contentHash(input(0))), '0xaf1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262');
	assert.equal(
		u8aToHex(contentHash(input(2_049))),
		'0x5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030',
	);
	const contents = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
	const counts = [2, 1, 0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 4, 0, 0, 0];
	const bytes = u8aConcat(new TextEncoder().encode('trainyard/rows/v1'), counts, ...contents);
	assert.equal(bytes.length, 17 + 16 + 128);
	const found = rowsRoot({ trainRows: 258, validationRows: 3, features: 65_536, labelsPerRow: 4, contents });
	assert.deepEqual(found, blake2(bytes));
	assert.deepEqual(contentHash(bytes), blake3(bytes));
});

test('decimal numbers become the nearest binary32, also where binary64 lies in the middle', () => {
	const cases = {
		1: '3f800000',
		'1.00000005960464477539062501': '3f800001',
		'1.00000017881393432617187499': '3f800001',
		'1.000000059604644775390625': '3f800000',
		'1.000000178813934326171875': '3f800002',
		'-1.00000005960464477539062501': 'bf800001',
		'16777217.00000000000000001': '4b800001',
		'-0': '80000000',
		'+.5': '3f000000',
		'2.': '40000000',
		'-007': 'c0e00000',
		'-2.5e-1': 'be800000',
		'1e-45': '00000001',
		'7.006492321624085354618e-46': '00000000',
		'7.00649232162408535461864791644958065640130970938257885878534142e-46': '00000001',
		'1e-999': '00000000',
		'3.4028235677973366164e38': null,
		'3.40282356779733661637e38': '7f7fffff',
		'-3.40282356779733661637e38': 'ff7fffff',
		'1e39': null,
		'1e999': null,
		'0x10': null,
		Infinity: null,
		'': null,
		'1e': null,
		'.': null,
	};
	for (const [text, expected] of Object.entries(cases)) {
		const found = nearest(text);
		assert.equal(found === null ? null : bits(found), expected, text);
	}
});

test('sums are taken in blocks and lanes', () => {
	// The vectors of docs/strict-arithmetic.md.
	const y = (i) => Math.fround((((53 * i + 29) % 97) - 48) / 3);
	for (const [n, expected] of SUMS) {
		const terms = Float32Array.from({ length: n }, (_, i) => y(i));
		assert.equal(bits(strictSum(terms)), expected, `${n} terms`);
	}
});

const SUMS = [
	[0, '00000000'],
	[17, 'bf2aaaa0'],
	[1024, '41200004'],
	[1025, '41a00002'],
	[1050000, '417586c6'],
];

test('the roots of the examples are those of other programs', async () => {
	const root = async (path, options) => (await describeDataset(path, { location, ...options })).rows;
	const digits = example('digits.csv');
	assert.equal(await root(digits), '0x6f487f47973c9bbf93cec31312d3e477d71578072a9ee843bddd36b0738b1434');
	const normalised = '0x662ae76d653641fa0e684274a1a7219b6e40b7166810df2216fc7fa9824c94b6';
	assert.equal(await root(digits, { divisor: 16, normalization: 'standard' }), normalised);
	assert.equal(await root(digits, { normalization: 'standard' }), normalised);
	const options = { location, format: 'text', features: 64, validationEvery: 20 };
	const text = await describeDataset(example('alice.txt'), options);
	assert.equal(text.rows, '0xb2c5403c833dc85d302d42013a065367a50b4cf9d3565214fc7423e52955a1ac');
	assert.deepEqual([text.train_rows, text.validation_rows, text.feature_divisor], [2_204, 115, 1]);
});

test('files that NumPy wrote have the roots that the worker reads from them', async () => {
	const small = [
		'675a362423e794ae68a40e0331d807b6f807b49668fbca87f950610122d9e96d',
		'7b41a3512f9aef35e5114d8b3d6035e356f90e3f2e8dd7040b56b2c279b2777a',
	];
	const cases = {
		'numpy.csv': ['csv_label_last', 12, small],
		'numpy.npy': ['npy', 12, small],
		'numpy.npz': ['npz', 12, small],
		'numpy-compressed.npz': ['npz', 12, small],
		'rows.npy': [
			...['npy', 20],
			[
				'fc55643d33b1d93d3994143afe8aa16eb2f8c8ccc6722fe81e3d41bfbbd03dcd',
				'9d285e3798ba8b5a436c5f397914a51a431af62ad27de9ef20ac79209dbf6993',
			],
		],
		'rows.npz': [
			...['npz', 20],
			[
				'8f72a0276002ce7a5b8342f916b66e9c74ff7f45866cdd4508badf926bb7a178',
				'3fda88f7edf3de049f3edcc7f044b252d6c6902cd58865fba52adda32323424b',
			],
		],
		'rows.safetensors': [
			...['safetensors', 20],
			[
				'882bc2905316ccbeb5e2936cc9f4c215f920a9bf8b6c09f2db3c2b4551e41e7e',
				'4b17512ad30e9935861bce95a411308794c1cb8084d1172c439a0639cf1aa9b9',
			],
		],
	};
	for (const [name, [format, rows, roots]] of Object.entries(cases)) {
		for (const [at, normalization] of ['none', 'standard'].entries()) {
			const options = { location, format, validationEvery: 4, divisor: 3, normalization };
			const found = await describeDataset(written(name), options);
			assert.equal(found.rows, `0x${roots[at]}`, `${name} ${normalization}`);
			const counts = [found.train_rows, found.validation_rows, found.features, found.classes, found.labels];
			assert.deepEqual(counts, [(rows * 3) / 4, rows / 4, 4, 3, null], name);
		}
	}
	const { spec } = await jobFromFlags({ data: written('rows.npz'), location, format: 'npz', 'validation-every': '4' });
	assert.equal(spec.dataset.feature_divisor, 334, 'the largest input, rounded up');
	assert.equal(spec.dataset.content_hash, u8aToHex(blake2(readFileSync(written('rows.npz')))));
	assert.equal(spec.dataset.format, 'npz');
});

test('IDX files describe themselves, packed or not', async () => {
	const pixels = Array.from({ length: 210 }, (_, i) => (i * i + Math.floor(i / 5)) % 251);
	const x = Uint8Array.from([0, 0, 8, 3, 0, 0, 0, 35, 0, 0, 0, 2, 0, 0, 0, 3, ...pixels]);
	const y = Uint8Array.from([0, 0, 8, 1, 0, 0, 0, 35, ...Array.from({ length: 35 }, (_, i) => i % 4)]);
	const labels = file('y.idx', y);
	const options = { location, format: 'idx', labels, labelsLocation: `${location}/labels`, validationEvery: 4 };
	const expected = {
		none: '0xa434ec54ebf5a3193b0a9379cff3214bd0a1f2c6f5fbbe30cd071b8ec930184c',
		standard: '0x015e7436d99515301a772a41afc468e72822c3a193f3c82f2b7f5048ff0f7d99',
	};
	for (const [normalization, root] of Object.entries(expected)) {
		for (const path of [file('x.idx', x), file('x.idx.gz', gzipSync(x))]) {
			const found = await describeDataset(path, { ...options, divisor: 255, normalization });
			assert.equal(found.rows, root, `${path} ${normalization}`);
			assert.deepEqual([found.train_rows, found.validation_rows, found.features, found.classes], [27, 8, 6, 4]);
			assert.deepEqual(found.labels, {
				content_hash: u8aToHex(blake2(y)),
				bytes: y.length,
				location: `${location}/labels`,
			});
		}
	}
	const { spec } = await jobFromFlags({
		...{ data: join(scratch, 'x.idx'), labels, location, 'labels-location': location },
		...{ format: 'idx', 'validation-every': '4', 'feature-divisor': '255' },
	});
	assert.equal(spec.dataset.rows, expected.none);
});
