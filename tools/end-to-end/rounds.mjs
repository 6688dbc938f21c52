#!/usr/bin/env node
// Rounds per hour of a federation on the local development chain, by redundancy: one block a second, real trainers,
// verifiers and proposals; and what a round leaves on chain, beside what a formula says. Prints the tables of
// docs/federation.md.
//
//     tools/end-to-end/rounds.mjs [--redundancy 1,2,4] [--parts 2] [--rounds 2] [--hidden 64,32] [--steps 300]
//                                 [--apply 6] [--rule agreed|settled] [--dir DIR] [--bin DIR]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ADDRESS, DIGITS, Network, ROOT, defaultBin, trainyard } from './lib/network.mjs';
import { chunkCount } from '../../packages/polkadot-js/src/hash.js';
import { anyPort } from './lib/net.mjs';
import { pallet, stateOf, storedBytes } from './lib/state.mjs';

const { federation, keyFromSuri, send } = trainyard;
const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const SUBMITTER = '//Ferdie';

const { values } = parseArgs({
	options: {
		redundancy: { type: 'string', default: '1,2,4' },
		parts: { type: 'string', default: '2' },
		rounds: { type: 'string', default: '2' },
		hidden: { type: 'string', default: '64,32' },
		steps: { type: 'string', default: '300' },
		// Blocks within which all trainers must have rehearsed the job: more for large models.
		apply: { type: 'string', default: '6' },
		rule: { type: 'string' },
		dir: { type: 'string' },
		bin: { type: 'string', default: defaultBin() },
	},
});
const list = (text) => text.split(',').map(Number);
const folder = values.dir ?? mkdtempSync(join(tmpdir(), 'trainyard-rounds-'));
const redundancies = list(values.redundancy);
/** Pallets in which a round has something. */
const PALLETS = ['federation', 'modelStorage', 'taskMarket', 'submissions', 'verification'];
const network = new Network({ folder, bin: values.bin });

/** The digits' job with these widths and steps. */
function jobFile() {
	const path = join(folder, 'job.toml');
	const text = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
		.replace('data/digits.csv', DIGITS)
		.replace(/hidden = .*/, `hidden = [${values.hidden}]`)
		.replace(/steps = \d+/, `steps = ${values.steps}`)
		.replace(/checkpoint_interval = \d+/, `checkpoint_interval = ${Math.min(50, Number(values.steps))}`)
		.replace(/audit_fee = .*/, '')
		.replace(/audit_segments = .*/, '')
		.replace(/apply_blocks = \d+/, `apply_blocks = ${values.apply}`)
		.replace(/training_blocks = \d+/, 'training_blocks = 1800');
	writeFileSync(path, text);
	return path;
}

/** Runs a federation with so many trainers for each part; returns its last view, and the price of its jobs. */
async function run(id, redundancy) {
	const args = ['--parts', values.parts, '--rounds', values.rounds, '--redundancy', `${redundancy}`];
	if (values.rule) args.push('--rule', values.rule);
	args.push('--listen', `127.0.0.1:${await anyPort()}`, '--dir', join(folder, `federation-${id}`));
	const common = ['--node', network.url, '--suri', SUBMITTER, '--json'];
	const command = ['federate', jobFile(), ...args, ...common];
	await network.fleet.must(`federation-${id}`, network.workerBinary, command, { seconds: 3_600 });
	const view = await federation(network.api, id);
	let paid = 0n;
	for (const { parts } of view.rounds) {
		for (const [, job] of parts) {
			const { settlement } = await network.job(job);
			paid += BigInt(settlement.paid_to_trainers) + BigInt(settlement.paid_to_verifiers);
		}
	}
	return { view, paid };
}

/** Bytes of the state by pallet, and of all stored files. */
async function onChain(api) {
	const state = [];
	for (const name of PALLETS) state.push((await stateOf(api, pallet(api, name))).bytes);
	return { state, stored: await storedBytes(api) };
}

try {
	await network.startNode({ rpcPort: await anyPort() });
	const api = await network.connect();
	const trainers = ['//Alice', '//Bob'];
	const gifts = [];
	for (let n = 2; n < Math.max(...redundancies); n++) {
		const suri = `//Ferdie//trainer${n}`;
		const { address } = await keyFromSuri(suri);
		ADDRESS[suri] = address;
		gifts.push(api.tx.balances.transferKeepAlive(address, 10_000n * UNIT));
		trainers.push(suri);
	}
	if (gifts.length > 0) await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri(SUBMITTER));
	for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
	for (const suri of trainers) {
		const listen = `127.0.0.1:${await anyPort()}`;
		network.startWorker('trainer', suri, ['--bond', '100', '--max-parallel', '4', '--listen', listen]);
	}
	await network.verifiersReady(VERIFIERS);
	await network.trainersReady(trainers);
	const rows = [];
	const memory = [];
	for (const [id, redundancy] of redundancies.entries()) {
		const from = (await api.rpc.chain.getHeader()).number.toNumber();
		const before = await onChain(api);
		const { view, paid } = await run(id, redundancy);
		const after = await onChain(api);
		// Rounds follow one another, so the block of the last one counts all of them.
		const blocks = view.rounds.at(-1).at - from;
		const each = blocks / view.rounds.length;
		const size = Number(view.initial.file.bytes);
		memory.push([redundancy, size, view.rounds.length, before, after]);
		rows.push([redundancy, view.plan.rule, size, each, 3_600 / each, Number(paid) / Number(UNIT) / view.rounds.length]);
		console.log(JSON.stringify({ redundancy, rule: view.plan.rule, size, each, tainted: view.tainted }));
	}
	console.log(
		'| redundancy | rule | bytes of the model | blocks of a round | rounds an hour at 1 s | paid a round, TRY |',
	);
	console.log('|---|---|---|---|---|---|');
	for (const [r, rule, size, each, hour, paid] of rows) {
		console.log(
			`| ${r} | ${rule.toLowerCase()} | ${size} | ${each.toFixed(1)} | ${hour.toFixed(0)} | ${paid.toFixed(2)} |`,
		);
	}
	console.log(
		`\n| redundancy | bytes of the model | ${PALLETS.join(' | ')} | state of a round, bytes | formula | ` +
			'stored of a round, bytes | formula, equal ones once | formula, each by itself |',
	);
	console.log(`|${'---|'.repeat(PALLETS.length + 7)}`);
	for (const [r, size, rounds, before, after] of memory) {
		const [parts, chunks] = [Number(values.parts), chunkCount(size)];
		const each = PALLETS.map((_, at) => (after.state[at] - before.state[at]) / rounds);
		const cells = [...each, each.reduce((sum, bytes) => sum + bytes, 0)].map((bytes) => bytes.toFixed(0));
		const formula = 32 * (chunks + 1 + parts * r * (chunks + 2));
		const stored = (after.stored - before.stored) / rounds;
		const row = [r, size, ...cells, formula, stored.toFixed(0), size * (1 + parts), size * (1 + parts * r)];
		console.log(`| ${row.join(' | ')} |`);
	}
} finally {
	await network.stop();
	if (!values.dir) rmSync(folder, { recursive: true, force: true });
}
