// Sets of jobs with the real node and real workers: a population of three learning rates on the digits, two
// generations. The program of the submitter is killed and goes on; the worst member goes on from the best model;
// the best model is as good as its proven score says.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ADDRESS, DIGITS, Network, ROOT, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';

const { keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const THIRD = '//Ferdie//trainer';
const TRAINERS = ['//Alice', '//Bob', THIRD];
const SUBMITTER = '//Ferdie';
/** The last is so small that its member must be the worst. */
const RATES = ['0.002', '0.004', '0.0000001'];

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'sweep') : mkdtempSync(join(tmpdir(), 'trainyard-sweep-'));
let network, server, job, sweep;

/** Starts `trainyard sweep` with these arguments. */
const start = (name, args) =>
	network.fleet.start(name, network.workerBinary, [
		...['sweep', ...args, '--node', network.url, '--suri', SUBMITTER, '--json'],
		...['--dir', join(folder, 'submitter'), '--allow-private-locations'],
	]);

/** The events that a process printed. */
const told = (process, wanted) =>
	process
		.log()
		.split('\n')
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line))
		.filter(({ event }) => event === wanted);

/** The set as `trainyard sweep show` prints it. */
async function shown() {
	const args = ['sweep', 'show', '0', '--node', network.url, '--json'];
	const { stdout } = await network.fleet.must('show', network.workerBinary, args);
	return JSON.parse(stdout);
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		const api = await network.connect();
		const { address } = await keyFromSuri(THIRD);
		ADDRESS[THIRD] = address;
		const gift = api.tx.balances.transferKeepAlive(address, 10_000n * UNIT);
		await send(api, gift, await keyFromSuri(SUBMITTER));
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
		for (const suri of TRAINERS) {
			const listen = `127.0.0.1:${await anyPort()}`;
			network.startWorker('trainer', suri, ['--bond', '100', '--max-parallel', '3', '--listen', listen]);
		}
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(TRAINERS);
		server = await serveFiles([DIGITS]);
		const text = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
			.replace('data/digits.csv', DIGITS)
			.replace('http://127.0.0.1:8600/digits.csv', server.url('digits.csv'))
			.replace(/steps = \d+/, 'steps = 300')
			.replace(/audit_fee = .*/, '')
			.replace(/audit_segments = .*/, '')
			.replace(/apply_blocks = \d+/, 'apply_blocks = 8')
			.replace(/training_blocks = \d+/, 'training_blocks = 90');
		job = join(folder, 'job.toml');
		writeFileSync(job, text);
		sweep = join(folder, 'sweep.toml');
		writeFileSync(
			sweep,
			`job = "job.toml"\n[sweep]\nshow_blocks = 200\n[sweep.training]\nlearning_rate = [${RATES.join(', ')}]\n` +
				'[pbt]\ngenerations = 2\nreplaced = 1\nfactors = [0.8]\n',
		);
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		await server?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('sets of jobs', { timeout: 1_200_000 }, () => {
	let follower;

	test('nobody is asked where nobody is there, and nothing is posted', async () => {
		const refused = start('refused', [sweep]);
		// It ends by itself.
		refused.expected = true;
		await until(
			'it ends',
			60,
			() => !refused.alive,
			() => {},
		);
		assert.equal(refused.code, 2, refused.obituary());
		assert.match(refused.log(), /give --yes/);
	});

	test('all members are posted, and a program that was killed goes on', async () => {
		follower = start('submitter', [sweep, '--yes']);
		await until(
			'all members are jobs',
			120,
			() => told(follower, 'member_posted').length === RATES.length,
			() => network.fleet.check(),
		);
		await follower.kill();
		follower = start('submitter', [sweep, '--yes']);
		const [resumed] = await until(
			'it goes on',
			60,
			() => (told(follower, 'resumed').length > 0 ? told(follower, 'resumed') : false),
			() => network.fleet.check(),
		);
		assert.equal(resumed.set, 0);
		assert.equal((await network.job(RATES.length - 1)).spec.training.learning_rate_nano, 100);
	});

	test('the worst goes on from the best model, with its hyperparameters', async () => {
		const view = await until(
			'the second generation is posted',
			500,
			async () => {
				const view = await shown();
				const posted = view.members.every(({ run }) => run !== 'waiting');
				return view.generation === 1 && posted && view;
			},
			() => network.fleet.check(),
		);
		const [first] = view.generations;
		const correct = first.map(({ score }) => score.correct);
		assert.ok(correct[2] < Math.min(correct[0], correct[1]), `${correct}`);
		const best = correct[1] > correct[0] ? 1 : 0;
		const [own, child] = [view.members[best], view.members[2]];
		assert.equal(child.parent, best);
		assert.equal(child.spec.initial_model.file.content_hash, first[best].model);
		assert.equal(own.spec.initial_model.file.content_hash, first[best].model);
		const rate = ({ spec }) => spec.training.learning_rate_nano;
		assert.equal(rate(child), (rate(own) * 8) / 10);
	});

	test('the best model is what its score says', async () => {
		await until(
			'the set ends',
			600,
			() => !follower.alive,
			() => {
				if (!follower.alive && follower.code !== 0) throw new Error(follower.obituary());
			},
		);
		assert.equal(follower.code, 0, follower.obituary());
		const view = await shown();
		assert.deepEqual(view.stage, { ended: 'done' });
		assert.equal(view.generations.length, 2);
		const model = join(folder, 'submitter', 'model.safetensors');
		const args = ['evaluate', model, job, '--json'];
		const { stdout } = await network.fleet.must('evaluate', network.workerBinary, args);
		const { accuracy } = JSON.parse(stdout);
		const { correct, labels } = view.best.score;
		console.log(`accuracy ${accuracy}, ${correct} of ${labels} shown`);
		assert.ok(Math.abs(accuracy - correct / labels) < 1e-6);
		assert.ok(accuracy > 0.8);
	});
});
