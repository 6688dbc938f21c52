// The command line of `tools/workload/run`.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { UserError } from '../../packages/polkadot-js/src/errors.js';

export const HELP = `Puts a declared load on a chain and measures latency and throughput: docs/workload.md.

Usage: tools/workload/run WORKLOAD.toml [OPTIONS]

  --node URL           WebSocket of a node; several times for several nodes of one chain
                       [default: ws://127.0.0.1:9944]
  --start N            start N nodes on this machine instead, each an authority
  --bin DIR            with --start: folder with the node [default: what scripts/test builds]
  --template           with --start: the plain template, solochain-template-node, instead of ours
  --slot MS            with --start: length of a slot [default: 1000; that of the template is its own]
  --c N/D              with --start: share of slots that somebody wins [default: 1/4]
  --links LINKS        with --start: links between the nodes as on a wide area, in network namespaces (Linux,
                       as root): delay=50ms,jitter=5ms,rate=100mbit,loss=0.1% (delay is of one way)
  --workers            with --start: trainers, verifiers and who computes tasks beside the nodes
  --funder SURI        account that gives the others money [default: //Alice]
  --funder-file FILE   file with its secret URI: one on the command line is seen by everybody on the machine
  --skip-missing       leave out streams that the chain has no calls for
  --check              read the declaration, say what would be sent, and send nothing
  --out DIR            folder for report.json, report.svg and transactions.csv
  --json               print the report as JSON
  --help               print this help

Exit codes: 0, also where transactions were refused (the report says so); 1 where the run failed; 2 where it was
asked for something wrong; 130 and 143 where it was stopped.`;

const FLAGS = {
	node: { type: 'string', multiple: true },
	start: { type: 'string' },
	bin: { type: 'string' },
	template: { type: 'boolean' },
	slot: { type: 'string' },
	c: { type: 'string' },
	links: { type: 'string' },
	workers: { type: 'boolean' },
	funder: { type: 'string' },
	'funder-file': { type: 'string' },
	'skip-missing': { type: 'boolean' },
	check: { type: 'boolean' },
	out: { type: 'string' },
	json: { type: 'boolean' },
	help: { type: 'boolean', short: 'h' },
};
/** Most nodes that are started on one machine. */
const MOST_NODES = 16;
/** The slot of ours where none is named. Of the template it is a constant of its runtime, and this only what is waited by. */
const [SLOT, TEMPLATE_SLOT] = [1_000, 6_000];

function number(flag, text, least, most) {
	const value = Number(text);
	if (!/^\d+$/.test(text) || value < least || value > most) {
		throw new UserError(`--${flag}: "${text}" is not a whole number from ${least} to ${most}`);
	}
	return value;
}

/** What a link is like: `delay=50ms,jitter=5ms,rate=100mbit,loss=0.1%`. */
export function readLinks(text) {
	const found = {};
	const parts = { delay: ['ms', 10_000], jitter: ['ms', 10_000], rate: ['mbit', 100_000], loss: ['%', 99] };
	for (const part of text.split(',')) {
		const [name, value = ''] = part.split('=');
		if (!(name in parts)) throw new UserError(`--links: "${part}" is none of ${Object.keys(parts).join(', ')}`);
		const [unit, most] = parts[name];
		const count = value.endsWith(unit) ? value.slice(0, -unit.length) : '';
		if (!/^\d+(\.\d+)?$/.test(count) || Number(count) > most) {
			throw new UserError(`--links: ${name} is "${value}": write it as ${name}=1${unit}, with at most ${most}${unit}`);
		}
		if (name in found) throw new UserError(`--links: ${name} is there twice`);
		found[name] = Number(count);
	}
	if (found.rate === 0) throw new UserError('--links: by a rate of 0mbit nothing arrives');
	const { delay = 0, jitter = 0, rate, loss = 0 } = found;
	return { delay, jitter, loss, ...(rate ? { mbit: rate } : {}) };
}

/** Reads the command line; fails with a sentence where it makes no sense. */
export function readOptions(args) {
	let parsed;
	try {
		parsed = parseArgs({ args, options: FLAGS, allowPositionals: true });
	} catch (error) {
		throw new UserError(error.message);
	}
	const { values, positionals } = parsed;
	if (values.help) return { help: true };
	if (positionals.length !== 1) {
		throw new UserError(`one declaration is needed, not ${positionals.length}: tools/workload/workloads has some`);
	}
	if (values.start === undefined) {
		const alone = ['bin', 'template', 'slot', 'c', 'links', 'workers'].find((flag) => values[flag] !== undefined);
		if (alone) throw new UserError(`--${alone} is for nodes that are started here: give --start N too`);
	} else if (values.node) {
		throw new UserError('--node names running nodes, --start starts some: give one of them');
	}
	const wrong = values.node?.find((url) => !/^wss?:\/\/./.test(url));
	if (wrong) throw new UserError(`--node: "${wrong}" is not a ws:// or wss:// URL`);
	if (values.funder && values['funder-file']) throw new UserError('give --funder or --funder-file, not both');
	let funder = values.funder ?? '//Alice';
	if (values['funder-file']) {
		try {
			funder = readFileSync(values['funder-file'], 'utf8').trim();
		} catch (error) {
			throw new UserError(`--funder-file: ${error.message}`);
		}
	}
	let start = null;
	if (values.start !== undefined) {
		const nodes = number('start', values.start, 1, MOST_NODES);
		const template = values.template ?? false;
		if (template && values.workers) throw new UserError('--workers: the template has no jobs and no tasks');
		if (template && values.c) throw new UserError('--c: authorities of the template make blocks by turns');
		if (template && values.slot) throw new UserError('--slot: that of the template is a constant of its runtime');
		const preset = template ? TEMPLATE_SLOT : SLOT;
		const slot = values.slot === undefined ? preset : number('slot', values.slot, 200, 60_000);
		if (slot % 2) throw new UserError(`--slot: ${slot} is not even; the chain needs an even number of milliseconds`);
		const match = /^(\d+)\/(\d+)$/.exec(values.c ?? '1/4');
		const c = match && [Number(match[1]), Number(match[2])];
		if (!c || c[0] < 1 || c[0] >= c[1])
			throw new UserError(`--c: "${values.c}" is not a fraction between 0 and 1, as 1/4`);
		const links = values.links === undefined ? null : readLinks(values.links);
		if (links && nodes < 2) throw new UserError('--links: one node has no links; start two at least');
		start = { nodes, template, slot, c, links, workers: values.workers ?? false, bin: values.bin ?? null };
	}
	return {
		declaration: positionals[0],
		urls: values.node ?? ['ws://127.0.0.1:9944'],
		start,
		funder,
		skipMissing: values['skip-missing'] ?? false,
		check: values.check ?? false,
		out: values.out ?? null,
		json: values.json ?? false,
		help: false,
	};
}
