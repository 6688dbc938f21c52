// The plots of a run, one below the other in one SVG.

import { plot } from '../network/svg.mjs';

const [WIDTH, HEIGHT] = [860, 420];
/** Most steps of a plot over time; seconds are put together where there are more. */
const MOST = 120;

/** A name that fits beside the plot. */
const short = (name) => (name.length > 16 ? `${name.slice(0, 15)}…` : name);
const blank = (line) => line.map(() => null);

/** Puts `every` values together, by `join`. */
const grouped = (values, every, join) =>
	Array.from({ length: Math.ceil(values.length / every) }, (_, at) => join(values.slice(at * every, (at + 1) * every)));
const sum = (values) => values.reduce((all, one) => all + one, 0);
const middle = (values) => {
	const there = values.filter((one) => one !== null).sort((a, b) => a - b);
	return there.length ? there[there.length >> 1] : null;
};

/** Below each other, in one picture. */
function stacked(pictures) {
	const inner = pictures.map((picture, at) =>
		picture.replace('<svg ', `<svg y="${at * HEIGHT}" width="${WIDTH}" height="${HEIGHT}" `),
	);
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${pictures.length * HEIGHT}">\n${inner.join('')}</svg>\n`;
}

/** Throughput and latency over time, latency by percentile, fullness of blocks; of `reportOf`. */
export function plots(report) {
	const streams = report.streams.filter(({ transactions }) => transactions.included > 0);
	if (streams.length === 0) return null;
	const length = report.all.series.sent.length;
	const every = Math.max(1, Math.ceil(length / MOST));
	const x =
		every === 1 ? 'seconds from the beginning of the load' : `time from the beginning of the load, in ${every} s`;
	const rate = (values) => grouped(values, every, (group) => sum(group) / group.length);
	const seconds = (values) => values.map((value) => (value === null ? null : value / 1_000));
	const { name } = report.workload;
	const throughput = plot({
		title: `${name}: transactions a second, sent by all streams, and in blocks by each`,
		x,
		y: 'a second',
		series: [
			{ name: 'sent', line: rate(report.all.series.sent) },
			...streams.map(({ name, transactions }) => ({
				name: short(name),
				line: rate(transactions.series.included),
			})),
		].map((one) => ({ ...one, dots: blank(one.line) })),
	});
	const latency = plot({
		title: `${name}: seconds until a block has it, by the second of sending (median)`,
		x,
		y: 'seconds',
		format: (value) => String(Math.round(value * 100) / 100),
		series: streams.map(({ name, transactions }) => ({
			name: short(name),
			line: seconds(grouped(transactions.series.inclusion_ms, every, middle)),
			dots: blank(grouped(transactions.series.inclusion_ms, every, middle)),
		})),
	});
	const distribution = plot({
		title: `${name}: seconds until a block has it, by percentile`,
		x: 'per cent of the transactions that need no longer',
		first: 1,
		y: 'seconds',
		format: (value) => String(Math.round(value * 100) / 100),
		series: streams.map(({ name, transactions }) => ({
			name: short(name),
			line: seconds(transactions.distribution.inclusion_ms),
			dots: new Array(100).fill(null),
		})),
	});
	const pictures = [throughput, latency, distribution];
	const full = report.blocks.filter(({ seen_ms }) => seen_ms >= 0);
	if (full.length > 1) {
		pictures.push(
			plot({
				title: `${name}: how full blocks were`,
				x: 'block',
				y: 'share of what normal transactions may take',
				first: full[0].number,
				format: (value) => `${Math.round(value * 1_000) / 10} %`,
				series: [
					{ name: 'weight', line: full.map(({ normal_weight }) => normal_weight), dots: blank(full) },
					{ name: 'length', line: full.map(({ length }) => length), dots: blank(full) },
				],
			}),
		);
	}
	return stacked(pictures);
}
