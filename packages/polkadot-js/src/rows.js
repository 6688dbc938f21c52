// The rows of data, as trainers read them: decoded, divided, normalised, and the root by which a
// specification names them. Section 1 of docs/strict-arithmetic.md defines every bit; the Rust
// definitions are in `ml-worker/proof/src/data` and `trainyard-protocol` (rows.rs).

import { u8aToHex } from '@polkadot/util';
import { UserError } from './errors.js';
import { rowsRoot } from './hash.js';
import { openCsv } from './data/csv.js';
import { openIdx } from './data/idx.js';
import { openArray, openNumpyArchive } from './data/numpy.js';
import { openParquet } from './data/parquet.js';
import { openSafetensors } from './data/safetensors.js';
import { wrong } from './data/source.js';
import { Table, normalize } from './data/table.js';
import { openText } from './data/text.js';

/**
 * What opens a file of each format. Each returns `features`, `labelsPerRow` (1 without) and `leastClasses`,
 * and `blocks()`, which gives `{ inputs, labels }` of some whole rows, in their order, all inputs finite.
 */
const READERS = {
	csv_label_last: openCsv,
	csv_label_first: openCsv,
	text: openText,
	idx: openIdx,
	npy: openArray,
	npz: openNumpyArchive,
	safetensors: openSafetensors,
	parquet: openParquet,
	parquet_label_first: openParquet,
};

/** The formats of data, by the names of the JSON form. */
export const FORMATS = Object.keys(READERS);

const isCount = (value, least) => Number.isInteger(value) && value >= least && value <= 0xffff_ffff;

/** Fails where rows cannot be read as `how` says. */
function checkHow({ format, every, divisor, normalization, labelsPath }) {
	const no = (field, value, allowed) =>
		new UserError(`spec.dataset.${field}: ${JSON.stringify(value)} is not possible; ${allowed} is needed`);
	if (!Object.hasOwn(READERS, format)) throw no('format', format, `one of ${FORMATS.join(', ')}`);
	if (!isCount(every, 2)) throw no('validation_every', every, 'a whole number from 2');
	if (divisor !== undefined && !isCount(divisor, 1)) {
		throw no('feature_divisor', divisor, 'a whole number from 1 of at most 32 bits');
	}
	if (!['none', 'standard'].includes(normalization)) throw no('normalization', normalization, 'none or standard');
	if (format === 'text' && ((divisor ?? 1) !== 1 || normalization !== 'none')) {
		throw new UserError('text is tokens: they take no feature_divisor but 1, and no normalization');
	}
	if ((format === 'idx') !== (labelsPath !== undefined)) {
		throw new UserError('the format idx, and no other, keeps its labels in a file of their own: --labels FILE');
	}
}

/** Reads all rows of `reader`, of which one in `every` validates, into tables. */
async function readTables(reader, every) {
	const { features, labelsPerRow = 1 } = reader;
	const table = () => ({
		inputs: new Table(Float32Array, features),
		labels: new Table(Uint32Array, labelsPerRow),
	});
	const [train, validation] = [table(), table()];
	let [row, classes, largest] = [0, Math.max(2, reader.leastClasses ?? 2), 0];
	for await (const { inputs, labels } of reader.blocks()) {
		for (const label of labels) classes = Math.max(classes, label + 1);
		for (const input of inputs) largest = Math.max(largest, input);
		for (let at = 0; at * features < inputs.length; at++, row++) {
			const into = row % every === every - 1 ? validation : train;
			into.inputs.push(inputs, at * features);
			into.labels.push(labels, at * labelsPerRow);
		}
	}
	return { train, validation, rows: row, classes, largest };
}

/**
 * What a specification says of the rows in the file at `path`, by the names of its fields: `train_rows`,
 * `validation_rows`, `features`, `classes`, `feature_divisor`, and `rows`, the root. Files are read in
 * pieces; the decoded rows, 4 bytes for each input and label, are in memory.
 *
 * `how` has `format`; `every`, one row in which validates; `divisor`, by which inputs are divided, without
 * it the largest input where they are not normalised; `normalization`, `none` or `standard`; of text
 * `context`, how many tokens a row has; and of IDX `labelsPath`. Whatever a trainer would refuse is an error.
 */
export async function describeRows(path, how) {
	const { every, normalization = 'none' } = how;
	checkHow({ ...how, normalization });
	const reader = await READERS[how.format](path, how);
	let read;
	try {
		read = await readTables(reader, every);
	} finally {
		await reader.close();
	}
	const { train, validation, rows, classes, largest } = read;
	if (rows < every) {
		throw wrong(path, null, `it has ${rows} rows, and one in ${every} validates: ${every} rows are needed at least`);
	}
	const plain = how.format !== 'text' && normalization === 'none';
	const divisor = how.divisor ?? (plain ? Math.max(1, Math.ceil(largest)) : 1);
	if (!isCount(divisor, 1)) {
		throw wrong(
			path,
			null,
			`no feature_divisor is as large as its largest input, ${largest}. Pass a smaller one, or normalise`,
		);
	}
	const by = Math.fround(divisor);
	for (const { inputs } of [train, validation]) {
		for (const piece of inputs.pieces()) for (let i = 0; i < piece.length; i++) piece[i] /= by;
	}
	if (normalization === 'standard') {
		normalize(train.inputs, validation.inputs, (feature, mean, deviation) =>
			wrong(
				path,
				null,
				`feature ${feature} (from 0) cannot be normalised: its mean is ${mean}, its deviation ${deviation}, and a ` +
					'number is not finite then. Pass a feature_divisor with which the numbers are of ordinary size, or do ' +
					'not normalise',
			),
		);
	}
	const root = rowsRoot({
		trainRows: train.inputs.rows,
		validationRows: validation.inputs.rows,
		features: reader.features,
		labelsPerRow: reader.labelsPerRow ?? 1,
		contents: [train, validation].flatMap(({ inputs, labels }) => [inputs.contentHash(), labels.contentHash()]),
	});
	return {
		train_rows: train.inputs.rows,
		validation_rows: validation.inputs.rows,
		features: reader.features,
		classes,
		feature_divisor: divisor,
		rows: u8aToHex(root),
	};
}
