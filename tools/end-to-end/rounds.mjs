#!/usr/bin/env node
// Rounds per hour of a federation on the local development chain, by redundancy: one block a second, real trainers,
// verifiers and proposals. Prints a table for docs/benchmarks.md.
//
//     tools/end-to-end/rounds.mjs [--redundancy 1,2,4] [--parts 2] [--rounds 2] [--hidden 64,32] [--steps 300]
//                                 [--rule agreed|settled] [--dir DIR] [--bin DIR]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ADDRESS, DIGITS, Network, ROOT, defaultBin, trainyard } from './lib/network.mjs';
import { anyPort } from './lib/net.mjs';

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
		rule: { type: 'string' },
		dir: { type: 'string' },
		bin: { type: 'string', default: defaultBin() },
	},
});
const list = (text) => text.split(',').map(Number);
const folder = values.dir ?? mkdtempSync(join(tmpdir(), 'trainyard-rounds-'));
const redundancies = list(values.redundancy);
const network = new Network({ folder, bin: values.bin });

/** The digits' job with these widths and steps. */
function jobFile() {
	const path = join(folder, 'job.toml');
	const text = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
		.replace('data/digits.csv', DIGITS)
		.replace(/hidden = .*/, `hidden = [${values.hidden}]`)
		.replace(/steps = \d+/, `steps = ${values.steps}`)
		.replace(/audit_fee = .*/, '')
		.replace(/audit_segments = .*/, '')
		.replace(/apply_blocks = \d+/, 'apply_blocks = 6')
		.replace(/training_blocks = \d+/, 'training_blocks = 300');
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
	for (const [id, redundancy] of redundancies.entries()) {
		const from = (await api.rpc.chain.getHeader()).number.toNumber();
		const { view, paid } = await run(id, redundancy);
		// Rounds follow one another, so the block of the last one counts all of them.
		const blocks = view.rounds.at(-1).at - from;
		const each = blocks / view.rounds.length;
		const size = view.initial.file.bytes;
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
} finally {
	await network.stop();
	if (!values.dir) rmSync(folder, { recursive: true, force: true });
}
