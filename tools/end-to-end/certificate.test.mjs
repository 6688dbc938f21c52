// A certificate of a job, with the real node and the real worker: it is written from what the chain has on record,
// and checked without a node, by the genesis hash alone. Meanwhile the node has pruned the state of genesis, as nodes
// do, and its authorities have changed their keys. Whoever changes anything in the file is found out.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';
import { ADDRESS, DIGITS, Network, trainyard, until } from './lib/network.mjs';

const { jobFromFlags, keyFromSuri, postJob, send } = trainyard;

const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** In blocks of a second. */
const PERIODS = { Reveal: 60, VerdictCommit: 90, VerdictReveal: 30, Rescue: 40, Review: 10 };
/** Blocks whose states the node keeps: it is to have lost that of genesis when the job ends. */
const KEPT_STATES = 40;
/** A short job: ten segments. */
const JOB = { hidden: '32', steps: '300', 'checkpoint-interval': '30', 'price-per-ut': '5000', 'apply-blocks': '40' };

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'certificate') : mkdtempSync(join(tmpdir(), 'trainyard-certificate-'));
const file = join(folder, 'job.certificate.json');
let network, api, data, genesis, id;

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort(), flags: ['--state-pruning', `${KEPT_STATES}`] });
		api = await network.connect();
		genesis = api.genesisHash.toHex();
		data = await serveFiles([DIGITS]);
		const periods = Object.entries(PERIODS).map(([name, blocks]) =>
			api.tx.parameters.setParameter({ Periods: { [name]: [null, blocks] } }),
		);
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(periods)), await keyFromSuri('//Alice'));
		for (const verifier of VERIFIERS) network.startWorker('verifier', verifier, ['--bond', '450']);
		network.startWorker('trainer', '//Alice', []);
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(['//Alice']);
		// Other keys are other authority sets: what is final then follows from genesis by way of this one.
		const authority = ['authority', '--new-keys', '--suri', '//Alice', '--node', network.url];
		const changed = await network.worker('authority', authority);
		assert.equal(changed.status, 0, changed.stderr);
		const flags = { data: DIGITS, location: data.url('digits.csv'), ...JOB };
		({ id } = await postJob(api, await keyFromSuri('//Ferdie'), await jobFromFlags(flags)));
	},
	{ timeout: 240_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

/** Asks for a certificate; what is written goes to `out`. */
const certificate = (name, job, out, flags = []) =>
	network.worker(name, ['certificate', `${job}`, '--out', out, '--node', network.url, ...flags]);

/** Checks one, without a node. */
const verify = (name, flags, of = file, chain = genesis) =>
	network.worker(name, ['verify', '--certificate', of, '--genesis', chain, ...flags]);

/** Another value of the same kind. */
function other(value) {
	if (typeof value === 'number') return value + 1;
	if (typeof value === 'boolean') return !value;
	if (typeof value === 'string') return value.slice(0, -1) + (value.endsWith('1') ? '2' : '1');
	return 1;
}

/** Where the values of a tree stand: their ways from its root. */
function* leaves(value, way = []) {
	if (value === null || typeof value !== 'object') yield way;
	else for (const name of Object.keys(value)) yield* leaves(value[name], [...way, name]);
}

describe('a certificate', { timeout: 900_000 }, () => {
	test('there is none before the end, and of no job that is not there', { timeout: 60_000 }, async () => {
		const early = await certificate('early', id, file);
		assert.equal(early.status, 2, early.stderr);
		assert.match(early.stderr, /has not ended/);
		const nothing = await certificate('nothing', id + 7, file);
		assert.equal(nothing.status, 2, nothing.stderr);
		assert.match(nothing.stderr, /not on record/);
		assert.ok(!existsSync(file));
	});

	test('it is written at the end', { timeout: 500_000 }, async (t) => {
		const ended = await network.ended(id, 300);
		assert.equal(trainyard.ending(ended), 'settled');
		await until(
			'the node has no state of genesis any more',
			120,
			async () => (await api.rpc.chain.getHeader()).number.toNumber() > 2 * KEPT_STATES,
			() => network.fleet.check(),
		);
		// The node executes its runtime to build its specification, which on a busy machine takes long.
		const written = await until('a certificate', 300, async () => {
			const tried = await certificate('write', id, file);
			return !/no answer in|Request timeout/.test(tried.stderr) && tried;
		});
		assert.equal(written.status, 0, written.stderr);
		assert.match(written.stderr, /built from the chain specification/);
		assert.match(written.stdout, /trainyard verify --certificate/);
		t.diagnostic(
			`${statSync(file).size} bytes, ${JSON.parse(readFileSync(file)).predicate.evidence.finality.length} links`,
		);
		const again = await certificate('again', id, file);
		assert.equal(again.status, 2);
		assert.match(again.stderr, /is there already/);
		// The same from a chain specification of one's own.
		const spec = join(folder, 'chain.json');
		const { stdout } = await network.fleet.must('spec', network.nodeBinary, [
			'export-chain-spec',
			'--chain',
			'dev',
			'--raw',
		]);
		writeFileSync(spec, stdout);
		const own = join(folder, 'own.json');
		const second = await certificate('own', id, own, ['--chain', spec]);
		assert.equal(second.status, 0, second.stderr);
		const evidence = (path) => JSON.parse(readFileSync(path)).predicate.evidence;
		assert.deepEqual(evidence(own).genesis, evidence(file).genesis);
		assert.equal((await verify('verify-own', [], own)).status, 0);
	});

	test('it says what happened, to whoever knows the chain', { timeout: 60_000 }, async () => {
		const text = await verify('verify', []);
		assert.equal(text.status, 0, text.stderr);
		assert.match(text.stdout, /passed: all of this follows from the genesis hash/);
		const { passed, certificate } = JSON.parse((await verify('json', ['--json'])).stdout);
		assert.equal(passed, true);
		const { predicate } = certificate;
		assert.equal(predicate.chain.genesis, genesis);
		assert.ok(predicate.chain.authoritySet > 0, 'the authorities changed');
		assert.deepEqual([predicate.job.id, predicate.job.ending], [id, 'settled']);
		assert.equal(predicate.job.submitter, ADDRESS['//Ferdie']);
		assert.deepEqual(
			predicate.replicas.map(({ trainer, fate }) => [trainer, fate]),
			[[ADDRESS['//Alice'], 'accepted']],
		);
		const seats = predicate.audit.seats.map(({ verifier }) => verifier);
		assert.deepEqual(seats.sort(), VERIFIERS.map((name) => ADDRESS[name]).sort());
		for (const { verdicts } of predicate.audit.seats) assert.ok(verdicts[0].replayed.segments.length > 0);
		const job = await network.job(id);
		const { reveal } = job.replicas[0];
		assert.equal(predicate.replicas[0].revealed.modelRoot, reveal.model_root);
		assert.equal(certificate.subject[0].digest.trainyardBlobRoot, reveal.model_root.slice(2));
		assert.deepEqual(predicate.disputes.convictions, []);
		assert.ok(predicate.disputes.challengeableUntil > predicate.job.ended);
	});

	test('it is of this chain and this file', { timeout: 120_000 }, async (t) => {
		const wrong = await verify('other-chain', [], file, `0x${'12'.repeat(32)}`);
		assert.equal(wrong.status, 1);
		assert.match(wrong.stderr, /of the chain with genesis/);
		const absent = await verify('absent', [], join(folder, 'nowhere.json'));
		assert.equal(absent.status, 2);
		const good = JSON.parse(readFileSync(file));
		const ways = [...leaves(good)];
		// Of each kind of place one; all of them are in the tests of ml-worker/certificate.
		const kinds = new Map(ways.map((way) => [way.map((name) => (/^\d+$/.test(name) ? 'n' : name)).join('.'), way]));
		const bad = join(folder, 'bad.json');
		const some = [...kinds.values()].filter((way, at) => way.includes('evidence') || at % 5 === 0);
		for (const way of some) {
			const forged = structuredClone(good);
			const holder = way.slice(0, -1).reduce((at, name) => at[name], forged);
			holder[way.at(-1)] = other(holder[way.at(-1)]);
			writeFileSync(bad, JSON.stringify(forged));
			const { status, stderr } = await verify('forged', [], bad);
			assert.equal(status, 1, `${way.join('.')}: ${stderr}`);
			assert.match(stderr, /is refused/);
		}
		t.diagnostic(`${some.length} forgeries of ${kinds.size} kinds of places were refused`);
		const cut = structuredClone(good);
		cut.predicate.evidence.finality = cut.predicate.evidence.finality.slice(1);
		writeFileSync(bad, JSON.stringify(cut));
		assert.equal((await verify('cut', [], bad)).status, 1);
	});

	test('it tells the model and the bundle from others', { timeout: 120_000 }, async () => {
		const model = join(folder, 'model.safetensors');
		const fetched = await network.worker('fetch', ['fetch-model', `${id}`, '--out', model, '--node', network.url]);
		assert.equal(fetched.status, 0, fetched.stderr);
		const same = await verify('model', [model]);
		assert.equal(same.status, 0, same.stderr);
		assert.match(same.stdout, /is a model that is certified/);
		const bytes = readFileSync(model);
		bytes[bytes.length - 1] ^= 1;
		writeFileSync(model, bytes);
		const changed = await verify('changed', [model]);
		assert.equal(changed.status, 1, changed.stdout);
		assert.match(changed.stdout, /is no model of this certificate/);
		const [{ folder: bundle }] = events(join(folder, 'trainer-alice'), { job: id, event: 'trained' });
		const whole = await verify('bundle', [bundle, '--segments', '1', '--data', DIGITS, '--json']);
		assert.equal(whole.status, 0, whole.stderr);
		assert.equal(JSON.parse(whole.stdout).certified, true);
	});
});
