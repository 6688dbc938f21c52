// The rows of data, as trainers read them: decoded, divided, normalised, and the root by which a
// specification names them. Section 1 of docs/strict-arithmetic.md defines every bit; the Rust
// definitions are in `ml-worker/proof/src/data` and `trainyard-protocol` (rows.rs).

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { u8aToHex } from '@polkadot/util';
import { UserError } from './errors.js';
import { contentHash, rowsRoot } from './hash.js';

const { fround } = Math;
const scratch = new DataView(new ArrayBuffer(8));

/** The content of a file. */
export function fileBytes(path) {
	try {
		return readFileSync(path);
	} catch (error) {
		throw new UserError(`cannot read the data file ${path}: ${error.message}`);
	}
}

/** The bytes of the file of data at `path`, decompressed where it is compressed by gzip. */
export function decompressed(path, bytes) {
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
	try {
		return gunzipSync(bytes);
	} catch (error) {
		throw new UserError(`${path}: its compression by gzip is damaged: ${error.message}`);
	}
}

// ---- Numbers

const DECIMAL = /^([+-]?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d+))?$/i;

/** A decimal number without sign as [numerator, denominator], exact. */
function fractionOf(text) {
	const [, , digits, exponent = '0'] = DECIMAL.exec(text);
	const [whole, rest = ''] = digits.split('.');
	const power = Number(exponent) - rest.length;
	const mantissa = BigInt(`${whole}${rest}`);
	return power >= 0 ? [mantissa * 10n ** BigInt(power), 1n] : [mantissa, 10n ** BigInt(-power)];
}

/** A finite binary64 that is not negative as [numerator, denominator], exact. */
function fractionOfDouble(x) {
	scratch.setFloat64(0, x);
	const bits = scratch.getBigUint64(0);
	const exponent = Number(bits >> 52n);
	const mantissa = (bits & 0xf_ffff_ffff_ffffn) | (exponent > 0 ? 1n << 52n : 0n);
	const power = Math.max(exponent, 1) - 1075;
	return power >= 0 ? [mantissa << BigInt(power), 1n] : [mantissa, 1n << BigInt(-power)];
}

/** The binary32 that is `steps` places above one that is not negative. */
function neighbour(x, steps) {
	scratch.setFloat32(0, x);
	scratch.setUint32(0, scratch.getUint32(0) + steps);
	return scratch.getFloat32(0);
}

/**
 * The binary32 nearest to a decimal number, a tie to the even one; null where `text` is no number
 * or too large.
 *
 * Reading it as binary64 first rounds twice. That goes wrong only where the binary64 lies in the
 * middle between two binary32: there the text itself decides.
 */
export function nearest(text) {
	const parts = DECIMAL.exec(text);
	if (!parts) return null;
	const sign = parts[1] === '-' ? -1 : 1;
	const double = Math.abs(Number(text));
	if (double === Infinity) return null;
	const single = fround(double);
	// Half a place above the largest binary32 is the middle to what would come next, 2^128.
	const value = (x) => (x === Infinity ? 2 ** 128 : x);
	const [low, high] = value(single) > double ? [neighbour(single, -1), single] : [single, neighbour(single, 1)];
	let found = single;
	if (value(single) !== double && double - low === value(high) - double) {
		const [[a, b], [c, d]] = [fractionOf(text), fractionOfDouble(double)];
		if (a * d !== c * b) found = a * d > c * b ? high : low;
	}
	return found === Infinity ? null : sign * found;
}

// ---- Files

/**
 * Rows of a CSV file after its header, label first or last. The label must be a whole number, in any
 * spelling (`1.0e0`).
 */
function fromCsv(path, bytes, { format }) {
	const lines = decompressed(path, bytes)
		.toString('utf8')
		.split(/\r?\n/)
		.filter((line) => line !== '');
	const columns = lines[0]?.split(',').length ?? 0;
	if (lines.length < 3 || columns < 2) {
		throw new UserError(`${path} is not a table: a header line and rows of comma-separated numbers are needed`);
	}
	const [rows, features] = [lines.length - 1, columns - 1];
	const [inputs, labels] = [new Float32Array(rows * features), new Uint32Array(rows)];
	// The same numbers come again and again.
	const known = new Map();
	lines.slice(1).forEach((line, row) => {
		const where = `${path}, line ${row + 2}`;
		const cells = line.split(',').map((cell) => cell.trim());
		if (cells.length !== columns) {
			throw new UserError(`${where}: ${cells.length} columns where the header has ${columns}`);
		}
		const label = format === 'csv_label_first' ? cells.shift() : cells.pop();
		cells.forEach((cell, at) => {
			if (!known.has(cell)) known.set(cell, nearest(cell));
			const number = known.get(cell);
			if (number === null) throw new UserError(`${where}: a cell is not a number: "${cell}"`);
			inputs[row * features + at] = number;
		});
		labels[row] = Number(label);
		if (!DECIMAL.test(label) || labels[row] !== Number(label)) {
			throw new UserError(`${where}: the label ${label} is not a class number 0, 1, 2, …`);
		}
	});
	return { inputs, labels, features, labelsPerRow: 1 };
}

/** Rows of tokens, one for each byte, and the tokens one place further as labels. */
function fromText(path, bytes, { features }) {
	const occurring = [...new Set(bytes)].sort((a, b) => a - b);
	const numbers = new Uint32Array(256);
	occurring.forEach((byte, token) => {
		numbers[byte] = token;
	});
	const rows = Math.max(0, Math.floor((bytes.length - 1) / features));
	const tokens = Uint32Array.from(bytes.subarray(0, rows * features + 1), (byte) => numbers[byte]);
	return {
		inputs: Float32Array.from(tokens.subarray(0, rows * features)),
		labels: tokens.slice(1),
		features,
		labelsPerRow: features,
		classes: Math.max(2, occurring.length),
	};
}

/** Types of numbers of an IDX file, by its third byte: bytes, and how one is read. */
const IDX_TYPES = {
	0x08: [1, 'getUint8'],
	0x09: [1, 'getInt8'],
	0x0b: [2, 'getInt16'],
	0x0c: [4, 'getInt32'],
	0x0d: [4, 'getFloat32'],
	0x0e: [8, 'getFloat64'],
};

/** The array in an IDX file: two zeros, type, number of axes, extents, numbers, all big endian. */
function idxArray(path, packed) {
	const bytes = decompressed(path, packed);
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	const wrong = (what) => new UserError(`${path}: ${what}`);
	if (bytes.length < 4 || view.getUint16(0) !== 0 || !(bytes[2] in IDX_TYPES)) {
		throw wrong('an IDX file begins otherwise');
	}
	const [[size, read], axes] = [IDX_TYPES[bytes[2]], bytes[3]];
	const start = 4 + 4 * axes;
	if (axes === 0 || bytes.length < start) throw wrong('the extents of its array are missing');
	const shape = Array.from({ length: axes }, (_, axis) => view.getUint32(4 + 4 * axis));
	const count = shape.reduce((product, extent) => product * extent, 1);
	if (bytes.length !== start + count * size) throw wrong(`its array ${shape} is not as long as it says`);
	const number = (_, at) => view[read](start + at * size);
	return { shape, numbers: Float64Array.from({ length: count }, number) };
}

/** Rows of two IDX files: inputs [rows, ..] and labels [rows]. */
function fromIdx(path, bytes, { labelsPath, labelBytes }) {
	if (!labelBytes) throw new UserError(`${path}: the format idx keeps its labels in a file of their own`);
	const [x, y] = [idxArray(path, bytes), idxArray(labelsPath, labelBytes)];
	const features = x.numbers.length / x.shape[0];
	if (x.shape.length < 2 || y.shape.length !== 1 || y.shape[0] !== x.shape[0] || !(features > 0)) {
		throw new UserError(`${path}: inputs ${x.shape} and labels ${y.shape} are not rows and their labels`);
	}
	const [inputs, labels] = [Float32Array.from(x.numbers), Uint32Array.from(y.numbers)];
	if (!inputs.every(Number.isFinite)) throw new UserError(`${path}: it holds a number that is not finite`);
	if (labels.some((label, row) => label !== y.numbers[row])) {
		throw new UserError(`${labelsPath}: a label is not a class number 0, 1, 2, …`);
	}
	return { inputs, labels, features, labelsPerRow: 1 };
}

// ---- What is made of the numbers

/** The sum of binary32 numbers in blocks of 1,024 and 16 lanes, then of the blocks' sums. */
export function strictSum(terms) {
	if (terms.length === 0) return 0;
	let level = terms;
	do {
		const sums = new Float32Array(Math.ceil(level.length / 1024));
		for (let block = 0; block < sums.length; block++) {
			const lanes = new Float32Array(16);
			const end = Math.min(level.length, (block + 1) * 1024);
			for (let i = block * 1024; i < end; i++) lanes[i % 16] += level[i];
			for (let width = 8; width >= 1; width /= 2) {
				for (let lane = 0; lane < width; lane++) lanes[lane] += lanes[lane + width];
			}
			sums[block] = lanes[0];
		}
		level = sums;
	} while (level.length > 1);
	return level[0];
}

/** Mean and standard deviation of a column over the training rows; 1 for the latter where it does not vary. */
function measure(inputs, features, feature) {
	const column = Float32Array.from({ length: inputs.length / features }, (_, row) => inputs[row * features + feature]);
	const rows = fround(column.length);
	const mean = fround(strictSum(column) / rows);
	const squares = column.map((x) => {
		const difference = fround(x - mean);
		return difference * difference;
	});
	const deviation = fround(Math.sqrt(fround(strictSum(squares) / rows)));
	const steady = column.every((x) => x === column[0]) || deviation === 0;
	return { mean, deviation: steady ? 1 : deviation };
}

/** Normalises both tables by mean and deviation of each feature over the training rows. */
function normalize(path, train, validation, features) {
	for (let feature = 0; feature < features; feature++) {
		const { mean, deviation } = measure(train, features, feature);
		for (const inputs of [train, validation]) {
			for (let at = feature; at < inputs.length; at += features) {
				inputs[at] = fround(inputs[at] - mean) / deviation;
				if (!Number.isFinite(inputs[at])) {
					throw new UserError(`${path}: feature ${feature} (from 0) is not finite when it is normalised`);
				}
			}
		}
	}
}

/** Training rows and validation rows of a flat array with `width` numbers in a row. */
function split(all, width, every) {
	const rows = all.length / width;
	const validating = Math.floor(rows / every);
	const parts = [new all.constructor((rows - validating) * width), new all.constructor(validating * width)];
	const filled = [0, 0];
	for (let row = 0; row < rows; row++) {
		const part = row % every === every - 1 ? 1 : 0;
		parts[part].set(all.subarray(row * width, (row + 1) * width), filled[part]);
		filled[part] += width;
	}
	return parts;
}

/** Numbers of 32 bits as bytes, little endian. */
function wordBytes(numbers) {
	const view = new DataView(new ArrayBuffer(numbers.length * 4));
	const write = numbers instanceof Float32Array ? 'setFloat32' : 'setUint32';
	numbers.forEach((number, at) => view[write](at * 4, number, true));
	return new Uint8Array(view.buffer);
}

const READERS = { csv_label_last: fromCsv, csv_label_first: fromCsv, text: fromText, idx: fromIdx };

/** Whether rows of this format are read here. */
export const isRead = (format) => Object.hasOwn(READERS, format);

/**
 * Decodes the rows of the file at `path`, whose content is `bytes`. `how` has the format; of text the
 * features, which are the context; and of IDX `labelsPath` and `labelBytes`. Returns inputs and labels
 * of all rows, row major, `features`, `labelsPerRow`, and the least number of `classes`.
 */
export function decodeRows(path, bytes, how) {
	const rows = READERS[how.format](path, bytes, how);
	const classes = rows.classes ?? rows.labels.reduce((most, label) => Math.max(most, label + 1), 2);
	return { ...rows, classes };
}

/**
 * What a specification says of decoded rows, of which one in `every` validates and whose inputs are
 * divided and normalised: how many train and validate, and the rows root.
 */
export function describeRows(path, { inputs, labels, features, labelsPerRow }, { every, divisor, normalization }) {
	const by = fround(divisor);
	const [train, validation] = split(
		inputs.map((x) => x / by),
		features,
		every,
	);
	const [trainLabels, validationLabels] = split(labels, labelsPerRow, every);
	if (normalization === 'standard') normalize(path, train, validation, features);
	const [trainRows, validationRows] = [train.length / features, validation.length / features];
	const contents = [train, trainLabels, validation, validationLabels].map((all) => contentHash(wordBytes(all)));
	const root = rowsRoot({ trainRows, validationRows, features, labelsPerRow, contents });
	return { train_rows: trainRows, validation_rows: validationRows, rows: u8aToHex(root) };
}
