// A workload as people declare it, in TOML or JSON: read, checked, and filled with what is not said.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { arrivalTimes, expected, pieces } from './arrivals.mjs';
import { generator } from './random.mjs';

/** Most transactions that are planned ahead; they are signed and held in memory. */
const MOST_PLANNED = 2_000_000;
/** Longest remark and blob in bytes. */
const [MOST_REMARK, MOST_BLOB] = [1_048_576, 1_073_741_824];

const list = (names) => names.map((name) => `"${name}"`).join(', ');
const shown = (value) => JSON.stringify(value) ?? String(value);

// What a value may be. Each returns it as the rest uses it, or fails with what is wrong.
const number =
	(least, most, whole = false) =>
	(value) => {
		if (typeof value !== 'number' || !(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
			throw new UserError(`${shown(value)} is not a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
		}
		return value;
	};
const whole = (least, most) => number(least, most, true);
const word =
	(...words) =>
	(value) => {
		if (!words.includes(value)) throw new UserError(`${shown(value)} is not one of ${list(words)}`);
		return value;
	};
const yesNo = (value) => {
	if (typeof value !== 'boolean') throw new UserError(`${shown(value)} is neither true nor false`);
	return value;
};
const UNITS = { KiB: 1_024, MiB: 1_048_576 };
const size = (most) => (value) => {
	const [, count, unit] = (typeof value === 'string' && /^(\d+) ?(KiB|MiB)$/.exec(value)) || [];
	const bytes = unit ? Number(count) * UNITS[unit] : value;
	if (!Number.isInteger(bytes) || bytes < 1 || bytes > most) {
		throw new UserError(`${shown(value)} is not a size from 1 to ${most}: give bytes, or as "64 KiB" or "1 MiB"`);
	}
	return bytes;
};
const text = (value) => {
	if (typeof value !== 'string' || value.trim() === '') throw new UserError(`${shown(value)} is not a text`);
	return value;
};
/** An amount in whole units of the currency, as a decimal text or a number; kept as text. */
const amount = (value) => {
	if (!/^\d+(\.\d{1,12})?$/.test(String(value))) {
		throw new UserError(`${shown(value)} is not an amount of the currency, as "10" or "0.5"`);
	}
	return String(value);
};
const hex = (value) => {
	if (typeof value !== 'string' || !/^(0x)?([0-9a-fA-F]{2})+$/.test(value)) {
		throw new UserError(`${shown(value)} is not bytes in hex`);
	}
	return value.replace(/^0x/, '').toLowerCase();
};
const file = (value, folder) => {
	const path = resolve(folder, text(value));
	if (!existsSync(path)) throw new UserError(`there is no file ${path}; paths are relative to the declaration`);
	return path;
};
const curve = (value) => {
	const pair = (point) => Array.isArray(point) && point.length === 2 && point.every((one) => Number.isFinite(one));
	if (!Array.isArray(value) || value.length === 0 || !value.every(pair)) {
		throw new UserError(`${shown(value)} is not a load curve, which is pairs of second and rate: [[0, 10], [30, 50]]`);
	}
	if (value[0][0] !== 0) throw new UserError(`the load curve begins at second ${value[0][0]}: begin it at 0`);
	value.forEach(([second, rate], index) => {
		if (rate < 0) throw new UserError(`the rate at second ${second} is negative`);
		if (index > 0 && second <= value[index - 1][0])
			throw new UserError(`second ${second} does not come after the point before it`);
	});
	return value;
};

/** A field: how it is read, and what it is where nobody says it; without that it is needed. */
const field = (read, preset) => ({ read, preset });
const optional = (read) => field(read, null);

const STREAM = {
	name: optional(text),
	kind: field(text),
	share: field(number(0.001, 1_000_000), 1),
	funds: optional(amount),
	arrival: field((value) => value),
};
const UNTIL = field(word('posted', 'settled'), 'posted');

/** The kinds of streams: fields of their own, the calls of the chain that they need, and whether a unit is one transaction. */
export const KINDS = {
	transfer: {
		fields: { amount: optional(amount) },
		calls: [['Balances', 'transfer_keep_alive']],
		single: true,
	},
	remark: { fields: { bytes: field(size(MOST_REMARK), 32) }, calls: [['System', 'remark']], single: true },
	blob: {
		fields: { bytes: field(size(MOST_BLOB)), read: field(yesNo, true) },
		calls: [
			['ModelStorage', 'register'],
			['ModelStorage', 'upload_chunk'],
		],
	},
	job: {
		fields: {
			template: field(file),
			data: optional(file),
			location: optional(text),
			until: UNTIL,
		},
		calls: [['TaskMarket', 'submit_job']],
	},
	task: {
		fields: {
			module: field(file),
			input: optional(hex),
			input_bytes: optional(size(65_536)),
			steps: optional(whole(1, 2_097_151)),
			map: optional(whole(1, 2_097_151)),
			record: field(whole(1, 65_536), 64),
			fuel: field(whole(1, 32_000_000), 32_000_000),
			pages: field(whole(1, 128), 128),
			state: field(whole(1, 65_536), 65_536),
			reward: field(amount),
			replicas: field(whole(1, 16), 2),
			audit: field(number(0.001, 1), 0.1),
			until: UNTIL,
		},
		calls: [
			['Tasks', 'post'],
			['ModelStorage', 'register'],
			['ModelStorage', 'upload_chunk'],
		],
	},
};

const ARRIVALS = {
	constant: { rate: field(number(0.000_1, 1_000_000)) },
	poisson: {
		rate: optional(number(0.000_1, 1_000_000)),
		load: optional(curve),
		shape: field(word('steps', 'ramp'), 'steps'),
	},
	steps: { load: field(curve) },
	ramp: { load: field(curve) },
	closed: {
		clients: field(whole(1, 100_000)),
		think: field(number(0, 86_400), 0),
		until: field(word('included', 'final'), 'included'),
	},
};

const WORKLOAD = {
	name: optional(text),
	duration: field(number(1, 86_400)),
	seed: field((value) => (typeof value === 'string' ? text(value) : whole(0, Number.MAX_SAFE_INTEGER)(value)), 1),
	accounts: field(whole(1, 100_000), 100),
	funds: field(amount, '10'),
	drain: field(number(0, 86_400), 60),
	patience: field(number(0.01, 3_600), 1),
	stream: field((value) => {
		if (!Array.isArray(value) || value.length === 0) throw new UserError('at least one [[stream]] is needed');
		return value;
	}),
};

/** Reads the fields of a table; every error says where it is. */
function readFields(table, fields, where, folder) {
	if (typeof table !== 'object' || table === null || Array.isArray(table)) {
		throw new UserError(`${where || 'the declaration'}: ${shown(table)} is not a table`);
	}
	const at = (name) => (where ? `${where}.${name}` : name);
	for (const name of Object.keys(table)) {
		if (!(name in fields))
			throw new UserError(`${at(name)} is not a field; there are ${Object.keys(fields).join(', ')}`);
	}
	return Object.fromEntries(
		Object.entries(fields).map(([name, { read, preset }]) => {
			if (table[name] === undefined) {
				if (preset === undefined) throw new UserError(`${at(name)} is missing`);
				return [name, preset];
			}
			try {
				return [name, read(table[name], folder)];
			} catch (error) {
				if (!(error instanceof UserError)) throw error;
				throw new UserError(`${at(name)}: ${error.message}`);
			}
		}),
	);
}

/** The arrival process of a stream, as `arrivals.mjs` takes it. */
function readArrival(table, where) {
	const process = table?.process;
	if (!(process in ARRIVALS)) {
		throw new UserError(`${where}.process: ${shown(process)} is not one of ${list(Object.keys(ARRIVALS))}`);
	}
	const read = readFields(table, { process: field(text), ...ARRIVALS[process] }, where);
	if (process === 'closed') return read;
	if (process === 'poisson' && (read.rate === null) === (read.load === null)) {
		throw new UserError(`${where}: give rate or load, one of them`);
	}
	const shape = process === 'ramp' ? 'ramp' : (read.shape ?? 'steps');
	return { process: process === 'poisson' ? 'poisson' : 'constant', load: read.load ?? [[0, read.rate]], shape };
}

function readStream(table, index, folder) {
	const kind = table?.kind;
	const where = `stream ${index + 1}${typeof kind === 'string' ? ` (${kind})` : ''}`;
	if (!(kind in KINDS)) throw new UserError(`${where}.kind: ${shown(kind)} is not one of ${list(Object.keys(KINDS))}`);
	const stream = readFields(table, { ...STREAM, ...KINDS[kind].fields }, where, folder);
	stream.name ??= kind;
	stream.single = KINDS[kind].single ?? false;
	stream.arrival = readArrival(table.arrival, `${where}.arrival`);
	if (kind === 'task') {
		if ((stream.steps === null) === (stream.map === null))
			throw new UserError(`${where}: give steps or map, one of them`);
		if ((stream.input === null) === (stream.input_bytes === null)) {
			throw new UserError(`${where}: give input (hex, the same for every task) or input_bytes (other ones each time)`);
		}
	}
	if (kind === 'job' && (stream.data === null) === (stream.location === null)) {
		throw new UserError(
			`${where}: give data (a file that this program serves to trainers on this machine) or location (a URL where the template's data is)`,
		);
	}
	return stream;
}

/** Checks a declaration that was parsed; `folder` is what its paths are relative to. */
export function readDeclaration(table, folder = '.') {
	const read = readFields(table, WORKLOAD, '', folder);
	const streams = read.stream.map((stream, index) => readStream(stream, index, folder));
	const names = streams.map(({ name }) => name);
	const twice = names.find((name, index) => names.indexOf(name) !== index);
	if (twice) throw new UserError(`two streams are called "${twice}": give each a name of its own`);
	delete read.stream;
	if (read.accounts < streams.length) {
		throw new UserError(`accounts: ${read.accounts} for ${streams.length} streams: each needs one at least`);
	}
	const shares = share(
		read.accounts,
		streams.map((stream) => stream.share),
	);
	streams.forEach((stream, index) => {
		stream.accounts = shares[index];
		stream.funds ??= read.funds;
		const { process, clients } = stream.arrival;
		if (process === 'closed' && clients > stream.accounts) {
			throw new UserError(
				`stream "${stream.name}" has ${clients} clients and ${stream.accounts} accounts: raise accounts, or its share`,
			);
		}
	});
	const planned = streams.reduce(
		(sum, { arrival }) =>
			sum + (arrival.process === 'closed' ? 0 : expected(pieces(arrival.load, arrival.shape, read.duration))),
		0,
	);
	if (planned > MOST_PLANNED) {
		throw new UserError(
			`about ${Math.round(planned)} transactions would be planned, ${MOST_PLANNED} at most: lower a rate, or the duration`,
		);
	}
	return { ...read, streams };
}

/** Divides `total` by weights, one at least for each; the largest remainders get what is left. */
export function share(total, weights) {
	const all = weights.reduce((sum, weight) => sum + weight, 0);
	const free = total - weights.length;
	const exact = weights.map((weight) => (free * weight) / all);
	const given = exact.map(Math.floor);
	const order = exact.map((value, index) => [value - given[index], index]).sort(([a, i], [b, j]) => b - a || i - j);
	const left = free - given.reduce((sum, value) => sum + value, 0);
	for (const [, index] of order.slice(0, left)) given[index]++;
	return given.map((value) => value + 1);
}

/** Reads a declaration from a file. */
export function declarationOf(path) {
	let content;
	try {
		content = readFileSync(path, 'utf8');
	} catch (error) {
		throw new UserError(`cannot read the workload ${path}: ${error.message}`);
	}
	const json = path.endsWith('.json');
	let table;
	try {
		table = json ? JSON.parse(content) : parse(content);
	} catch (error) {
		throw new UserError(`${path} is not ${json ? 'JSON' : 'TOML'}: ${error.message.trim()}`);
	}
	try {
		const read = readDeclaration(table, dirname(resolve(path)));
		return { ...read, name: read.name ?? basename(path).replace(/\.(toml|json)$/, '') };
	} catch (error) {
		if (error instanceof UserError) throw new UserError(`${path}: ${error.message}`);
		throw error;
	}
}

/** Due times of each stream in ms from the beginning, or null where its clients wait for answers. */
export const timesOf = ({ seed, duration, streams }) =>
	streams.map(({ name, arrival }) =>
		arrival.process === 'closed' ? null : arrivalTimes(arrival, duration, generator(seed, 'arrivals', name)),
	);
