// What a run has found, in numbers: for each stream what became of its transactions, how long they took, and how
// much arrived in each second; and how full the blocks were.

import { cpus, loadavg, release } from 'node:os';
import { table } from '../../packages/polkadot-js/src/table.js';
import { hexToU8a } from '../../packages/polkadot-js/src/polkadot.js';
import { quantile } from '../network/statistics.mjs';
import { PHASES } from './operations.mjs';

/** The percentiles that are given, beside the largest value. */
const PERCENTILES = [50, 90, 95, 99];

/** Percentiles of values, by rank: p50 is the smallest value that half of all do not exceed. Null of no values. */
export function percentiles(values) {
	if (values.length === 0) return null;
	const sorted = [...values].sort((a, b) => a - b);
	const found = Object.fromEntries(PERCENTILES.map((p) => [`p${p}`, quantile(sorted, p / 100)]));
	return { count: values.length, ...found, max: sorted.at(-1) };
}

/** The value of each whole per cent from 1 to 100. */
export const distribution = (values) => {
	if (values.length === 0) return null;
	const sorted = [...values].sort((a, b) => a - b);
	return Array.from({ length: 100 }, (_, at) => sorted[Math.ceil(((at + 1) / 100) * sorted.length) - 1]);
};

/** How many of the times fall into each second from `from` on. */
export function perSecond(times, from, seconds) {
	const counts = new Array(seconds).fill(0);
	for (const time of times) {
		const at = Math.floor((time - from) / 1_000);
		if (at >= 0 && at < seconds) counts[at]++;
	}
	return counts;
}

/** The median of the values in each second, by the times beside them; null where there are none. */
export function medianPerSecond(pairs, from, seconds) {
	const all = Array.from({ length: seconds }, () => []);
	for (const [time, value] of pairs) all[Math.floor((time - from) / 1_000)]?.push(value);
	return all.map((values) => (values.length ? quantile(values, 0.5) : null));
}

const tally = (words) => {
	const counts = {};
	for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
	return counts;
};
const round = (value, digits = 1) => (value === null ? null : Math.round(value * 10 ** digits) / 10 ** digits);
const rounded = (found) =>
	found && Object.fromEntries(Object.entries(found).map(([name, value]) => [name, round(value)]));

/** What became of the transactions of one stream. */
export function accounted(entries, { began, loadEnd, ended }) {
	const seconds = Math.ceil((ended - began) / 1_000);
	const of = (state) => entries.filter((entry) => entry.state === state);
	const sent = entries.filter((entry) => entry.sent !== null);
	const included = entries.filter((entry) => entry.seen !== null);
	const final = entries.filter((entry) => entry.final !== null);
	const during = (time) => time >= began && time < loadEnd;
	const inclusion = included.map(({ sent, seen }) => seen - sent);
	const finality = final.map(({ sent, final }) => final - sent);
	return {
		due: entries.length,
		sent: sent.length,
		unsent: of('unsent').length,
		unsent_reasons: tally(of('unsent').map(({ unsent }) => unsent)),
		refused: of('refused').length,
		refused_reasons: tally(of('refused').map(({ refused }) => refused)),
		included: included.length,
		final: final.length,
		not_final: of('not final').length,
		dropped: of('dropped').length,
		failed: of('failed').length,
		failed_reasons: tally(of('failed').map(({ failed }) => failed)),
		moved: final.filter(({ block, finalBlock }) => block !== finalBlock).length,
		bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0),
		per_second: {
			sent: round(sent.filter((one) => during(one.sent)).length / ((loadEnd - began) / 1_000), 2),
			included: round(included.filter(({ seen }) => during(seen)).length / ((loadEnd - began) / 1_000), 2),
		},
		lateness_ms: rounded(percentiles(sent.map(({ due, sent }) => sent - due))),
		answer_ms: rounded(percentiles(sent.flatMap(({ answered, sent }) => (answered === null ? [] : [answered - sent])))),
		inclusion_ms: rounded(percentiles(inclusion)),
		finality_ms: rounded(percentiles(finality)),
		distribution: { inclusion_ms: distribution(inclusion)?.map((one) => round(one)) ?? null },
		series: {
			sent: perSecond(
				sent.map((one) => one.sent),
				began,
				seconds,
			),
			included: perSecond(
				included.map(({ seen }) => seen),
				began,
				seconds,
			),
			final: perSecond(
				final.map((one) => one.final),
				began,
				seconds,
			),
			inclusion_ms: medianPerSecond(
				included.map(({ sent, seen }) => [sent, seen - sent]),
				began,
				seconds,
			).map((one) => round(one)),
		},
	};
}

/** What became of the units of a stream of blobs, jobs or tasks: times from the moment when each was begun. */
export function unitsOf(kind, all) {
	const done = all.filter(({ error, unsent }) => error === null && unsent === null);
	const phase = (name) => all.flatMap(({ phases, begun }) => (name in phases ? [phases[name] - begun] : []));
	return {
		due: all.length,
		unsent: all.filter(({ unsent }) => unsent !== null).length,
		done: done.length,
		failed: all.filter(({ error }) => error !== null).length,
		failed_reasons: tally(all.flatMap(({ error }) => (error === null ? [] : [error]))),
		endings: tally(all.flatMap(({ ending }) => (ending === null ? [] : [ending]))),
		phases_ms: Object.fromEntries(PHASES[kind].map((name) => [name, rounded(percentiles(phase(name)))])),
		...(kind === 'blob' ? blobRates(all) : {}),
	};
}

/** Bytes a second of blobs: of one, from its begin until a block has its last chunk, and to read it. */
function blobRates(all) {
	const rate = (bytes, ms) => bytes / (ms / 1_000);
	const stored = all.filter(({ phases }) => 'stored' in phases);
	const read = all.filter(({ phases }) => 'read' in phases);
	return {
		bytes: stored.reduce((sum, { bytes }) => sum + bytes, 0),
		stored_bytes_per_second: rounded(
			percentiles(stored.map(({ bytes, phases, begun }) => rate(bytes, phases.stored - begun))),
		),
		read_bytes_per_second: rounded(percentiles(read.map(({ bytes, readMs }) => rate(bytes, readMs)))),
	};
}

/** The final blocks of the run: how many transactions, and how much of what a block takes. */
export function blocksOf({ watch, chain, began }) {
	const { registry } = chain.description;
	return watch.finals.map(({ number, hash, at, final, count, ours, bytes, weight }) => {
		const parts = weight ? registry.createType('(Weight, Weight, Weight)', hexToU8a(weight)) : [];
		const sum = (part) => parts.reduce((all, one) => all + Number(one[part].toBigInt()), 0);
		const normal = (part) => (parts.length ? Number(parts[0][part].toBigInt()) : 0);
		const { block, normal: most } = chain.limits.weights;
		return {
			number,
			hash,
			seen_ms: round(at - began),
			final_ms: round(final - began),
			transactions: count,
			ours,
			bytes,
			length: round(bytes / chain.limits.normalBytes, 4),
			weight: round(sum('refTime') / block.time, 4),
			normal_weight: round(normal('refTime') / most.time, 4),
			normal_proof: most.proof > 1e15 ? null : round(normal('proofSize') / most.proof, 4),
		};
	});
}

/** Everything about a run as JSON. */
export function reportOf(found, about) {
	const { declaration, chain, urls, streams, skipped, ledger, operations, began, loadEnd, ended } = found;
	const times = { began, loadEnd, ended };
	const blocks = blocksOf(found);
	const load = blocks.filter(({ seen_ms }) => seen_ms >= 0 && seen_ms < loadEnd - began);
	return {
		workload: { name: declaration.name, seed: declaration.seed, duration_s: declaration.duration },
		about,
		machine: {
			processor: cpus()[0]?.model ?? '',
			cores: cpus().length,
			kernel: release(),
			load: loadavg().map((one) => round(one, 2)),
		},
		chain: { name: chain.name, node: chain.version, runtime: chain.runtime, genesis: chain.genesis, nodes: urls },
		clock:
			'times are of the clock of this machine: when a transaction was given to the connection, and when its block was seen here by the first node',
		began: new Date(began).toISOString(),
		load_s: round((loadEnd - began) / 1_000, 2),
		whole_s: round((ended - began) / 1_000, 2),
		skipped,
		trouble: found.watch.trouble?.message ?? null,
		all: accounted(ledger.entries, times),
		streams: streams.map(({ name, kind, accounts }) => ({
			name,
			kind,
			accounts,
			transactions: accounted(
				ledger.entries.filter(({ stream }) => stream === name),
				times,
			),
			...(PHASES[kind]
				? {
						units: unitsOf(
							kind,
							operations.all.filter(({ stream }) => stream === name),
						),
					}
				: {}),
		})),
		fullness: {
			blocks: load.length,
			interval_ms: rounded(percentiles(load.slice(1).map(({ seen_ms }, index) => seen_ms - load[index].seen_ms))),
			normal_weight: fraction(load.map(({ normal_weight }) => normal_weight)),
			length: fraction(load.map(({ length }) => length)),
		},
		blocks,
	};
}

const fraction = (values) => {
	const found = percentiles(values);
	return found && { p50: found.p50, max: found.max };
};

const seconds = (ms) => (ms === null || ms === undefined ? '-' : (ms / 1_000).toFixed(2));
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const reasons = (counts) =>
	Object.entries(counts)
		.sort(([, a], [, b]) => b - a)
		.map(([reason, count]) => `    ${count} x ${reason}`);

/** The report for people. */
export function textOf(report) {
	const lines = [];
	const { workload, chain, machine, fullness } = report;
	lines.push(
		`${workload.name}, seed ${workload.seed}: ${report.load_s} s of load on ${chain.name} (${chain.runtime}, ${chain.node}), ${chain.nodes.length} node(s)`,
	);
	lines.push(`${machine.cores} cores, load of the machine ${machine.load[0]}`);
	if (report.trouble) lines.push(`the watched node did not always answer, so some times are late: ${report.trouble}`);
	for (const { name, kind } of report.skipped) lines.push(`left out: ${name} (the chain has no ${kind})`);
	const rows = report.streams.map(({ name, transactions: t }) => [
		...[name, t.due, t.sent, t.unsent, t.refused, t.included, t.final, t.dropped, t.failed],
		...[t.per_second.sent, t.per_second.included],
	]);
	const head = [
		'stream',
		'due',
		'sent',
		'unsent',
		'refused',
		'included',
		'final',
		'dropped',
		'failed',
		'sent/s',
		'included/s',
	];
	lines.push('', table(head, rows, head.map((_, at) => at).slice(1)));
	const latency = report.streams.flatMap(({ name, transactions: t }) =>
		[
			['to a block', t.inclusion_ms],
			['to finality', t.finality_ms],
			['late by', t.lateness_ms],
		]
			.filter(([, found]) => found)
			.map(([what, { p50, p90, p95, p99, max }]) => [name, what, ...[p50, p90, p95, p99, max].map(seconds)]),
	);
	lines.push('', table(['stream', 'seconds', '50 %', '90 %', '95 %', '99 %', 'max'], latency, [2, 3, 4, 5, 6]));
	const units = report.streams.filter(({ units }) => units);
	if (units.length) {
		const rows = units.flatMap(({ name, units: u }) =>
			Object.entries(u.phases_ms).map(([phase, found]) => [
				...[name, phase, found?.count ?? 0],
				...['p50', 'p90', 'p95', 'p99', 'max'].map((which) => seconds(found?.[which])),
			]),
		);
		lines.push(
			'',
			table(['stream', 'until', 'units', '50 %', '90 %', '95 %', '99 %', 'max'], rows, [2, 3, 4, 5, 6, 7]),
		);
		for (const { name, units: u } of units) {
			const ends = Object.entries(u.endings).map(([ending, count]) => `, ${count} ended ${ending}`);
			lines.push(`${name}: ${u.due} due, ${u.unsent} not begun, ${u.done} done, ${u.failed} failed${ends.join('')}`);
			if (u.stored_bytes_per_second) {
				const kib = (found) => (found ? `${(found.p50 / 1_024).toFixed(1)} KiB/s` : '-');
				lines.push(
					`${name}: ${u.bytes} bytes stored, a blob at ${kib(u.stored_bytes_per_second)}, read at ${kib(u.read_bytes_per_second)} (medians)`,
				);
			}
			lines.push(...reasons(u.failed_reasons));
		}
	}
	for (const { name, transactions: t } of report.streams) {
		for (const [what, counts] of [
			['refused', t.refused_reasons],
			['not sent', t.unsent_reasons],
			['failed', t.failed_reasons],
		]) {
			if (Object.keys(counts).length) lines.push(`${name}, ${what}:`, ...reasons(counts));
		}
	}
	if (fullness.normal_weight) {
		lines.push(
			'',
			`${fullness.blocks} blocks while the load lasted, one in ${seconds(fullness.interval_ms?.p50)} s (median); of what normal ` +
				`transactions may take: weight ${percent(fullness.normal_weight.p50)} (most ${percent(fullness.normal_weight.max)}), ` +
				`length ${percent(fullness.length.p50)} (most ${percent(fullness.length.max)})`,
		);
	}
	return lines.join('\n');
}

/** Every transaction as a row of CSV: times in ms from the beginning of the load. */
export function csvOf({ ledger, began }) {
	const time = (at) => (at === null ? '' : (at - began).toFixed(1));
	const quote = (text) => (text === null ? '' : `"${String(text).replaceAll('"', '""')}"`);
	const rows = ledger.entries.map((entry) =>
		[
			...[quote(entry.stream), entry.state, entry.hash ?? '', entry.bytes],
			...[time(entry.due), time(entry.sent), time(entry.answered), time(entry.seen), time(entry.final)],
			...[entry.block ?? '', entry.finalBlock ?? '', quote(entry.refused ?? entry.unsent ?? entry.failed)],
		].join(','),
	);
	return `stream,state,hash,bytes,due_ms,sent_ms,answered_ms,seen_ms,final_ms,block,final_block,reason\n${rows.join('\n')}\n`;
}
