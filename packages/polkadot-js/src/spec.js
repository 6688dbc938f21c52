// A job as people write it, and as the chain takes it.
//
// The JSON form is the one that the node's RPC `trainyard_job` returns under `spec` and
// `terms`: snake_case fields, hashes as 0x hex, balances as decimal strings. The chain's
// metadata names the same fields, which polkadot.js turns into camelCase.

import { readFileSync } from 'node:fs';
import { blake2b } from '@noble/hashes/blake2';
import { isHex, u8aToHex } from '@polkadot/util';
import { sizeOf, stored, wrong } from './data/source.js';
import { UserError } from './errors.js';
import { FORMATS, describeRows } from './rows.js';
import { fixed, parseAmount } from './units.js';

/** Longest text on chain, in bytes. */
export const MAX_TEXT = 256;

/** Classes of machines, the smallest first. */
export const MACHINES = ['gib8', 'gib32'];

/**
 * Terms that suit a small job on a chain with blocks of a second. Without `audit_segments`, the
 * fewest draws that the chain takes for the job, see `leastDraws`; without `audit_fee`, the least fee,
 * see `withAuditFee`.
 */
export const DEFAULT_TERMS = {
	price_per_ut: '1000000000000000',
	replicas: 1,
	verifiers: 3,
	apply_blocks: 10,
	training_blocks: 120,
	undecided_percent: 20,
	keep_every: 1,
};

/**
 * The fewest segments that each of `verifiers` seats draws of a job of so many `segments`: all together 45
 * of 1,000 or more.
 */
export const leastDraws = (segments, verifiers) =>
	Math.max(1, Math.ceil((45 * Math.min(segments, 1000)) / (1000 * Math.max(verifiers, 1))));

/**
 * How many segments each of `verifiers` seats replays at most of a job of so many `segments` that pays by lottery, of which
 * one in `oneIn` is drawn.
 */
export const ticketsOfEach = (segments, oneIn, verifiers) =>
	Math.max(1, Math.ceil(Math.ceil(segments / oneIn) / Math.max(verifiers, 1)));

/** Training of the digits, where flags and file say nothing else. */
export const DEFAULT_TRAINING = {
	steps: 1500,
	batch_size: 32,
	checkpoint_interval: 50,
	optimizer: { adamw: { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 } },
	learning_rate_nano: 2_000_000,
	weight_decay_nano: 0,
	loss: 'cross_entropy',
	schedule: 'constant',
	warmup_steps: 0,
	// Bounded moments, and fresh inputs in every step: only such work earns power.
	clip_norm_nano: 1_000_000_000,
	input_noise_nano: 1_000_000,
	early_stop: null,
};

/** Longest file of a job, in bytes. */
const MAX_FILE = 2 ** 31;

/** A file by content, as a specification names it. */
async function fileOf(path, location) {
	const bytes = await sizeOf(path);
	if (bytes === 0) throw wrong(path, null, 'the file is empty');
	if (bytes > MAX_FILE)
		throw wrong(path, null, `it has ${bytes} bytes; a file of a job has at most ${MAX_FILE} (2 GiB)`);
	const hasher = blake2b.create({ dkLen: 32 });
	for await (const piece of stored(path, 0, bytes)) hasher.update(piece);
	return { content_hash: u8aToHex(hasher.digest()), bytes, location };
}

/**
 * Describes data in a file, of any format that the chain knows: hash, size, rows, inputs of a row, classes,
 * and the rows root (`describeRows`). Of text `features` is the context, how many tokens a row has; the
 * labels of IDX are the file at `labels`, from `labelsLocation`. Without `divisor`, inputs that are not
 * normalised are divided by the largest.
 */
export async function describeDataset(
	path,
	{
		location,
		format = 'csv_label_last',
		validationEvery = 5,
		divisor,
		normalization = 'none',
		features,
		labels: labelsPath,
		labelsLocation = '',
	},
) {
	if (format === 'text' && !(features > 0)) {
		throw new UserError('text needs --features, the context: how many tokens a row has');
	}
	const how = { format, every: validationEvery, divisor, normalization, context: features, labelsPath };
	const file = await fileOf(path, location);
	const rows = await describeRows(path, how);
	return {
		...file,
		format,
		...rows,
		validation_every: validationEvery,
		labels: labelsPath === undefined ? null : await fileOf(labelsPath, labelsLocation),
		normalization,
	};
}

/** The optimizer named `name` with its usual constants. */
export function optimizer(name, momentum) {
	if (name === 'adamw') return DEFAULT_TRAINING.optimizer;
	if (name === 'sgd') {
		return { sgd: { momentum_nano: Number(nano(momentum ?? '0', '--momentum')), nesterov: false } };
	}
	throw new UserError(`--optimizer: "${name}" is unknown. Known: adamw, sgd`);
}

/** A hyper-parameter x 10^9. */
export const nano = (text, what) => fixed(text, 9, what);

const integer = (text, what) => {
	if (!/^\d+$/.test(String(text))) throw new UserError(`${what}: "${text}" is not a whole number`);
	return Number(text);
};

/** The JSON form of a job from a file (optional) and flags; flags win. */
export async function jobFromFlags(flags) {
	let file = {};
	if (flags.job) {
		let text;
		try {
			text = readFileSync(flags.job, 'utf8');
		} catch (error) {
			throw new UserError(`cannot read the job file ${flags.job}: ${error.message}`);
		}
		try {
			file = JSON.parse(text);
		} catch (error) {
			throw new UserError(`${flags.job} is not JSON: ${error.message}`);
		}
	}
	const spec = structuredClone(file.spec ?? {});
	const terms = { ...DEFAULT_TERMS, ...file.terms };
	if (flags.data) {
		spec.dataset = await describeDataset(flags.data, {
			location: flags.location ?? spec.dataset?.location ?? '',
			format: flags.format ?? spec.dataset?.format,
			validationEvery: flags['validation-every']
				? integer(flags['validation-every'], '--validation-every')
				: spec.dataset?.validation_every,
			divisor: flags['feature-divisor']
				? integer(flags['feature-divisor'], '--feature-divisor')
				: spec.dataset?.feature_divisor,
			normalization: flags.normalization ?? spec.dataset?.normalization,
			features: flags.features ? integer(flags.features, '--features') : spec.dataset?.features,
			labels: flags.labels,
			labelsLocation: flags['labels-location'] ?? spec.dataset?.labels?.location,
		});
	} else if (flags.location && spec.dataset) {
		spec.dataset.location = flags.location;
	}
	if (!spec.dataset) {
		throw new UserError('no dataset: pass --data FILE --location URL, or --job FILE.json with spec.dataset');
	}
	// What a job file may leave out, as to the node.
	spec.dataset = { labels: null, normalization: 'none', ...spec.dataset };
	spec.initial_model ??= null;
	if (flags.hidden !== undefined || !spec.model) {
		const hidden = (flags.hidden ?? '64,32').split(',').filter((width) => width !== '');
		spec.model = { mlp: { hidden: hidden.map((width) => integer(width, '--hidden')), activation: 'relu' } };
	}
	const training = { ...DEFAULT_TRAINING, ...spec.training };
	// Tokens take no noise.
	if (spec.dataset.format === 'text') training.input_noise_nano = spec.training?.input_noise_nano ?? 0;
	if (training.optimizer?.sgd) training.optimizer = { sgd: { nesterov: false, ...training.optimizer.sgd } };
	if (flags.steps) training.steps = integer(flags.steps, '--steps');
	if (flags['batch-size']) training.batch_size = integer(flags['batch-size'], '--batch-size');
	if (flags['checkpoint-interval']) {
		training.checkpoint_interval = integer(flags['checkpoint-interval'], '--checkpoint-interval');
	}
	if (flags.optimizer) training.optimizer = optimizer(flags.optimizer, flags.momentum);
	if (flags['learning-rate']) {
		training.learning_rate_nano = Number(nano(flags['learning-rate'], '--learning-rate'));
	}
	if (flags['weight-decay']) {
		training.weight_decay_nano = Number(nano(flags['weight-decay'], '--weight-decay'));
	}
	spec.training = training;
	// Fine-tuning begins with the model in a file; without one the model is drawn.
	spec.initial_model ??= null;
	if (flags['price-per-ut']) {
		terms.price_per_ut = parseAmount(flags['price-per-ut'], '--price-per-ut').toString();
	}
	if (flags['audit-fee']) terms.audit_fee = parseAmount(flags['audit-fee'], '--audit-fee').toString();
	for (const key of [
		...['replicas', 'verifiers', 'audit-segments', 'apply-blocks', 'training-blocks'],
		...['undecided-percent', 'keep-every', 'lottery'],
	]) {
		if (flags[key]) terms[key.replaceAll('-', '_')] = integer(flags[key], `--${key}`);
	}
	const { steps, checkpoint_interval: interval } = training;
	const segments = Math.ceil(steps / Math.max(interval, 1));
	terms.audit_segments ??= terms.lottery
		? ticketsOfEach(segments, terms.lottery, terms.verifiers)
		: leastDraws(segments, terms.verifiers);
	checkJob({ spec, terms });
	return { spec, terms };
}

// Fields of a job, by the names of the JSON form: what a value must look like.
const COUNT = (value) => Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;
const PERCENT = (value) => COUNT(value) && value <= 100;
const LARGE = (value) => Number.isSafeInteger(value) && value >= 0;
const AMOUNT = (value) => typeof value === 'string' && /^\d+$/.test(value);
const OPTIONAL_AMOUNT = (value) => value === undefined || AMOUNT(value);
const YES_NO = (value) => typeof value === 'boolean';
const HASH = (value) => isHex(value, 256);
const TEXT = (value) => typeof value === 'string';
/** A file by content. */
const IS_FILE = (value) =>
	Object.keys(value ?? {}).length === 3 && HASH(value.content_hash) && LARGE(value.bytes) && TEXT(value.location);
const FILE = (value) => value === null || IS_FILE(value);
/** A file with parameters, and their state hash. */
const INITIAL_MODEL = (value) =>
	value === null || (Object.keys(value ?? {}).length === 2 && IS_FILE(value.file) && HASH(value.parameters));
const word =
	(...words) =>
	(value) =>
		words.includes(value);
const listOf = (rule) => (value) => Array.isArray(value) && value.every(rule);

/**
 * One of some variants, as JSON has them: `name` for one without fields, otherwise
 * `{ name: { field: … } }` with exactly these fields.
 */
const oneOf = (variants) => (value) => {
	if (typeof value === 'string') return value in variants && Object.keys(variants[value]).length === 0;
	const [entry, ...more] = Object.entries(value ?? {});
	if (!entry || more.length > 0 || !(entry[0] in variants)) return false;
	const fields = variants[entry[0]];
	return (
		Object.keys(fields).length > 0 &&
		Object.keys(entry[1] ?? {}).length === Object.keys(fields).length &&
		Object.entries(fields).every(([key, rule]) => rule(entry[1][key]))
	);
};

const IMAGE = { channels: COUNT, height: COUNT, width: COUNT };
const ACTIVATION = word('relu', 'gelu', 'silu', 'tanh', 'sigmoid');
const WINDOW = { kernel: COUNT, stride: COUNT };
const CONVOLUTION = { filters: COUNT, ...WINDOW, padding: COUNT };
const ADAM = { beta1_nano: LARGE, beta2_nano: LARGE, epsilon_nano: LARGE };
const MODEL = oneOf({
	mlp: { hidden: listOf(COUNT), activation: ACTIVATION },
	cnn: {
		...IMAGE,
		layers: listOf(
			oneOf({
				conv: CONVOLUTION,
				max_pool: WINDOW,
				avg_pool: WINDOW,
				linear: { outputs: COUNT },
				dropout: { rate_nano: LARGE },
			}),
		),
		activation: ACTIVATION,
	},
	transformer: { layers: COUNT, heads: COUNT, width: COUNT, mlp_factor: COUNT, dropout_nano: LARGE },
	layers: {
		input: oneOf({ numbers: {}, image: IMAGE, tokens: {} }),
		layers: listOf(
			oneOf({
				linear: { outputs: COUNT },
				conv2d: CONVOLUTION,
				max_pool2d: WINDOW,
				avg_pool2d: WINDOW,
				activation: { function: ACTIVATION },
				layer_norm: {},
				dropout: { rate_nano: LARGE },
				embedding: { width: COUNT },
				attention: { heads: COUNT },
				skip: { back: COUNT },
				rms_norm: {},
				mapping: { reflections: COUNT, patch: COUNT },
			}),
		),
	},
});
const FIELDS = {
	spec: {
		dataset: {
			content_hash: HASH,
			bytes: LARGE,
			location: TEXT,
			format: word(...FORMATS),
			train_rows: COUNT,
			validation_rows: COUNT,
			validation_every: COUNT,
			features: COUNT,
			classes: COUNT,
			feature_divisor: COUNT,
			labels: FILE,
			normalization: word('none', 'standard'),
			rows: HASH,
		},
		model: MODEL,
		training: {
			steps: COUNT,
			batch_size: COUNT,
			checkpoint_interval: COUNT,
			optimizer: oneOf({ sgd: { momentum_nano: LARGE, nesterov: YES_NO }, adamw: ADAM, adam: ADAM }),
			learning_rate_nano: LARGE,
			weight_decay_nano: LARGE,
			loss: word('cross_entropy', 'mean_squared_error'),
			schedule: oneOf({ constant: {}, cosine: { final_rate_nano: LARGE } }),
			warmup_steps: COUNT,
			clip_norm_nano: LARGE,
			input_noise_nano: LARGE,
			early_stop: (value) => value === null || (COUNT(value?.patience) && LARGE(value?.min_delta_nano)),
		},
		initial_model: INITIAL_MODEL,
	},
	terms: {
		price_per_ut: AMOUNT,
		replicas: COUNT,
		verifiers: COUNT,
		audit_segments: COUNT,
		audit_fee: OPTIONAL_AMOUNT,
		apply_blocks: COUNT,
		training_blocks: COUNT,
		machine: (value) => value === undefined || MACHINES.includes(value),
		undecided_percent: (value) => value === undefined || PERCENT(value),
		keep_every: (value) => value === undefined || (COUNT(value) && value > 0),
		lottery: (value) => value === undefined || value === null || (COUNT(value) && value >= 2 && value <= 128),
	},
};

const EXPECTED = new Map([
	[COUNT, 'a whole number of at most 32 bits'],
	[LARGE, 'a whole number'],
	[AMOUNT, "a decimal string in the currency's smallest unit"],
	[OPTIONAL_AMOUNT, "a decimal string in the currency's smallest unit"],
	[HASH, '32 bytes as 0x hex'],
	[FILE, 'null or a file with content_hash, bytes and location'],
	[INITIAL_MODEL, 'null, or { file, parameters }: a file with content_hash, bytes and location, and a state hash'],
]);

/** What to do about a field that is missing. */
const ADVICE = {
	'spec.dataset.rows':
		'. It is the rows root, computed from the data: pass --data FILE, or `trainyard estimate JOB.toml` prints it',
};

function checkFields(value, fields, where) {
	if (typeof value !== 'object' || value === null) throw new UserError(`${where} is missing`);
	for (const key of Object.keys(value)) {
		if (!(key in fields)) {
			throw new UserError(`${where}.${key} is not a field. Fields: ${Object.keys(fields).join(', ')}`);
		}
	}
	for (const [key, rule] of Object.entries(fields)) {
		const at = `${where}.${key}`;
		if (typeof rule === 'object') checkFields(value[key], rule, at);
		else if (value[key] === undefined && !rule(undefined)) {
			throw new UserError(`${at} is missing${ADVICE[at] ?? ''}`);
		} else if (!rule(value[key])) {
			const expected = EXPECTED.get(rule);
			throw new UserError(
				`${at}: ${JSON.stringify(value[key])} is not possible${expected ? `; ${expected} is needed` : ''}`,
			);
		}
	}
}

/**
 * Checks the form of a job: every field there, none too many, each of its type. Whether the
 * values make sense together is the chain's to say (`quote` of the runtime API).
 */
export function checkJob({ spec, terms }) {
	checkFields(spec, FIELDS.spec, 'spec');
	checkFields(terms, FIELDS.terms, 'terms');
	checkLocation(spec.dataset.location, 'spec.dataset', '. Pass --location URL');
	if (spec.dataset.labels) checkLocation(spec.dataset.labels.location, 'spec.dataset.labels');
	if (spec.initial_model) checkLocation(spec.initial_model.file.location, 'spec.initial_model.file');
}

function checkLocation(location, where, advice = '') {
	if (new TextEncoder().encode(location).length > MAX_TEXT) {
		throw new UserError(`${where}.location is longer than ${MAX_TEXT} bytes`);
	}
	if (location !== 'chain:' && !/^(https?|iroh|s3|gs|hf):\/\/./.test(location)) {
		const urls = 'an http://, https://, iroh://, s3://, gs:// or hf:// URL, nor chain:';
		throw new UserError(`${where}.location: "${location}" is not ${urls}${advice}`);
	}
}

const camel = (snake) => snake.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const pascal = (snake) => camel(`_${snake}`);

/** snake_case keys to the camelCase that polkadot.js makes of metadata's names. */
const camelKeys = (object) => Object.fromEntries(Object.entries(object).map(([key, value]) => [camel(key), value]));

/**
 * A value in the chain's form: keys in camelCase, and variants, which are words or objects of
 * one key whose value is an object, by their names in the metadata. `key` is the value's.
 */
function chainForm(value, key) {
	if (Array.isArray(value)) return value.map((entry) => chainForm(entry, 'layer'));
	if (typeof value === 'string') return ENUMS.has(key) ? variantName(value) : value;
	if (typeof value !== 'object' || value === null) return value;
	if (ENUMS.has(key)) {
		const [[name, fields]] = Object.entries(value);
		return { [variantName(name)]: chainForm(fields) };
	}
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [camel(key), chainForm(inner, key)]));
}

/** Fields whose type is an enum. */
const ENUMS = new Set([
	...['format', 'normalization', 'model', 'input', 'layer', 'activation', 'function'],
	...['optimizer', 'loss', 'schedule', 'machine'],
]);

/** Names that are not the JSON name in PascalCase. */
const NAMES = { adamw: 'AdamW', conv2d: 'Conv2d', max_pool2d: 'MaxPool2d', avg_pool2d: 'AvgPool2d' };
const variantName = (name) => NAMES[name] ?? pascal(name);

/**
 * The arguments of `taskMarket.submitJob`, as polkadot.js takes them. A job without
 * `audit_fee` gets none, see `withAuditFee`; one without `machine` is for the smallest class, and
 * one without `undecided_percent` pays 20 % where the audit decides nothing. Of one without `keep_every` trainers keep
 * all states, and one without `lottery` pays for all that is accepted.
 */
export function toChain({ spec, terms }) {
	const { audit_fee = '0', machine = 'gib8', undecided_percent = 20, keep_every = 1, lottery = null } = terms;
	const filled = { ...terms, audit_fee, machine: variantName(machine), undecided_percent, keep_every, lottery };
	return { spec: chainForm(spec), terms: camelKeys(filled) };
}
