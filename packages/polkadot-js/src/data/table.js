// Decoded rows, and what is made of them: divided, normalised, hashed. Section 1 of
// docs/strict-arithmetic.md defines every bit.

import { endianness } from 'node:os';
import { blake3 } from '@noble/hashes/blake3';

const { fround } = Math;

/** About how many numbers lie in one piece of a table. */
const PIECE = 1 << 18;

/** Numbers of 32 bits in rows of `width`, in pieces that hold whole rows. They are `Type`: Float32Array or Uint32Array. */
export class Table {
	#type;
	#pieces = [];
	#filled = 0;

	constructor(Type, width) {
		this.#type = Type;
		this.width = width;
		this.rows = 0;
	}

	/** Adds the row that begins at place `from` of `numbers`. */
	push(numbers, from) {
		let piece = this.#pieces.at(-1);
		if (piece === undefined || this.#filled === piece.length) {
			piece = new this.#type(Math.max(1, Math.floor(PIECE / this.width)) * this.width);
			this.#pieces.push(piece);
			this.#filled = 0;
		}
		for (let i = 0; i < this.width; i++) piece[this.#filled++] = numbers[from + i];
		this.rows++;
	}

	/** The numbers of all rows, piece after piece; what is written into them changes the table. */
	*pieces() {
		const last = this.#pieces.length - 1;
		for (const [at, piece] of this.#pieces.entries()) yield at === last ? piece.subarray(0, this.#filled) : piece;
	}

	/** Content hash of the table: the BLAKE3 of its numbers, row major, little endian. */
	contentHash() {
		const hasher = blake3.create();
		for (const piece of this.pieces()) {
			const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
			hasher.update(endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32());
		}
		return hasher.digest();
	}
}

/** The sum of binary32 numbers in blocks of 1,024 and 16 lanes, then of the blocks' sums. */
export function strictSum(terms) {
	const sums = new ColumnSums(1);
	for (let i = 0; i < terms.length; i++) sums.add(() => terms[i]);
	return sums.finish()[0];
}

/** The strict sum of each column of rows that come one after the other. */
class ColumnSums {
	#rows = 0;
	#lanes;
	#blocks = [];

	constructor(columns) {
		this.columns = columns;
		this.#lanes = new Float32Array(16 * columns);
	}

	/** Adds a row, of which `number` gives the number in a column. */
	add(number) {
		const lane = (this.#rows % 16) * this.columns;
		for (let column = 0; column < this.columns; column++) this.#lanes[lane + column] += number(column);
		this.#rows++;
		if (this.#rows % 1024 === 0) this.#endBlock();
	}

	#endBlock() {
		const lanes = this.#lanes;
		for (let width = 8 * this.columns; width >= this.columns; width /= 2) {
			for (let i = 0; i < width; i++) lanes[i] += lanes[i + width];
		}
		this.#blocks.push(lanes.slice(0, this.columns));
		lanes.fill(0);
	}

	/** The sum of each column. */
	finish() {
		if (this.#rows % 1024 > 0) this.#endBlock();
		const blocks = this.#blocks;
		if (blocks.length === 0) return new Float32Array(this.columns);
		if (blocks.length === 1) return blocks[0];
		return Float32Array.from({ length: this.columns }, (_, column) => strictSum(blocks.map((block) => block[column])));
	}
}

/** Mean and standard deviation of each column of a table; 1 for the latter where the column does not vary. */
function measure(table) {
	const { width } = table;
	const rows = fround(table.rows);
	const varies = new Uint8Array(width);
	let first;
	const sums = new ColumnSums(width);
	for (const piece of table.pieces()) {
		first ??= piece.slice(0, width);
		for (let at = 0; at < piece.length; at += width) {
			sums.add((column) => piece[at + column]);
			for (let column = 0; column < width; column++) if (piece[at + column] !== first[column]) varies[column] = 1;
		}
	}
	const mean = sums.finish().map((sum) => sum / rows);
	const squares = new ColumnSums(width);
	for (const piece of table.pieces()) {
		for (let at = 0; at < piece.length; at += width) {
			squares.add((column) => {
				const difference = fround(piece[at + column] - mean[column]);
				return fround(difference * difference);
			});
		}
	}
	const deviation = squares.finish().map((sum, column) => {
		const found = fround(Math.sqrt(fround(sum / rows)));
		return varies[column] && found !== 0 ? found : 1;
	});
	return { mean, deviation };
}

/**
 * Normalises tables by mean and deviation of each column of the first, the training rows. `fault` makes an
 * error of a column whose numbers do not stay finite.
 */
export function normalize(train, validation, fault) {
	const { mean, deviation } = measure(train);
	for (const table of [train, validation]) {
		for (const piece of table.pieces()) {
			for (let at = 0, column = 0; at < piece.length; at++, column = (column + 1) % table.width) {
				piece[at] = fround(piece[at] - mean[column]) / deviation[column];
				if (!Number.isFinite(piece[at])) throw fault(column, mean[column], deviation[column]);
			}
		}
	}
}
