#!/usr/bin/env node
// `tools/network/run`: N real nodes on this machine, and what they did.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { defaultBin } from '../end-to-end/lib/network.mjs';
import { tellFailure } from '../end-to-end/lib/output.mjs';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { HELP, readOptions } from './options.mjs';

/** Runs what was asked for; `network` comes back for stopping it as soon as it is there. */
async function run(options, hold) {
	if (options.command === 'faults') return (await import('./faults.mjs')).runFaults(options, hold);
	if (options.command === 'shift') return (await import('./shift.mjs')).runShift(options, hold);
	return (await import('./measure.mjs')).runMeasurement(options, hold);
}

let options;
try {
	options = readOptions(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UserError)) throw error;
	console.error(`error: ${error.message}. See tools/network/run --help`);
	process.exit(2);
}
if (options.help) console.log(HELP);
// tools/network/run asks first whether the arguments are right.
if (options.help || process.env.TRAINYARD_READ_ARGUMENTS) process.exit(0);

const temporary = options.dir === undefined;
options.folder = temporary ? mkdtempSync(join(tmpdir(), 'trainyard-network-')) : resolve(options.dir);
options.bin ??= defaultBin();
const networks = new Set();
let stopping;
const stop = () => (stopping ??= Promise.allSettled([...networks].map((network) => network.stop())));
for (const [signal, code] of [
	['SIGINT', 130],
	['SIGTERM', 143],
]) {
	process.on(signal, async () => {
		console.error(`\nstopping (${signal}) …`);
		await stop();
		console.error(`Logs: ${options.folder}`);
		process.exit(options.keeping && signal === 'SIGINT' ? 0 : code);
	});
}

try {
	const good = await run(options, (network) => networks.add(network));
	await stop();
	// What went well needs no logs, unless somebody said where they should be.
	if (good && temporary) rmSync(options.folder, { recursive: true, force: true });
	else console.error(`Logs: ${options.folder}`);
	process.exit(good ? 0 : 1);
} catch (error) {
	if (stopping) await new Promise(() => {});
	await stop();
	if (error instanceof UserError) {
		if (temporary) rmSync(options.folder, { recursive: true, force: true });
		console.error(`error: ${error.message}`);
		process.exit(2);
	}
	tellFailure(error, { logs: options.folder });
	process.exit(1);
}
