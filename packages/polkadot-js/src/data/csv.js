// CSV: a line of decimal numbers between commas for each row, after a header line where there is one. The
// first line is one unless all its cells are finite numbers.

import { isUtf8 } from 'node:buffer';
import { MAX_WIDTH, decimalLabel, faultOfLabel, nearest } from './number.js';
import { Source, maybeGunzipped, wrong } from './source.js';

/** Bytes that a line may have for each number, and the whole file for each number of its rows and of one more. */
const [LINE_BYTES, FILE_BYTES] = [64, 32];
/** Bytes that the file may have besides. */
const HEADER_BYTES = 1 << 20;
/** A byte order mark, which may stand before the first line. */
const MARK = [0xef, 0xbb, 0xbf];
/** About how many numbers are given out at once. */
const BLOCK = 1 << 14;
/** How many numbers are kept as they were read, because the same come again and again. */
const KNOWN = 1 << 16;

/** A cell without the spaces around it, which are those of Unicode. */
const trim = (cell) => cell.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '');

/** Rows of a CSV file, which may be compressed by gzip, label first or last. A label is a whole number in any spelling. */
export async function openCsv(path, { format }) {
	const source = new Source((await maybeGunzipped(path)).bytes);
	let [line, read] = [0, 0];
	const fault = (what) => wrong(path, null, `line ${line}: ${what}`);
	/** The next line without its end, null after the last; `features` bound it. */
	const next = async (features) => {
		const most = LINE_BYTES * (features + 1);
		line++;
		// Its end has at most two bytes more.
		const bytes = await source.line(most + 2);
		read += bytes.length;
		let end = bytes.length;
		if (bytes[end - 1] === 10) end -= bytes[end - 2] === 13 ? 2 : 1;
		if (end > most) {
			throw fault(
				`it is longer than ${most} bytes, the most for ${features} inputs and a label: ${LINE_BYTES} for each. ` +
					'Write it without padding and with fewer digits',
			);
		}
		return bytes.length === 0 ? null : bytes.subarray(0, end);
	};
	const begin = async () => {
		let first = await next(MAX_WIDTH);
		if (first === null) throw fault('the file is empty; rows were expected');
		const { length } = first;
		if (MARK.every((byte, at) => first[at] === byte)) first = first.subarray(MARK.length);
		const columns = first.reduce((count, byte) => count + (byte === 44 ? 1 : 0), 1);
		if (columns < 2 || columns > MAX_WIDTH + 1) {
			throw fault(
				`the first line has ${columns} columns; 2 to ${MAX_WIDTH + 1} are allowed, between commas: the inputs and the label`,
			);
		}
		if (length > LINE_BYTES * columns) {
			throw fault(`it is longer than ${LINE_BYTES * columns} bytes, ${LINE_BYTES} for each of its columns`);
		}
		const isNumber = (cell) => nearest(trim(cell)) !== null;
		const isRow = isUtf8(first) && first.toString().split(',').every(isNumber);
		return [columns, isRow ? first : null];
	};
	let [columns, waiting] = [0, null];
	try {
		[columns, waiting] = await begin();
	} catch (error) {
		await source.close();
		throw error;
	}
	const features = columns - 1;
	const labelAt = format === 'csv_label_first' ? 0 : features;
	const known = new Map();
	const number = (cell) => {
		let found = known.get(cell);
		if (found === undefined) {
			found = nearest(trim(cell));
			if (known.size < KNOWN) known.set(cell, found);
		}
		return found;
	};
	/** Puts a row into `inputs` from place `at` on, and returns its label. */
	const row = (bytes, inputs, at) => {
		if (!isUtf8(bytes)) throw fault('it is not UTF-8 text');
		const text = bytes.toString();
		const cells = text.split(',');
		if (cells.length === 1 && trim(text) === '') {
			throw fault('it is empty. Remove it: a trainer refuses a file with an empty line');
		}
		if (cells.length !== columns) throw fault(`${cells.length} columns, but the first line has ${columns}`);
		let label;
		for (let column = 0; column < columns; column++) {
			if (column === labelAt) {
				const written = trim(cells[column]);
				label = decimalLabel(written);
				const what = faultOfLabel(label, written);
				if (what) throw fault(`column ${column + 1}: ${what}`);
			} else {
				const found = number(cells[column]);
				if (found === null) throw fault(`column ${column + 1}: "${trim(cells[column])}" is not a finite number`);
				inputs[at++] = found;
			}
		}
		return label;
	};
	return {
		features,
		async *blocks() {
			const room = Math.max(1, Math.floor(BLOCK / features));
			let rows = 0;
			let bytes = waiting ?? (await next(features));
			while (bytes !== null) {
				const [inputs, labels] = [new Float32Array(room * features), new Uint32Array(room)];
				let count = 0;
				for (; bytes !== null && count < room; count++) {
					labels[count] = row(bytes, inputs, count * features);
					bytes = await next(features);
				}
				rows += count;
				yield { inputs: inputs.subarray(0, count * features), labels: labels.subarray(0, count) };
			}
			const most = FILE_BYTES * (rows + 1) * columns + HEADER_BYTES;
			if (read > most) {
				throw wrong(
					path,
					null,
					`it has more than ${most} bytes once decompressed, the most for ${rows} rows of ${features} inputs and a ` +
						`label: ${FILE_BYTES} for each number of these rows and of one more, and ${HEADER_BYTES}. Write it ` +
						'without padding and with fewer digits',
				);
			}
		},
		close: () => source.close(),
	};
}
