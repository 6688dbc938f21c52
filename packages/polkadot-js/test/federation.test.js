import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import command, { describe } from '../src/commands/federation.js';
import { fromBits, mean, toBits } from '../src/federation.js';

const PAGE = new URL('../../../docs/federation.md', import.meta.url);

test('the mean has the bits of docs/federation.md', () => {
	const lines = readFileSync(PAGE, 'utf8')
		.split('\n')
		.filter((line) => line.startsWith('| `mean` |'));
	assert.ok(lines.length >= 8);
	for (const line of lines) {
		const [rows, values, expected] = line
			.split('|')
			.slice(2, 5)
			.map((cell) => cell.trim().replaceAll('`', ''));
		const found = mean(
			rows.split(' ').map(Number),
			values.split(' ').map((bits) => fromBits(parseInt(bits, 16))),
		);
		assert.equal(toBits(found).toString(16).padStart(8, '0'), expected, line);
	}
});

test('a federation is described part by part', () => {
	const view = {
		id: 3,
		submitter: '5F',
		stage: 'Training',
		round: 1,
		plan: { rounds: 2 },
		rounds: [{ root: '0xaa', parts: [[0, 1, '0xbb']] }],
		parts: [
			{ job: 7, answer: null, givenUp: false, attempts: 1 },
			{ job: 8, answer: '0xcc', givenUp: false, attempts: 1 },
			{ job: null, answer: null, givenUp: true, attempts: 3 },
			{ job: null, answer: null, givenUp: false, attempts: 0 },
		],
		proposals: [],
		tainted: 0,
	};
	assert.deepEqual(describe(view).split('\n'), [
		'federation 3 of 5F: training, round 2 of 2',
		'  round 0: model 0xaa, of 1 parts',
		'  part 0: job 7 runs',
		'  part 1: answered with 0xcc, job 8',
		'  part 2: given up',
		'  part 3: not posted (0 attempts)',
		'  a result that counted in round 0 was false',
	]);
	assert.match(describe({ ...view, stage: { ended: 'Done' }, round: 2 }), /: ended \(Done\)/);
});

test('what is wrong is said before any chain is asked', async () => {
	await assert.rejects(command.prepare({}, []), /name the number of a federation/);
	await assert.rejects(command.prepare({ open: 'x' }, []), /--rounds N is needed/);
	assert.deepEqual(await command.prepare({}, ['12']), { id: 12 });
});
