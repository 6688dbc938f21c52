import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import command, { acceptedClaim, describe, taskTerms } from '../src/commands/task.js';

const MODULE = new URL('../../../ml-worker/examples/tasks/pi.wasm', import.meta.url).pathname;
const BOUNDS = {
	fuel: 32_000_000,
	blockFuel: 4_000_000_000,
	blockBytes: 1_000_000,
	fuelPrice: 2,
	deposit: 100,
	least: 3,
	window: 40,
	most: 1_000,
};
const LIMITS = { fuel: 1_000_000, pages: 1, state: 64 };

/** The same numbers as in `ml-worker/worker/src/task/market/terms.rs`. */
test('what nobody says of a task follows from the bounds', () => {
	const spec = { form: { steps: 20_000 }, limits: LIMITS };
	const terms = taskTerms(spec, BOUNDS, { reward: 50n });
	assert.deepEqual(terms, {
		reward: 50n,
		replicas: 2,
		deposit: 900n,
		audit: 100,
		auditFee: 40_000n,
		apply: 30n,
		compute: 15n,
		reveal: 10n,
		challenge: 40n,
	});
	assert.equal(taskTerms(spec, BOUNDS, { reward: 50n, audit: 1_000 }).deposit, 100n);
	const map = { form: { map: 100_000, record: 60 }, limits: LIMITS };
	assert.equal(taskTerms(map, BOUNDS, { reward: 50n }).reveal, 31n);
});

test('a task is described as it stands', () => {
	const view = { id: 3, phase: { computing: { until: 9 } }, replicas: [1, 2], claims: [], disputes: [] };
	assert.equal(describe(view), 'task 3: computing, 2 replicas');
	assert.equal(acceptedClaim(view), null);
	const over = {
		...view,
		phase: { ended: { accepted: 1 } },
		claims: [
			[{}, true],
			[{}, false],
		],
	};
	assert.equal(describe(over), 'task 3: ended (accepted), 2 replicas, claim 0 convicted, claim 1');
	assert.equal(acceptedClaim(over), 1);
	const none = { ...view, phase: { ended: 'Untaken' }, replicas: [] };
	assert.equal(describe(none), 'task 3: ended (untaken)');
	const nulled = { ...view, phase: { ended: { untaken: null } }, replicas: [] };
	assert.equal(describe(nulled), 'task 3: ended (untaken)');
	assert.equal(acceptedClaim(nulled), null);
});

test('what is wrong is said before any chain is asked', async () => {
	const flags = { module: MODULE, input: MODULE, reward: '1', record: '64', fuel: '1', pages: '1', state: '1' };
	const all = { ...flags, replicas: '2', audit: '0.1', suri: '//Ferdie' };
	const refused = (more, text) => assert.rejects(command.prepare({ ...all, ...more }, []), text);
	await assert.rejects(command.prepare({}, []), /name the number of a task/);
	await refused({ input: undefined, steps: '3' }, /--input is needed/);
	await refused({}, /give --steps N or --map N/);
	await refused({ steps: '3', map: '3' }, /give --steps N or --map N/);
	await refused({ steps: '0' }, /--steps: "0"/);
	await refused({ steps: '3', audit: '2' }, /a chance is from/);
	assert.deepEqual(await command.prepare({}, ['12']), { id: 12 });
	const prepared = await command.prepare({ ...all, map: '5' }, []);
	assert.deepEqual(prepared.spec.form, { map: 5, record: 64 });
	assert.deepEqual(prepared.spec.module, new Uint8Array(readFileSync(MODULE)));
	assert.equal(prepared.offer.reward, 10n ** 12n);
});
