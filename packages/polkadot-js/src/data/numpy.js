// NumPy's files: arrays (`.npy`, format versions 1 to 3) and archives of them (`.npz`). An array is the
// magic bytes `\x93NUMPY`, two bytes of version, the length of the header, the header, which is a Python
// dictionary with the keys `descr`, `fortran_order` and `shape`, and the numbers.

import { isUtf8 } from 'node:buffer';
import { NumberArray, joined, pair } from './array.js';
import { KINDS, KINDS_IN_WORDS } from './number.js';
import { DAMAGED, Source, sizeOf, stored, wrong } from './source.js';
import { entryOf, openArchive } from './zip.js';

/** Longest header that is read, in bytes; NumPy itself reads 10,000. */
const MAX_HEADER = 1 << 16;
/** Most dimensions; NumPy has no more. */
const MAX_DIMENSIONS = 64;
/** Names of the arrays of inputs and labels in an archive; the first that is there counts. */
const NAMES = [
	['x.npy', 'y.npy'],
	['x_train.npy', 'y_train.npy'],
];

/** Says what is wrong with a header; whoever knows the file says which. */
class HeaderFault extends Error {}

/** Reads the dictionary of a header. */
class Parser {
	constructor(text) {
		this.rest = text;
	}

	/** Takes spaces and then `mark` off; returns whether the mark was there. */
	take(mark) {
		this.rest = this.rest.replace(/^\p{White_Space}+/u, '');
		if (!this.rest.startsWith(mark)) return false;
		this.rest = this.rest.slice(mark.length);
		return true;
	}

	expect(mark) {
		if (this.take(mark)) return;
		const found = [...this.rest].slice(0, 20).join('');
		throw new HeaderFault(`"${mark}" was expected where it says "${found}"`);
	}

	/** A string without escapes. */
	text() {
		const quote = this.take('"') ? '"' : "'";
		if (quote === "'") this.expect(quote);
		const end = this.rest.indexOf(quote);
		if (end < 0) throw new HeaderFault('a text does not end');
		const text = this.rest.slice(0, end);
		this.rest = this.rest.slice(end + 1);
		return text;
	}

	shape() {
		this.expect('(');
		const shape = [];
		while (!this.take(')')) {
			const [digits] = /^[0-9]*/.exec(this.rest);
			this.rest = this.rest.slice(digits.length);
			if (digits === '' || BigInt(digits) >= 1n << 64n) throw new HeaderFault(`"${digits}" is not an extent`);
			// One that is too large to be exact is none that a file has.
			shape.push(Number(digits));
			if (shape.length > MAX_DIMENSIONS) throw new HeaderFault(`it has more than ${MAX_DIMENSIONS} dimensions`);
			if (!this.take(',')) {
				this.expect(')');
				break;
			}
		}
		return shape;
	}

	/** A type of numbers: `'<f4'`. */
	element() {
		this.take('');
		if (this.rest.startsWith('[')) throw new HeaderFault(`its rows are records; ${KINDS_IN_WORDS} can be read`);
		const text = this.text();
		const [order, kind] = [text.slice(0, 1), text.slice(1)];
		const known = Object.hasOwn(KINDS, kind) && '<>|'.includes(order) && (order !== '|' || KINDS[kind].bytes === 1);
		if (order === '' || !known) throw new HeaderFault(`its numbers are "${text}"; ${KINDS_IN_WORDS} can be read`);
		return { kind, little: order !== '>' };
	}

	fortran() {
		if (this.take('True')) return true;
		this.expect('False');
		return false;
	}

	/** The whole header: `kind`, `little` and `shape`. */
	header() {
		const found = new Map();
		const keys = new Map([
			['descr', () => this.element()],
			['shape', () => this.shape()],
			['fortran_order', () => this.fortran()],
		]);
		this.expect('{');
		while (!this.take('}')) {
			const key = this.text();
			this.expect(':');
			if (!keys.has(key) || found.has(key)) {
				throw new HeaderFault(`there is no key "${key}", or it stands twice`);
			}
			found.set(key, keys.get(key)());
			if (!this.take(',')) {
				this.expect('}');
				break;
			}
		}
		this.take('');
		if (this.rest !== '') throw new HeaderFault('something stands behind the dictionary');
		if (found.size < keys.size) throw new HeaderFault('it lacks descr, fortran_order or shape');
		const shape = found.get('shape');
		// In one dimension there is one order.
		if (found.get('fortran_order') && shape.length > 1) {
			throw new HeaderFault('the array is in Fortran order, column by column; save numpy.ascontiguousarray(array)');
		}
		return { ...found.get('descr'), shape };
	}
}

/** What the text of a header says: `kind`, `little` and `shape`; fails with what is wrong with it. */
export const parseHeader = (text) => new Parser(text).header();

/** The array in `bytes`, of which there are `length`. */
async function array(path, part, bytes, length) {
	const source = new Source(bytes);
	try {
		const read = async (count) => {
			const found = await source.read(count);
			if (found.length < count) throw wrong(path, part, `it ends too early: ${DAMAGED}`);
			return found;
		};
		const begin = await read(8);
		if (begin.toString('latin1', 0, 6) !== '\x93NUMPY') {
			throw wrong(path, part, 'it is no NumPy array (npy): those begin with \\x93NUMPY');
		}
		const version = begin[6];
		if (version < 1 || version > 3) {
			throw wrong(path, part, `its format has version ${version}; 1 to 3 can be read`);
		}
		const headerLength = version === 1 ? (await read(2)).readUInt16LE() : (await read(4)).readUInt32LE();
		if (headerLength > MAX_HEADER) {
			throw wrong(path, part, `its header has ${headerLength} bytes; at most ${MAX_HEADER}`);
		}
		const text = await read(headerLength);
		let header;
		try {
			if (!isUtf8(text)) throw new HeaderFault('it is not UTF-8');
			header = parseHeader(text.toString());
		} catch (error) {
			throw error instanceof HeaderFault ? wrong(path, part, `its header cannot be used: ${error.message}`) : error;
		}
		const left = length - (version === 1 ? 10 : 12) - headerLength;
		return new NumberArray({ path, part, ...header, length: left, source });
	} catch (error) {
		await source.close();
		throw error;
	}
}

/** Rows of a NumPy array `[rows, features + 1]`, label last. */
export async function openArray(path) {
	const size = await sizeOf(path);
	const found = await array(path, null, stored(path, 0, size), size);
	try {
		return joined(found);
	} catch (error) {
		await found.close();
		throw error;
	}
}

/** Rows of a NumPy archive with the arrays `x`, `[rows, ..]`, and `y`, `[rows]`; or `x_train` and `y_train`. */
export async function openNumpyArchive(path) {
	const archive = await openArchive(path);
	const names = NAMES.find((names) => names.some((name) => archive.entries.has(name)));
	if (!names) {
		const first = [...archive.entries.keys()].sort().slice(0, 8);
		const shown = first.map((name) => Buffer.from(name, 'latin1').toString()).join(', ');
		throw wrong(
			path,
			null,
			'it has no array x and y, or x_train and y_train; save it by ' +
				`numpy.savez("data.npz", x=inputs, y=labels). Its first entries: ${shown}`,
		);
	}
	const arrays = [];
	try {
		for (const name of names) {
			const { bytes, length } = await entryOf(archive, name);
			arrays.push(await array(path, name, bytes, length));
		}
		return pair(...arrays);
	} catch (error) {
		await Promise.all(arrays.map((found) => found.close()));
		throw error;
	}
}
