// IDX files, as of MNIST (LeCun, Cortes and Burges 1998): two zero bytes, the type of the numbers, how
// many dimensions, the extents as big-endian u32, and the numbers, big endian.

import { NumberArray, pair } from './array.js';
import { DAMAGED, Source, maybeGunzipped, wrong } from './source.js';

/** Types of numbers, by the third byte. */
const TYPES = { 0x08: 'u1', 0x09: 'i1', 0x0b: 'i2', 0x0c: 'i4', 0x0d: 'f4', 0x0e: 'f8' };

async function array(path) {
	const { bytes, length } = await maybeGunzipped(path);
	const source = new Source(bytes);
	try {
		const read = async (count) => {
			const found = await source.read(count);
			if (found.length < count) throw wrong(path, null, `it ends too early: ${DAMAGED}`);
			return found;
		};
		const [zero, zeroToo, type, dimensions] = await read(4);
		if (zero !== 0 || zeroToo !== 0) {
			throw wrong(path, null, 'it is no IDX file: those begin with two zero bytes');
		}
		if (!(type in TYPES)) {
			const hex = `0x${type.toString(16).padStart(2, '0')}`;
			throw wrong(path, null, `it is no IDX file: there is no type of numbers ${hex}`);
		}
		const extents = await read(4 * dimensions);
		const shape = Array.from({ length: dimensions }, (_, axis) => extents.readUInt32BE(4 * axis));
		const left = length === null ? null : length - 4 - 4 * dimensions;
		return new NumberArray({ path, kind: TYPES[type], little: false, shape, length: left, source });
	} catch (error) {
		await source.close();
		throw error;
	}
}

/** Rows of two IDX files: inputs `[rows, ..]` and labels `[rows]`. Each may be compressed by gzip. */
export async function openIdx(path, { labelsPath }) {
	const x = await array(path);
	try {
		return pair(x, await array(labelsPath));
	} catch (error) {
		await x.close();
		throw error;
	}
}
