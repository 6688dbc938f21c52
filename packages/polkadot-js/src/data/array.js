// Arrays in binary files, read some rows at a time: what NumPy, IDX and safetensors have in common.

import { KINDS, MAX_WIDTH, faultOfLabel } from './number.js';
import { DAMAGED, wrong } from './source.js';

/** About how many numbers are read at once. */
const BLOCK = 1 << 16;

/** `[3, 4]` */
export const shapeText = (shape) => `[${shape.join(', ')}]`;

/** An array of at least one dimension, of which rows are read one after the other. */
export class NumberArray {
	#source;
	#little;

	/**
	 * The array behind a header in `source`, which ends after it: numbers of `kind` (a key of KINDS) and
	 * `shape`, slowest first. `length` is how many bytes are left for it, null where that is not known.
	 */
	constructor({ path, part = null, kind, little, shape, length, source }) {
		this.path = path;
		this.part = part;
		this.kind = KINDS[kind];
		this.shape = shape;
		this.#little = little;
		this.#source = source;
		if (shape.length === 0) throw this.wrong('it holds a single number, not an array of rows');
		this.rows = shape[0];
		this.width = shape.slice(1).reduce((product, extent) => product * extent, 1);
		if (!(this.width >= 1 && this.width <= MAX_WIDTH + 1)) {
			throw this.wrong(
				`its shape is ${shapeText(shape)}; a row, which is all dimensions but the first, has 1 to ` +
					`${MAX_WIDTH} inputs`,
			);
		}
		if (length !== null && this.rows * this.width * this.kind.bytes !== length) {
			throw this.wrong(
				`an array of ${shapeText(shape)} numbers of ${this.kind.bytes} bytes was expected behind its header, ` +
					`but ${Math.max(length, 0)} bytes follow: ${DAMAGED}`,
			);
		}
		this.read = 0;
	}

	/** The error that says what is wrong with the array. */
	wrong(what) {
		return wrong(this.path, this.part, what);
	}

	/** The error that says what is wrong with a row. */
	wrongRow(row, what) {
		return this.wrong(`row ${row} (from 0): ${what}`);
	}

	/** The bytes of the next rows, at most `count`, as a DataView; null after the last, behind which nothing stands. */
	async next(count) {
		const wanted = Math.min(count, this.rows - this.read);
		if (wanted === 0) {
			if ((await this.#source.read(1)).length === 0) return null;
			throw this.wrong(`its header says shape ${shapeText(this.shape)}, but more numbers follow`);
		}
		const row = this.width * this.kind.bytes;
		const bytes = await this.#source.read(wanted * row);
		if (bytes.length < wanted * row) {
			const at = this.read + Math.floor(bytes.length / row);
			throw this.wrong(
				`it ends in row ${at} (from 0) of the ${this.rows} that its header says: it was cut; fetch or write it again`,
			);
		}
		this.read += wanted;
		return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	}

	/** Puts the first `width` numbers of each row in `view`, the first of them row `first`, into `inputs`. */
	inputs(view, first, width, inputs) {
		const { bytes, input } = this.kind;
		for (let at = 0, row = 0; at < inputs.length; row++) {
			let from = row * this.width * bytes;
			for (let column = 0; column < width; column++, at++, from += bytes) {
				inputs[at] = input(view, from, this.#little);
				if (!Number.isFinite(inputs[at])) {
					throw this.wrongRow(first + row, `input ${column} (from 0) is not a finite number in binary32`);
				}
			}
		}
	}

	/** Puts the number in column `column` of each row in `view` into `labels`. */
	labels(view, first, column, labels) {
		const { bytes, label } = this.kind;
		for (let row = 0; row < labels.length; row++) {
			const found = label(view, (row * this.width + column) * bytes, this.#little);
			const fault = faultOfLabel(found);
			if (fault) throw this.wrongRow(first + row, fault);
			labels[row] = Number(found);
		}
	}

	/** Lets go of the file. */
	close() {
		return this.#source.close();
	}
}

/** How many rows of this width are read at once. */
const atOnce = (width) => Math.max(1, Math.floor(BLOCK / width));

/** Rows of an array of inputs `[rows, ..]` and an array of labels `[rows]`. */
export function pair(x, y) {
	if (x.shape.length < 2) {
		throw x.wrong(
			`its shape is ${shapeText(x.shape)}, which labels have; inputs are [rows, features], or ` +
				'[rows, height, width] and the like',
		);
	}
	if (x.width > MAX_WIDTH) throw x.wrong(`its rows have ${x.width} inputs; at most ${MAX_WIDTH}`);
	if (y.shape.length !== 1) {
		throw y.wrong(`its shape is ${shapeText(y.shape)}; labels are [rows], one number for each row`);
	}
	if (y.rows !== x.rows) {
		throw y.wrong(
			`it holds ${y.rows} labels, but ${x.path}${x.part ? ` (${x.part})` : ''} has ${x.rows} rows; use files ` +
				'that belong together',
		);
	}
	return {
		features: x.width,
		async *blocks() {
			for (;;) {
				const first = x.read;
				const view = await x.next(atOnce(x.width));
				// This is also done after the last row, where it checks that nothing follows.
				const viewOfLabels = await y.next(atOnce(x.width));
				if (view === null) return;
				const count = x.read - first;
				const [inputs, labels] = [new Float32Array(count * x.width), new Uint32Array(count)];
				x.inputs(view, first, x.width, inputs);
				y.labels(viewOfLabels, first, 0, labels);
				yield { inputs, labels };
			}
		},
		close: () => Promise.all([x.close(), y.close()]),
	};
}

/** Rows of one array `[rows, features + 1]`, label last. */
export function joined(array) {
	if (array.shape.length !== 2 || array.width < 2) {
		throw array.wrong(
			`its shape is ${shapeText(array.shape)}; it must be [rows, features + 1], the label last. An archive ` +
				'(npz) takes inputs and labels apart',
		);
	}
	const features = array.width - 1;
	return {
		features,
		async *blocks() {
			for (;;) {
				const first = array.read;
				const view = await array.next(atOnce(array.width));
				if (view === null) return;
				const count = array.read - first;
				const [inputs, labels] = [new Float32Array(count * features), new Uint32Array(count)];
				array.inputs(view, first, features, inputs);
				array.labels(view, first, features, labels);
				yield { inputs, labels };
			}
		},
		close: () => array.close(),
	};
}
