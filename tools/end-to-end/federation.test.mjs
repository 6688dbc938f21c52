// Federated rounds with the real node and real workers: two parts of the digits with two trainers each, three
// rounds. Somebody proposes a false aggregate and loses its deposit; the program of the submitter is killed and
// goes on; the last model is as good as one that was trained on all data at once. In a second federation a part
// never answers.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accounts } from './lib/ledger.mjs';
import { ADDRESS, DIGITS, Network, ROOT, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';

const { federation, keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const THIRD = '//Ferdie//trainer';
const TRAINERS = ['//Alice', '//Bob', THIRD];
const LIAR = '//Ferdie//liar';
const SUBMITTER = '//Ferdie';
const [PARTS, REDUNDANCY, ROUNDS] = [2, 2, 3];
/** Steps of a part in a round, and points of accuracy by which the rounds may stay behind central training. */
const STEPS = 300;
const BEHIND = 0.02;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'federation') : mkdtempSync(join(tmpdir(), 'trainyard-federation-'));
let network, api, job;

/** Writes the digits' job with these numbers; returns its path. */
function jobFile(name, { steps, apply = 6 }) {
	const text = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
		.replace('data/digits.csv', DIGITS)
		.replace(/steps = \d+/, `steps = ${steps}`)
		.replace(/audit_fee = .*/, '')
		.replace(/audit_segments = .*/, '')
		.replace(/apply_blocks = \d+/, `apply_blocks = ${apply}`)
		.replace(/training_blocks = \d+/, 'training_blocks = 90');
	const path = join(folder, `${name}.toml`);
	writeFileSync(path, text);
	return path;
}

/** Starts `trainyard federate` with these arguments. */
const federate = (name, args, suri = SUBMITTER) =>
	network.fleet.start(name, network.workerBinary, [
		...['federate', ...args, '--node', network.url, '--suri', suri, '--json'],
		...['--dir', join(folder, name)],
	]);

/** The events that a process printed. */
const told = (process, wanted) =>
	process
		.log()
		.split('\n')
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line))
		.filter(({ event }) => event === wanted);

/** Accuracy of a model on the validation rows of all data. */
async function accuracy(model) {
	const { stdout } = await network.fleet.must('evaluate', network.workerBinary, ['evaluate', model, job, '--json']);
	return JSON.parse(stdout).accuracy;
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		const gifts = [];
		for (const [suri, amount] of [
			[THIRD, 10_000n],
			[LIAR, 1_000n],
		]) {
			const { address } = await keyFromSuri(suri);
			ADDRESS[suri] = address;
			gifts.push(api.tx.balances.transferKeepAlive(address, amount * UNIT));
		}
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri(SUBMITTER));
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
		for (const suri of TRAINERS) {
			const listen = `127.0.0.1:${await anyPort()}`;
			network.startWorker('trainer', suri, ['--bond', '100', '--max-parallel', '4', '--listen', listen]);
		}
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(TRAINERS);
		job = jobFile('job', { steps: STEPS });
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('federated rounds', { timeout: 1_500_000 }, () => {
	let follower, args;

	test('parts are posted, each with as many trainers as it should have', async () => {
		args = [job, '--parts', `${PARTS}`, '--redundancy', `${REDUNDANCY}`, '--rounds', `${ROUNDS}`];
		args.push('--listen', `127.0.0.1:${await anyPort()}`);
		follower = federate('submitter', args);
		await until(
			'both parts of the first round are jobs',
			120,
			() => told(follower, 'part_posted').length === PARTS,
			() => network.fleet.check(),
		);
		const liar = federate('liar', ['--watch', '0', '--test-only-lie'], LIAR);
		await until(
			'all trainers of a part are drawn',
			120,
			async () => {
				const jobs = await Promise.all([0, 1].map((id) => network.job(id)));
				return jobs.every(({ replicas }) => replicas.length === REDUNDANCY) && jobs;
			},
			() => network.fleet.check(),
		);
		const rows = await Promise.all([0, 1].map(async (id) => (await network.job(id)).spec.dataset.train_rows));
		assert.equal(rows[0] + rows[1], 1_438);
		assert.ok(liar.alive);
	});

	test('a program that was killed goes on', async () => {
		await follower.kill();
		follower = federate('submitter', args);
		const [resumed] = await until(
			'it goes on',
			60,
			() => (told(follower, 'resumed').length > 0 ? told(follower, 'resumed') : false),
			() => network.fleet.check(),
		);
		assert.equal(resumed.federation, 0);
	});

	test('a false aggregate is refuted, and the true one is the model of the round', async () => {
		const [refuted] = await until(
			'the false aggregate is refuted',
			300,
			() => (told(follower, 'refuted_own').length > 0 ? told(follower, 'refuted_own') : false),
			() => network.fleet.check(),
		);
		assert.match(refuted.why, /its file is false at KiB \d+/);
		const liar = (await accounts(api, [ADDRESS[LIAR]])).get(ADDRESS[LIAR]);
		// The deposit of a blob is held until that is removed; that of the proposal is gone.
		assert.ok(liar.free + liar.reserved < 991n * UNIT, `${liar.free + liar.reserved}`);
		await until(
			'the first round has its model',
			120,
			() => told(follower, 'round').length > 0,
			() => network.fleet.check(),
		);
		const view = await federation(api, 0);
		assert.equal(view.rounds[0].parts.length, PARTS);
		assert.equal(view.initial.file.location, 'chain:');
		assert.equal(view.initial.file.contentHash, view.rounds[0].root);
	});

	test('all rounds have a model, which is as good as that of central training', async () => {
		await until(
			'the federation ends',
			900,
			() => !follower.alive,
			() => {
				if (!follower.alive && follower.code !== 0) throw new Error(follower.obituary());
			},
		);
		assert.equal(follower.code, 0, follower.obituary());
		const view = await federation(api, 0);
		assert.equal(view.rounds.length, ROUNDS);
		assert.equal(view.tainted, null);
		assert.deepEqual(view.stage, { ended: 'Done' });
		const central = join(folder, 'central');
		const whole = jobFile('whole', { steps: STEPS * ROUNDS });
		await network.fleet.must('central', network.workerBinary, ['train', whole, '--out', central]);
		const begun = await accuracy(join(folder, 'submitter', 'initial.safetensors'));
		const found = await accuracy(join(folder, 'submitter', 'model.safetensors'));
		const best = await accuracy(join(central, 'model.safetensors'));
		console.log(`accuracy: drawn ${begun}, after ${ROUNDS} rounds ${found}, trained centrally ${best}`);
		assert.ok(found > begun + 0.5);
		assert.ok(found > best - BEHIND);
		// Each trainer that was drawn is paid.
		for (const round of view.rounds) {
			for (const [, id] of round.parts) {
				const { settlement, replicas, terms, pay } = await network.job(id);
				assert.equal(replicas.length, terms.replicas);
				assert.ok(
					replicas.every(({ fate }) => fate === 'accepted' || fate === 'idle'),
					JSON.stringify(replicas),
				);
				assert.ok(BigInt(settlement.paid_to_trainers) > 0n, `${pay}`);
			}
		}
	});

	test('a round goes on without a part that never answers', async () => {
		const parts = join(folder, 'submitter', 'parts');
		const server = await serveFiles([join(parts, 'part-0.csv')]);
		// Rows that no trainer has from the first federation.
		const absent = join(folder, 'absent.csv');
		const lines = readFileSync(join(parts, 'part-1.csv'), 'utf8').split('\n');
		lines[1] = lines[1].replace(/^\d+/, (pixel) => (pixel === '0' ? '1' : '0'));
		writeFileSync(absent, lines.join('\n'));
		const base = server.url('').replace(/\/$/, '');
		const short = jobFile('short', { steps: 50, apply: 5 });
		const second = federate('second', [
			...[short, '--part', join(parts, 'part-0.csv'), '--part', absent],
			...['--rounds', '1', '--min-parts', '1', '--round-blocks', '60', '--location-base', base],
		]);
		await until(
			'the second federation ends',
			500,
			() => !second.alive,
			() => {},
		);
		assert.equal(second.code, 0, second.obituary());
		assert.deepEqual(
			told(second, 'part_given_up').map(({ part }) => part),
			[1],
		);
		const view = await federation(api, 1);
		assert.deepEqual(
			view.rounds[0].parts.map(([part]) => part),
			[0],
		);
		await server.close();
	});
});
