// Files of data: what each format holds, and that nothing is read which a trainer refuses. The same cases as
// in the worker's tests, `ml-worker/proof/src/data/tests`; tools/cross-check/rows_elsewhere.py compares the
// roots of many more files with those of worker and NumPy.

import assert from 'node:assert/strict';
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { KINDS, faultOfLabel } from '../src/data/number.js';
import { parseHeader } from '../src/data/numpy.js';
import { strictJson } from '../src/data/safetensors.js';
import { Source, crc32 } from '../src/data/source.js';
import { Table } from '../src/data/table.js';
import { contentHash } from '../src/hash.js';
import { describeRows } from '../src/rows.js';
import { describeDataset } from '../src/spec.js';

const scratch = mkdtempSync(join(tmpdir(), 'trainyard-'));
const file = (name, bytes) => {
	const path = join(scratch, name);
	writeFileSync(path, bytes);
	return path;
};

// ---- Files

const le = (number, bytes) => {
	const view = Buffer.alloc(8);
	view.writeBigUInt64LE(BigInt(number));
	return view.subarray(0, bytes);
};

/** Numbers as bytes of a type that a NumPy header names. */
function encode(descr, numbers) {
	const [order, kind, size] = [descr[0], descr[1], Number(descr[2])];
	const one = (number) => {
		const bytes = Buffer.alloc(8);
		if (kind === 'f' && size === 4) bytes.writeFloatLE(number);
		else if (kind === 'f') bytes.writeDoubleLE(number);
		else bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(number)));
		return order === '>' ? bytes.subarray(0, size).reverse() : bytes.subarray(0, size);
	};
	return Buffer.concat(numbers.map(one));
}

const range = (count, value = (i) => i) => Array.from({ length: count }, (_, i) => value(i));

const npyOf = (header, data, version = 1) =>
	Buffer.concat([
		...[
			Buffer.from('\x93NUMPY', 'latin1'),
			Buffer.of(version, 0),
			le(Buffer.byteLength(header), version === 1 ? 2 : 4),
		],
		...[Buffer.from(header), data],
	]);
const npy = (descr, shape, numbers) =>
	npyOf(
		`{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.map((n) => `${n},`).join('')}), }\n`,
		encode(descr, numbers),
	);

/** A ZIP archive of these entries, stored or deflated; `large` says their sizes in the fields for large ones. */
function zip(entries, { deflated = false, large = false, method = deflated ? 8 : 0, flags = 0 } = {}) {
	const [files, listed] = [[], []];
	let at = 0;
	for (const [name, bytes] of entries) {
		const packed = deflated ? deflateRawSync(bytes) : bytes;
		const sizes = [packed.length, bytes.length].map((size) => le(large ? 0xffff_ffff : size, 4));
		const extra = large
			? Buffer.concat([le(1, 2), le(16, 2), le(bytes.length, 8), le(packed.length, 8)])
			: Buffer.alloc(0);
		const common = Buffer.concat([
			...[le(20, 2), le(flags, 2), le(method, 2), le(0, 4), le(crc32(bytes), 4), ...sizes],
			...[le(name.length, 2), le(extra.length, 2)],
		]);
		const tail = [le(0, 2), le(0, 2), le(0, 2), le(0, 4), le(at, 4)];
		listed.push(Buffer.from('PK\x01\x02'), le(20, 2), common, ...tail, Buffer.from(name), extra);
		const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), extra, packed]);
		files.push(local);
		at += local.length;
	}
	const directory = Buffer.concat(listed);
	const count = [le(entries.length, 2), le(entries.length, 2)];
	const end = [Buffer.from('PK\x05\x06'), le(0, 4), ...count, le(directory.length, 4), le(at, 4), le(0, 2)];
	return Buffer.concat([...files, directory, ...end]);
}

const safetensorsOf = (header, data = Buffer.alloc(0)) =>
	Buffer.concat([le(Buffer.byteLength(header), 8), Buffer.from(header), data]);

/** A safetensors file of [name, dtype, shape, bytes]. */
function safetensors(tensors) {
	let at = 0;
	const header = tensors.map(([name, dtype, shape, bytes]) => {
		const begin = at;
		at += bytes.length;
		return [name, { dtype, shape, data_offsets: [begin, at] }];
	});
	return safetensorsOf(
		JSON.stringify(Object.fromEntries(header)),
		Buffer.concat(tensors.map(([, , , bytes]) => bytes)),
	);
}

const idx = (type, descr, shape, numbers) =>
	Buffer.concat([Buffer.of(0, 0, type, shape.length), ...shape.map((n) => le(n, 4).reverse()), encode(descr, numbers)]);

/** What the rows in these bytes are. */
const read = (format, bytes, how = {}) => describeRows(file('data', bytes), { format, every: 2, divisor: 1, ...how });

/** Checks that rows in these bytes are refused with words on what is wrong, and where. */
async function refused(format, bytes, what, how = {}) {
	const path = join(scratch, 'data');
	await assert.rejects(read(format, bytes, how), (error) => {
		const message = error.message.replaceAll('\n', ' ');
		assert.equal(error.constructor.name, 'UserError', error.stack);
		assert.ok(message.startsWith(`${path}: `) || how.labelsPath, message);
		assert.match(message, what);
		return true;
	});
}

// ---- What formats hold

test('the same numbers have the same root in every format, type and order of bytes', async () => {
	const [rows, width] = [10, 6];
	const x = range(rows * width, (i) => (i * i) % 101);
	const y = range(rows, (i) => (i * 7) % 3);
	const joined = y.flatMap((label, row) => [...x.slice(row * width, (row + 1) * width), label]);
	const text = `a,b,c,d,e,f,label\n${range(rows, (row) => joined.slice(row * 7, row * 7 + 7).join(',')).join('\n')}`;
	const expected = await read('csv_label_last', text);
	assert.deepEqual([expected.train_rows, expected.validation_rows, expected.features, expected.classes], [5, 5, 6, 3]);
	const same = async (name, format, bytes, how) => assert.deepEqual(await read(format, bytes, how), expected, name);
	await same('CRLF', 'csv_label_last', `${text.replaceAll('\n', '\r\n')}\r\n`);
	await same('gzip', 'csv_label_last', gzipSync(text));
	const plain = text.slice(text.indexOf('\n') + 1);
	await same('no header', 'csv_label_last', plain);
	await same('a byte order mark', 'csv_label_last', `\ufeff${plain}`);
	await same('a byte order mark and a header', 'csv_label_last', `\ufeff${text}`);
	for (const header of ['0,1,2,3,4,5,label', ' ,1,2,3,4,5,6', 'nan,1,2,3,4,5,6', '1,1e39,2,3,4,5,6']) {
		await same(header, 'csv_label_last', `${header}\n${plain}`);
	}
	const [begin, end] = [text.slice(0, 40), text.slice(40)].map((part) => gzipSync(part));
	await same('two streams of gzip', 'csv_label_last', Buffer.concat([begin, gzipSync(''), end]));
	const first = text.replace(/(.*),(.*)/g, (_, row, label) => `${label === 'label' ? label : `${label}.0e0`},${row}`);
	await same('label first', 'csv_label_first', first);
	const shape = [rows, 2, 3];
	for (const kind of Object.keys(KINDS)) {
		for (const order of KINDS[kind].bytes === 1 ? '|<' : '<>') {
			const descr = `${order}${kind}`;
			await same(descr, 'npy', npy(descr, [rows, width + 1], joined));
			const [inputs, labels] = [npy(descr, shape, x), npy(descr, [rows], y)];
			for (const how of [{}, { deflated: true }, { large: true }]) {
				await same(descr, 'npz', zip([...Object.entries({ 'x.npy': inputs, 'y.npy': labels })], how));
				const more = { 'y_test.npy': inputs, 'y_train.npy': labels, 'x_train.npy': inputs };
				await same(descr, 'npz', zip(Object.entries(more), how));
			}
		}
		const dtype = `${kind[0].replace('f', 'F').toUpperCase()}${KINDS[kind].bytes * 8}`;
		const tensors = [
			['y', 'U8', [rows], encode('|u1', y)],
			['between', 'BF16', [3], Buffer.alloc(6)],
			['x', dtype, shape, encode(`<${kind}`, x)],
		];
		await same(dtype, 'safetensors', safetensors(tensors));
	}
	for (const [type, descr] of Object.entries({ 8: '|u1', 9: '|i1', 11: '>i2', 12: '>i4', 13: '>f4', 14: '>f8' })) {
		const labels = idx(Number(type), descr, [rows], y);
		const packed = idx(Number(type), descr, shape, x);
		await same(descr, 'idx', packed, { labelsPath: file('labels', labels) });
		await same(descr, 'idx', gzipSync(packed), { labelsPath: file('labels', gzipSync(labels)) });
	}
});

test('integers of 64 bits become the nearest binary32, ties to even', () => {
	const bytes = (value) => {
		const view = new DataView(new ArrayBuffer(8));
		view.setBigUint64(0, BigInt.asUintN(64, value), true);
		return view;
	};
	const input = (kind, value) => Math.fround(KINDS[kind].input(bytes(value), 0, true));
	// Between 2^60 and 2^61 binary32 counts 2^37; the middle is 2^36 above.
	const [low, middle] = [2n ** 60n, 2n ** 60n + 2n ** 36n];
	for (const [value, expected] of [
		[middle, low],
		[middle + 1n, low + 2n ** 37n],
		[middle - 1n, low],
		[middle + 2n ** 37n, low + 2n ** 38n],
		[middle + 2n ** 37n - 1n, low + 2n ** 37n],
		[2n ** 53n + 1n, 2n ** 53n],
		[16_777_217n, 16_777_216n],
		[16_777_219n, 16_777_220n],
		[0n, 0n],
		[5n, 5n],
	]) {
		assert.equal(input('u8', value), Number(expected), `${value}`);
		assert.equal(input('i8', value), Number(expected), `${value}`);
		assert.equal(input('i8', -value) + 0, -Number(expected) + 0, `-${value}`);
	}
	assert.equal(input('u8', 2n ** 64n - 1n), 2 ** 64);
	assert.equal(input('i8', -(2n ** 63n)), -(2 ** 63));
	assert.ok(Object.is(input('i8', 0n), 0));
	for (const [label, fault] of [
		[0, null],
		[-0, null],
		[65_535n, null],
		[65_536, /at most 65536 classes/],
		[2n ** 40n, /"1099511627776" is not a whole number/],
		[-1n, /"-1" is not/],
		[0.5, /"0\.5" is not/],
		[NaN, /"NaN" is not/],
		[Infinity, /"Infinity" is not/],
	]) {
		if (fault) assert.match(faultOfLabel(label), fault);
		else assert.equal(faultOfLabel(label), null);
	}
});

test('a text becomes tokens', async () => {
	// Space, a, b, d, n; one byte follows the first nine: there are three rows of three, of which one validates.
	const found = await read('text', 'banana band', { context: 3, every: 3, divisor: undefined });
	assert.deepEqual(
		[found.train_rows, found.validation_rows, found.features, found.classes, found.feature_divisor],
		[2, 1, 3, 5, 1],
	);
	await refused('text', 'abc', /it has 0 rows, and one in 2 validates: 2 rows are needed/, { context: 3 });
	await refused('text', 'abcdef', /it has 1 rows/, { context: 3 });
	await refused('text', 'abc', /text has 1 to 65536 features/, { context: 0 });
	await assert.rejects(read('text', 'abc', { context: 1, divisor: 2 }), /text is tokens/);
	await assert.rejects(read('text', 'abc', { context: 1, normalization: 'standard' }), /text is tokens/);
	const path = file('a.txt', 'abc');
	await assert.rejects(describeDataset(path, { location: 'http://x', format: 'text' }), /text needs --features/);
});

test('tables are hashed as one content, however many pieces they have', () => {
	for (const [width, rows] of [
		[1, 600_000],
		[3, 100_000],
		[65_536, 9],
	]) {
		const table = new Table(Uint32Array, width);
		const all = Uint32Array.from({ length: width * rows }, (_, i) => i * 2_654_435_761);
		for (let row = 0; row < rows; row++) table.push(all, row * width);
		assert.equal(table.rows, rows);
		assert.deepEqual(table.contentHash(), contentHash(new Uint8Array(all.buffer)), `${rows} x ${width}`);
		assert.ok([...table.pieces()].length > 1);
	}
	assert.deepEqual(new Table(Float32Array, 2).contentHash(), contentHash(new Uint8Array()));
});

test('bytes are taken off pieces of any length', async () => {
	const source = (...pieces) =>
		new Source(
			(async function* () {
				for (const piece of pieces) yield Buffer.from(piece);
			})(),
		);
	const text = async (bytes) => (await bytes).toString();
	const some = source('ab', '', 'cdef', 'g');
	assert.deepEqual([await text(some.read(1)), await text(some.read(4)), await text(some.read(9))], ['a', 'bcde', 'fg']);
	assert.equal(await text(some.read(1)), '');
	const lines = source('a\nb', 'c', '\n\nlong line', ' here\nend');
	const found = [];
	for (const most of [9, 9, 9, 4, 99, 99, 99]) found.push(await text(lines.line(most)));
	assert.deepEqual(found, ['a\n', 'bc\n', '\n', 'long', ' line here\n', 'end', '']);
	// The check value of CRC-32.
	assert.equal(crc32(Buffer.from('123456789')), 0xcbf43926);
	assert.equal(crc32(Buffer.from('6789'), crc32(Buffer.from('12345'))), 0xcbf43926);
});

// ---- What is refused

test('wrong lines are named', async () => {
	const cases = {
		'': [1, /the file is empty/],
		'label\n': [1, /1 columns; 2 to 65537/],
		'a,label\n1,0\n2\n': [3, /1 columns, but the first line has 2/],
		'a,label\n1,0\n\n2,1\n': [3, /it is empty\. Remove it/],
		'a,label\n1,0\n2,1\n\n': [4, /it is empty/],
		'a,label\n1,0\n2,1\n\r': [4, /it is empty/],
		'a,label\n1,0\n \u00a0\r\n2,1': [3, /it is empty/],
		'a,label\n1,2,0\n': [2, /3 columns/],
		'a,label\nx,0\n': [2, /column 1: "x" is not a finite number/],
		'a,label\n,0\n': [2, /column 1: "" is not/],
		'a,label\n1_0,0\n': [2, /"1_0"/],
		'a,label\n\ufeff1,0\n': [2, /is not a finite number/],
		'a,label\nnan,0\n': [2, /finite/],
		'a,label\ninf,0\n': [2, /finite/],
		'a,label\n1e39,0\n': [2, /finite/],
		'1,0.5\n2,1\n': [1, /label "0\.5"/],
		'1,0\na,label\n': [2, /column 1: "a" is not/],
		'a,label\n1,-1\n': [2, /column 2: the label "-1" is not a whole number/],
		'a,label\n1,0.5\n': [2, /label "0\.5"/],
		'a,label\n1,nan\n': [2, /label "nan"/],
		'a,label\n1,1e10\n': [2, /label "1e10"/],
		'a,label\n1,65536\n': [2, /label 65536: at most 65536 classes/],
		'a,label\n1,6.5536e4\n': [2, /label 65536/],
		'a,label\n1,\n': [2, /label ""/],
		[`a,label\n1,0\n2,${' '.repeat(200)}1\n`]: [3, /longer than 128 bytes/],
		[`a,label${' '.repeat(200)}\n1,0\n`]: [1, /longer than 128 bytes/],
	};
	for (const [text, [line, what]] of Object.entries(cases)) {
		for (const bytes of [Buffer.from(text), gzipSync(text)]) {
			await refused('csv_label_last', bytes, new RegExp(`: line ${line}: .*${what.source}`));
		}
	}
	await refused('csv_label_last', Buffer.from('a,label\n1,0\n\xff,0\n', 'latin1'), /line 3: it is not UTF-8/);
	// A line may have 64 bytes for each number, the file 32 and 1 MiB.
	const padded = `a,label\n${`${' '.repeat(124)}1,0\n`.repeat(20_000)}`;
	await refused(
		'csv_label_last',
		gzipSync(padded),
		/more than 2328640 bytes once decompressed, .* 20000 rows of 1 inputs/,
	);
	const allowed = `a,label\n${`${' '.repeat(124)}1,0\n`.repeat(2_000)}`;
	assert.equal((await read('csv_label_last', allowed)).train_rows, 1_000);
});

test('damaged gzip is named', async () => {
	const text = `a,label\n${range(400, (i) => `${(i * i) % 97},${i % 3}\n`).join('')}`;
	const whole = gzipSync(text);
	for (const cut of [3, 9, 12, whole.length >> 1, whole.length - 9, whole.length - 1]) {
		await refused('csv_label_last', whole.subarray(0, cut), /it ends too early: the file was cut or damaged/);
	}
	const changed = (at, byte) => Buffer.concat([whole.subarray(0, at), Buffer.of(byte), whole.subarray(at + 1)]);
	await refused('csv_label_last', changed(whole.length - 6, whole.at(-6) ^ 1), /checksum of its compressed bytes/);
	await refused('csv_label_last', changed(whole.length - 1, 9), /checksum of its compressed bytes/);
	await refused('csv_label_last', changed(2, 7), /does not begin as gzip does/);
	await refused('csv_label_last', changed(3, 0x20), /does not begin as gzip does/);
	await refused('csv_label_last', changed(10, 7), /its compression is wrong/);
	// What Node.js itself would take.
	for (const leftover of [[0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0x1f, 0x8b], [1, 2, 3]]) {
		await refused(
			'csv_label_last',
			Buffer.concat([whole, Buffer.from(leftover)]),
			/does not begin as gzip|ends too early/,
		);
	}
	// A header with everything that it may have.
	const expected = await read('csv_label_last', text);
	const begin = Buffer.concat([
		...[Buffer.of(0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3), le(600, 2), Buffer.alloc(600, 7)],
		Buffer.from('a name\0a comment\0'),
	]);
	const withHeader = (crc) => Buffer.concat([begin, le(crc & 0xffff, 2), whole.subarray(10)]);
	assert.deepEqual(await read('csv_label_last', withHeader(crc32(begin))), expected);
	await refused('csv_label_last', withHeader(crc32(begin) + 1), /checksum of its header/);
	const named = (length) =>
		Buffer.concat([
			Buffer.of(0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3),
			Buffer.alloc(length, 65),
			le(0, 1),
			whole.subarray(10),
		]);
	assert.deepEqual(await read('csv_label_last', named(65_535)), expected);
	await refused('csv_label_last', named(65_536), /a name in it is too long/);
});

test('headers of NumPy are read in every spelling, and wrong ones are named', async () => {
	const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
	assert.deepEqual(parseHeader(`${good}   \n`), { kind: 'f4', little: true, shape: [3, 4] });
	assert.deepEqual(parseHeader('{"shape":(7,),"descr":">i8","fortran_order":True}'), {
		...{ kind: 'i8', little: false, shape: [7] },
	});
	assert.deepEqual(parseHeader("{'descr': '<u8', 'fortran_order': False, 'shape': ()}").shape, []);
	for (const [from, to, what] of [
		['<f4', '<f2', /"<f2"; integers of 8/],
		['<f4', '|f4', /"\|f4"/],
		['<f4', '=f4', /"=f4"/],
		['<f4', '<c8', /"<c8"/],
		['<f4', '|O', /"\|O"/],
		['<f4', '|b1', /"\|b1"/],
		['<f4', '', /""/],
		['<f4', '<', /"<"/],
		['<f4', '<constructor', /"<constructor"/],
		["'<f4'", "[('a', '<f4')]", /records/],
		['False', 'True', /ascontiguousarray/],
		['False', '0', /"False" was expected/],
		['(3, 4)', '(3, -4)', /"" is not an extent/],
		['(3, 4)', '(3, 99999999999999999999)', /is not an extent/],
		['(3, 4)', '(3, 4', /"" is not an extent/],
		['(3, 4)', '[3, 4]', /"\(" was expected/],
		['shape', 'shapes', /no key "shapes"/],
		["'shape': (3, 4), ", '', /lacks/],
		["'shape'", "'descr': '<f4', 'shape'", /twice/],
		['}', '} x', /behind/],
		['{', '', /"\{" was expected/],
		['(3, 4)', `(${'1, '.repeat(65)})`, /more than 64 dimensions/],
	]) {
		assert.throws(() => parseHeader(good.replace(from, to)), what, to);
	}
	const whole = npy('<f4', [4, 3], range(12));
	const wrong = (bytes, what) => refused('npy', bytes, what);
	await wrong(npyOf(good, Buffer.alloc(48), 4), /version 4/);
	await wrong(Buffer.from('\x93NUMPX\x01\0\0\0', 'latin1'), /no NumPy array/);
	await wrong(npyOf(`${good}${' '.repeat(70_000)}`, Buffer.alloc(48), 2), /its header has 70059 bytes; at most 65536/);
	await wrong(npyOf(`${good}\xa0é`, Buffer.alloc(48)), /behind/);
	await wrong(npyOf(Buffer.of(0x7b, 0xe9), Buffer.alloc(0)), /its header cannot be used: it is not UTF-8/);
	await wrong(whole.subarray(0, 7), /ends too early/);
	await wrong(whole.subarray(0, 30), /ends too early/);
	await wrong(whole.subarray(0, whole.length - 1), /but 47 bytes follow/);
	await wrong(Buffer.concat([whole, Buffer.of(1)]), /49 bytes follow: the file was cut or damaged/);
	await wrong(npy('<f4', [12], range(12)), /its shape is \[12\]/);
	await wrong(npy('<f4', [], [1]), /a single number/);
	await wrong(npy('<f4', [6, 1], range(6)), /it must be \[rows, features \+ 1\]/);
	await wrong(npy('<f4', [2, 2, 3], range(12)), /it must be \[rows, features \+ 1\]/);
	await wrong(npy('<f4', [3, 0], []), /a row, which is all dimensions but the first, has 1 to 65536/);
	await wrong(npy('<f4', [0, 3], []), /it has 0 rows/);
	await wrong(
		npy(
			'|u1',
			[2, 65_538],
			range(2 * 65_538, () => 0),
		),
		/has 1 to 65536/,
	);
	await wrong(
		npy('<f4', [4, 3], [...range(4), NaN, ...range(7)]),
		/row 1 \(from 0\): input 1 \(from 0\) is not a finite/,
	);
	await wrong(npy('<f8', [4, 3], [...range(6), -3.5e38, ...range(5)]), /row 2 \(from 0\): input 0/);
	await wrong(npy('<f4', [4, 3], [...range(8), 0.5, ...range(3)]), /row 2 \(from 0\): the label "0\.5" is not a whole/);
	await wrong(
		npy(
			'|i1',
			[4, 3],
			range(12, (i) => (i === 5 ? -1 : 1)),
		),
		/row 1 \(from 0\): the label "-1"/,
	);
	await wrong(
		npy(
			'<u4',
			[4, 3],
			range(12, (i) => i * 8_000),
		),
		/row 3 \(from 0\): label 88000: at most 65536 classes/,
	);
});

test('wrong archives are named', async () => {
	const entries = () => [
		['x.npy', npy('<f4', [4, 3], range(12))],
		['y.npy', npy('|u1', [4], [0, 1, 2, 0])],
	];
	const good = zip(entries());
	assert.equal((await read('npz', good)).classes, 3);
	const wrong = (bytes, what) => refused('npz', bytes, what);
	const withEntry = (name, bytes) => zip(entries().map((entry) => (entry[0] === name ? [name, bytes] : entry)));
	await wrong(good.subarray(0, 10), /no archive: it is too short/);
	await wrong(good.subarray(0, good.length - 1), /no archive \(npz\), was cut, or has a comment/);
	await wrong(Buffer.concat([good, Buffer.of(0)]), /was cut, or has a comment/);
	await wrong(good.subarray(1), /its directory is damaged/);
	await wrong(zip([...entries(), entries()[0]]), /two entries are called x\.npy/);
	await wrong(zip(entries().slice(1)), /it has no entry x\.npy/);
	await wrong(zip([['a.npy', Buffer.of(1)]]), /no array x and y, or x_train and y_train; .* first entries: a\.npy/);
	await wrong(zip([]), /no array x and y/);
	await wrong(zip(entries(), { method: 9 }), /x\.npy: it is compressed by method 9/);
	await wrong(zip(entries(), { flags: 1 }), /x\.npy: it is encrypted/);
	await wrong(
		withEntry('y.npy', npy('|u1', [3], [0, 1, 2])),
		/y\.npy: it holds 3 labels, but .*data \(x\.npy\) has 4 rows/,
	);
	await wrong(withEntry('x.npy', npy('<f4', [4], range(4))), /x\.npy: its shape is \[4\], which labels have/);
	await wrong(withEntry('y.npy', npy('|u1', [4, 1], range(4))), /y\.npy: its shape is \[4, 1\]; labels are \[rows\]/);
	await wrong(
		withEntry(
			'x.npy',
			npy(
				'|u1',
				[4, 65_537],
				range(4 * 65_537, () => 0),
			),
		),
		/65537 inputs; at most 65536/,
	);
	await wrong(withEntry('x.npy', Buffer.from('nothing')), /x\.npy: it ends too early/);
	const at = (bytes, mark, plus, byte) => {
		const changed = Buffer.from(bytes);
		changed[changed.lastIndexOf(mark) + plus] = byte;
		return changed;
	};
	// A number of the last row, and then the checksum of the second entry in the directory.
	const number = Buffer.from(encode('<f4', [11]));
	await wrong(at(good, number, 0, 1), /x\.npy: the entry's checksum is wrong: the file was cut or damaged/);
	await wrong(at(good, 'PK\x01\x02', 16, 77), /y\.npy: the entry's checksum is wrong/);
	await wrong(at(good, 'PK\x01\x02', 42, 77), /y\.npy: it does not lie where the directory says/);
	await wrong(at(good, 'PK\x03\x04', 30, 77), /y\.npy: it does not lie where the directory says/);
	await wrong(at(good, 'PK\x01\x02', 0, 77), /an entry does not end/);
	await wrong(at(good, 'PK\x05\x06', 8, 1), /its directory is damaged/);
	const one = at(at(good, 'PK\x05\x06', 8, 1), 'PK\x05\x06', 10, 1);
	await wrong(one, /its directory is damaged: it is longer than its entries/);
	// More than the directory says, and less.
	const deflated = zip(entries(), { deflated: true });
	const { length } = entries()[1][1];
	await wrong(at(deflated, 'PK\x01\x02', 24, length + 1), /y\.npy: .* but 5 bytes follow/);
	await wrong(at(deflated, 'PK\x01\x02', 24, length - 1), /y\.npy: the entry is longer than the archive's directory/);
	// Four labels in the header of `y`, of which three are stored, and a directory that says four.
	const few = at(withEntry('y.npy', entries()[1][1].subarray(0, length - 1)), 'PK\x01\x02', 24, length);
	await wrong(few, /y\.npy: the entry is shorter than the archive's directory says/);
	const packed = deflateRawSync(entries()[1][1]).length;
	await wrong(at(deflated, 'PK\x01\x02', 20, packed - 3), /y\.npy: it ends too early/);
});

test('wrong safetensors are named', async () => {
	const x = () => ['x', 'F32', [2, 2], encode('<f4', range(4))];
	const y = () => ['y', 'I64', [2], encode('<i8', range(2))];
	const good = safetensors([x(), y()]);
	assert.equal((await read('safetensors', good)).train_rows, 1);
	const long = Buffer.from(good);
	long.writeBigUInt64LE(1n << 60n);
	const noJson = Buffer.from(good);
	noJson[8] = 120;
	for (const [bytes, what] of [
		[good.subarray(0, 5), /ends too early/],
		[good.subarray(0, good.length - 1), /32 bytes of tensors, but 31 follow/],
		[Buffer.concat([good, Buffer.of(1)]), /but 33 follow/],
		[long, /its header has 1152921504606846976 bytes/],
		[noJson, /not one of a safetensors file/],
		[safetensors([['a', 'F32', [2, 2], encode('<f4', range(4))], y()]), /no tensor "x"; .*tensors: a, y/],
		[safetensors([['x', 'BF16', [2, 2], Buffer.alloc(8)], y()]), /x: its numbers are BF16; integers of 8/],
		[safetensors([['x', 'F16', [2, 2], Buffer.alloc(8)], y()]), /x: its numbers are F16/],
		[safetensors([['x', 'F7', [2, 2], Buffer.alloc(8)], y()]), /unknown type F7/],
		[safetensors([['x', 'F32', [2, 3], encode('<f4', range(4))], y()]), /"x" is not as long as its shape says/],
		[safetensors([x(), ['y', 'I64', [3], encode('<i8', range(3))]]), /y: it holds 3 labels/],
		[safetensors([x(), ['y', 'I8', [2], Buffer.of(0, 255)]]), /y: row 1 \(from 0\): the label "-1"/],
		[safetensors([['x', 'F64', [2, 1], encode('<f8', [1, Infinity])], y()]), /x: row 1 \(from 0\): input 0/],
		[safetensorsOf('{"x":{"dtype":"U8","shape":[1,1],"data_offsets":[1,2]}}', Buffer.alloc(2)), /does not begin where/],
		[
			safetensorsOf('{"x":{"dtype":"U8","shape":[9007199254740991,9],"data_offsets":[0,1]}}', Buffer.of(0)),
			/too large/,
		],
		[
			safetensorsOf('{"x":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}', Buffer.of(0)),
			/1\.0 is not a whole number/,
		],
		[safetensorsOf('{"x":{"dtype":"U8","shape":[1]}}'), /"x" lacks dtype, shape or data_offsets/],
		[safetensorsOf('{"x":3}'), /"x" lacks dtype/],
		[safetensorsOf('[]'), /no object of tensors/],
		[safetensorsOf('{"__metadata__":{"a":1}}'), /no object of texts/],
		[safetensorsOf('{"__proto__":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'), /no tensor "x"/],
	]) {
		await refused('safetensors', bytes, what);
	}
	const end = 8 + good.readUInt32LE();
	const notes = `{"__metadata__":{"é \\"{[:,":"1, 2.5, {"},${good.toString('utf8', 9, end)}   `;
	const annotated = safetensorsOf(notes, good.subarray(end));
	assert.deepEqual(await read('safetensors', annotated), await read('safetensors', good));
	assert.deepEqual(strictJson('{"a":{"a":[1,2,[]],"b":"a"},"b":null}'), { a: { a: [1, 2, []], b: 'a' }, b: null });
	for (const [text, what] of [
		['{"a":1,"a":1}', /"a" stands twice/],
		['{"a":1,"\\u0061":2}', /stands twice/],
		['{"a":{"b":1,"c":[{"b":1}],"b":2}}', /"b" stands twice/],
		['{"a":1.5}', /1\.5 is not a whole number/],
		['{"a":-1}', /-1 is not/],
		['{"a":1e3}', /1e3 is not/],
		['{"a":9007199254740992}', /9007199254740992 is not/],
		['{"a":"\\ud800"}', /whole characters/],
		['{"a":1', /JSON/],
	]) {
		assert.throws(() => strictJson(text), what, text);
	}
});

test('wrong IDX files are named', async () => {
	const [x, y] = [idx(8, '|u1', [4, 2], range(8)), idx(8, '|u1', [4], [0, 1, 2, 0])];
	const wrong = (bytes, labels, what) => refused('idx', bytes, what, { labelsPath: file('labels', labels) });
	await wrong(x.subarray(0, 3), y, /data: it ends too early/);
	await wrong(x.subarray(0, 9), y, /data: it ends too early/);
	await wrong(x.subarray(0, 15), y, /data: an array of \[4, 2\] .* but 3 bytes follow/);
	await wrong(gzipSync(x.subarray(0, 15)), y, /it ends in row 1 \(from 0\) of the 4 .* it was cut/);
	await wrong(gzipSync(Buffer.concat([x, Buffer.of(1)])), y, /shape \[4, 2\], but more numbers follow/);
	await wrong(x, gzipSync(Buffer.concat([y, Buffer.of(1)])), /labels: its header says shape \[4\], but more numbers/);
	await wrong(Buffer.from('a,b\n1,2\n'), y, /begin with two zero bytes/);
	await wrong(Buffer.of(0, 0, 7, 1, 0, 0, 0, 0), y, /no type of numbers 0x07/);
	await wrong(Buffer.of(0, 0, 8, 0, 1), y, /a single number/);
	await wrong(y, y, /data: its shape is \[4\], which labels have/);
	await wrong(x, x, /labels: its shape is \[4, 2\]; labels are/);
	await wrong(
		x,
		idx(8, '|u1', [3], range(3)),
		/labels: it holds 3 labels, but .*data has 4 rows; use files that belong/,
	);
	await wrong(x, idx(9, '|i1', [4], [0, -1, 1, 2]), /labels: row 1 \(from 0\): the label "-1"/);
	await wrong(x, idx(14, '>f8', [4], [0, 0.25, 1, 2]), /labels: row 1 \(from 0\): the label "0\.25"/);
	await assert.rejects(read('idx', x), /the format idx, and no other, .* --labels FILE/);
	await assert.rejects(read('npy', x, { labelsPath: file('labels', y) }), /the format idx, and no other/);
	await assert.rejects(
		read('idx', x, { labelsPath: join(scratch, 'none') }),
		/cannot read the data file .*none: ENOENT/,
	);
});

test('numbers that leave the finite ones are named', async () => {
	const table = (rows) => `a,b,label\n${rows.map((row) => `${row},0\n`).join('')}`;
	const standard = { normalization: 'standard' };
	await refused(
		'csv_label_last',
		table(['0,3e38', '0,0', '1,3e38', '0,0']),
		/feature 1 \(from 0\) .* feature_divisor/,
		standard,
	);
	await refused('csv_label_last', table(['0,1e-20', '0,3e38', '0,2e-20', '0,0']), /feature 1 \(from 0\)/, standard);
	await refused('csv_label_last', table(['1e30,0', '1,2']), /no feature_divisor is as large as its largest input/, {
		divisor: undefined,
	});
	const only = await read('csv_label_last', table(['-3,-1', '-2,-5']), { divisor: undefined });
	assert.equal(only.feature_divisor, 1, 'inputs of which none is above 1 are not divided');
});

test('files that no job may have are refused before they are read', async () => {
	const options = { location: 'http://x', format: 'npy' };
	await assert.rejects(describeDataset(file('empty.npy', ''), options), /empty\.npy: the file is empty/);
	const vast = file('vast.npy', '');
	// A file of one hole takes no room.
	truncateSync(vast, 2 ** 31 + 1);
	await assert.rejects(
		describeDataset(vast, options),
		/vast\.npy: it has 2147483649 bytes; .* at most 2147483648 \(2 GiB\)/,
	);
	await assert.rejects(describeDataset(scratch, options), /cannot read the data file .*EISDIR/);
	await assert.rejects(describeDataset(join(scratch, 'none'), options), /cannot read the data file .*ENOENT/);
});

test('Parquet is not read here, which is said', async () => {
	for (const format of ['parquet', 'parquet_label_first']) {
		const options = { location: 'http://x', format };
		await assert.rejects(
			describeDataset(file('a.parquet', 'PAR1'), options),
			/a\.parquet: this package does not read Parquet\. trainyard estimate/,
		);
	}
});
