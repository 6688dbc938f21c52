// Jobs whose trainers keep one state in five, with the real node and the real worker: what lies between is computed again
// for the seats of the audit, and for nobody else. A cheat cannot compute what it made up, and loses.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { events } from './lib/events.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';
import { ADDRESS, DIGITS, Network, trainyard, until } from './lib/network.mjs';

const { jobFromFlags, keyFromSuri, money, postJob, send, variantName } = trainyard;

const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** In blocks of a second. */
const PERIODS = { Reveal: 60, VerdictCommit: 90, VerdictReveal: 30, Rescue: 40, Review: 10 };
/** One state in so many is kept of thirty segments of fifty steps. */
const KEEP_EVERY = 5;
const SEGMENTS = 30;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'thinning') : mkdtempSync(join(tmpdir(), 'trainyard-thinning-'));
let network, api, data;

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		const periods = Object.entries(PERIODS).map(([name, blocks]) =>
			api.tx.parameters.setParameter({ Periods: { [name]: [null, blocks] } }),
		);
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(periods)), await keyFromSuri('//Alice'));
		for (const verifier of VERIFIERS) network.startWorker('verifier', verifier, ['--bond', '450']);
		network.startWorker('trainer', '//Alice', []);
		network.startWorker('trainer', '//Bob', ['--bond', '200', '--test-only-cheat', '20']);
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(['//Alice', '//Bob']);
		for (const name of ['//Alice', '//Bob']) {
			const offer = ['offer', '--price', '1000', '--suri', name, '--node', network.url];
			assert.equal((await network.worker(`offer${name.replace(/\W/g, '-')}`, offer)).status, 0);
		}
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

/** Orders a job from a trainer; returns its number. */
async function order(name) {
	const flags = { data: DIGITS, location: data.url('digits.csv'), steps: '1500', 'checkpoint-interval': '50' };
	const job = await jobFromFlags({ ...flags, 'keep-every': `${KEEP_EVERY}` });
	assert.equal(job.terms.keep_every, KEEP_EVERY);
	return (await postJob(api, await keyFromSuri('//Ferdie'), job, ADDRESS[`//${name}`])).id;
}

const trainerEvents = (name, wanted) => events(join(folder, `trainer-${name.toLowerCase()}`), wanted);

test('what is not kept is computed again for seats, and for nobody else', { timeout: 500_000 }, async (t) => {
	const id = await order('Alice');
	const audited = await until(
		`the audit of job ${id}`,
		240,
		async () => {
			const job = await network.job(id);
			return variantName(job.audit?.phase ?? '') === 'committing' && job;
		},
		() => network.fleet.check(),
	);
	const { reveal } = audited.replicas[0];
	const hex = reveal.location.replace(/^0x/, '');
	const location = reveal.location.startsWith('0x') ? Buffer.from(hex, 'hex').toString() : reveal.location;
	const url = (index) => {
		const step = `${index * 50}`.padStart(8, '0');
		return `${location}/bundle/${reveal.true_root.replace(/^0x/, '')}/checkpoints/step-${step}.safetensors`;
	};
	// What is kept is anybody's. In the middle of a stretch nobody has asked for all of them.
	assert.equal((await fetch(url(KEEP_EVERY))).status, 200);
	const refused = [];
	for (let index = 0; index <= SEGMENTS; index++) {
		const answer = await fetch(url(index));
		if (answer.status !== 200) refused.push([index, answer.status, await answer.text()]);
	}
	assert.ok(refused.length > 0, 'some states are not there');
	for (const [index, status, why] of refused) {
		assert.equal(status, 403, `${index}`);
		assert.match(why, /Verification\.request/);
		assert.ok(index % KEEP_EVERY !== 0 && index !== SEGMENTS, `${index} is kept`);
	}
	const ended = await network.ended(id, 300);
	assert.deepEqual(trainyard.conservation(ended), []);
	assert.equal(trainyard.ending(ended), 'settled');
	assert.equal(ended.replicas[0].fate, 'accepted');
	assert.equal(money(ended).slashed, 0n);
	const restored = trainerEvents('alice', { job: id, event: 'restored' });
	t.diagnostic(`${restored.length} stretches: ${restored.map(({ seconds }) => seconds.toFixed(1)).join(', ')} s`);
	assert.ok(restored.length > 0, 'seats asked for states that are not kept');
	assert.deepEqual(trainerEvents('alice', { job: id, event: 'restore_failed' }), []);
	const seats = VERIFIERS.flatMap((verifier) =>
		events(join(folder, `verifier-${verifier.replace(/\W/g, '').toLowerCase()}`), { job: id }),
	);
	assert.deepEqual(
		seats.filter(({ event }) => ['asked', 'not_moved'].includes(event)),
		[],
		'seats had all of it from the trainer, and saw how far it moves',
	);
	// Two stretches at most lie beside what is kept.
	const [{ folder: bundle }] = trainerEvents('alice', { job: id, event: 'trained' });
	const states = readdirSync(join(bundle, 'checkpoints')).filter((name) => name.endsWith('.safetensors'));
	assert.ok(states.length <= SEGMENTS / KEEP_EVERY + 1 + 2 * (KEEP_EVERY - 1), `${states.length} states`);
});

test('who made states up cannot compute them again', { timeout: 500_000 }, async (t) => {
	const ended = await network.ended(await order('Bob'), 450);
	const [{ fate }] = ended.replicas;
	t.diagnostic(`${fate}, ${trainerEvents('bob', { event: 'restore_failed' }).length} attempts to compute failed`);
	assert.ok(['rejected', 'unavailable'].includes(fate), fate);
	assert.ok(money(ended).slashed > 0n);
});
