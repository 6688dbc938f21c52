import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import command, { acceptedClaim, describe, taskSpec, taskTerms } from '../src/commands/task.js';

const MODULE = new URL('../../../ml-worker/examples/tasks/pi.wasm', import.meta.url).pathname;
/** The terms themselves are the chain's: `primitives/task/src/offer.rs`. */
test('the chain is asked for what nobody says of a task', async () => {
	const asked = [];
	const answer = (said) => ({ call: { trainyardApi: { taskTerms: async (...all) => (asked.push(all), said) } } });
	const input = new Uint8Array([7]);
	const named = { bytes: 3, root: '0x05' };
	const limits = { fuel: 1_000_000, pages: 1, state: 64 };
	const spec = taskSpec({ module: named, input, form: { map: 9, record: 60 }, limits });
	assert.deepEqual(spec.form, { Map: { count: 9, most: 60 } });
	assert.deepEqual([spec.module, spec.input.bytes, spec.limits], [named, 1, limits]);
	assert.deepEqual(taskSpec({ ...spec, form: { steps: 5 } }).form, { Step: { steps: 5 } });
	assert.equal(await taskTerms(answer({ asOk: 'the terms' }), spec, { reward: 50n, audit: 7 }), 'the terms');
	assert.deepEqual(asked, [[spec, { replicas: 2, audit: 7, reward: 50n }]]);
	const refused = answer({ isErr: true, asErr: { type: 'Reward' } });
	await assert.rejects(taskTerms(refused, spec, {}), /no task with these terms: Reward/);
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
