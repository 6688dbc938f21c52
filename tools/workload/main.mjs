#!/usr/bin/env node
// `tools/workload/run`: a declared load on a chain, measured.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { tellFailure } from '../end-to-end/lib/output.mjs';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { declarationOf, timesOf } from './declaration.mjs';
import { Guard } from './guard.mjs';
import { runLoad } from './load.mjs';
import { startNetwork } from './network.mjs';
import { HELP, readOptions } from './options.mjs';
import { plots } from './plots.mjs';
import { csvOf, reportOf, textOf } from './report.mjs';

/** What would be sent, in words. */
function planOf({ name, seed, duration, accounts, streams, ...rest }) {
	const lines = [`${name}: ${duration} s, seed ${seed}, ${accounts} accounts`];
	timesOf({ seed, duration, streams, ...rest }).forEach((times, index) => {
		const { name, kind, accounts, arrival } = streams[index];
		const count = times ? `${times.length} due` : `${arrival.clients} clients`;
		lines.push(`  ${name}: ${kind}, ${accounts} accounts, ${arrival.process}, ${count}`);
	});
	return lines.join('\n');
}

let options, declaration;
try {
	options = readOptions(process.argv.slice(2));
	if (options.help) {
		console.log(HELP);
		process.exit(0);
	}
	declaration = declarationOf(options.declaration);
} catch (error) {
	if (!(error instanceof UserError)) throw error;
	console.error(`error: ${error.message}. See tools/workload/run --help`);
	process.exit(2);
}
if (options.check) {
	console.log(planOf(declaration));
	process.exit(0);
}

const closes = [];
let stopping;
const stop = () =>
	(stopping ??= (async () => {
		for (const close of closes.reverse()) await close();
	})());
for (const [signal, code] of [
	['SIGINT', 130],
	['SIGTERM', 143],
]) {
	process.on(signal, async () => {
		console.error(`\nstopping (${signal}) …`);
		await stop();
		process.exit(code);
	});
}

const say = (text) => console.error(text);
let logs = null;
try {
	let { urls } = options;
	let about = {};
	if (options.start) {
		logs = mkdtempSync(join(tmpdir(), 'trainyard-workload-'));
		const guard = new Guard();
		closes.push(() => guard.close());
		say(`starting ${options.start.nodes} node(s)`);
		const hold = (network) => closes.push(() => network.stop());
		const network = await startNetwork(options.start, { folder: logs, guard, hold });
		urls = network.authorities.map(({ url }) => url);
		const { nodes, template, slot, c, links } = options.start;
		about = { started: nodes, template, ...(template ? {} : { slot_ms: slot, c: c.join('/') }), links };
	}
	const { funder, skipMissing } = options;
	const found = await runLoad({ declaration, urls, funder, skipMissing, say, hold: (close) => closes.push(close) });
	const report = reportOf(found, about);
	if (options.out) {
		const folder = resolve(options.out);
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, '\t')}\n`);
		writeFileSync(join(folder, 'transactions.csv'), csvOf(found));
		const svg = plots(report);
		if (svg) writeFileSync(join(folder, 'report.svg'), svg);
		say(`written: report.json, transactions.csv${svg ? ', report.svg' : ''} in ${folder}`);
	}
	console.log(options.json ? JSON.stringify(report) : textOf(report));
	await stop();
	if (logs) rmSync(logs, { recursive: true, force: true });
	process.exit(0);
} catch (error) {
	if (stopping) await new Promise(() => {});
	await stop();
	if (error instanceof UserError) {
		if (logs) rmSync(logs, { recursive: true, force: true });
		console.error(`error: ${error.message}`);
		process.exit(2);
	}
	tellFailure(error, logs ? { logs } : {});
	process.exit(1);
}
