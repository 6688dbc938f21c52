// The parts of tools/swarm/links that need no namespaces: who is killed, what counts, the tables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counting, deaths } from './rounds.mjs';
import { apart, essay, failing, links, strictness, utilisation, wrong } from './tables.mjs';

const cells = (table) =>
	table
		.split('\n')
		.filter((line) => line.startsWith('| '))
		.map((line) => line.slice(2, -2).split(' | '));

test('as many die as are to, never in the first round, and each once in a round', () => {
	const terms = { share: 0.3, peers: 4, rounds: 26, seed: 5 };
	const dying = deaths(terms);
	assert.equal(dying.length, 30);
	assert.equal(new Set(dying.map(({ peer, round }) => `${peer} ${round}`)).size, 30);
	assert.ok(dying.every(({ round, part }) => round >= 1 && round < 26 && part > 0 && part < 1));
	assert.deepEqual(deaths(terms), dying);
	assert.notDeepEqual(deaths({ ...terms, seed: 6 }), dying);
	assert.deepEqual(deaths({ ...terms, share: 0 }), []);
	assert.equal(deaths({ ...terms, share: 1 }).length, 100);
});

test('updates count that somebody has, once more than half have spoken', () => {
	const of = (reports, living) =>
		counting(new Map(Object.entries(reports).map(([peer, had]) => [+peer, had])), new Set(living));
	assert.equal(of({}, [0, 1, 2, 3]), null);
	// One of four, and two of four, may be the slow ones.
	assert.equal(of({ 0: [0] }, [0, 1, 2, 3]), null);
	assert.equal(of({ 0: [0, 1], 1: [0, 1] }, [0, 1, 2, 3]), null);
	assert.deepEqual(of({ 0: [0, 1], 1: [0, 1, 2], 2: [1, 2] }, [0, 1, 2, 3]), [0, 1, 2]);
	// Of 3, which still waits or is dead, counts what it sent to one of them.
	assert.deepEqual(of({ 0: [0, 1], 1: [0, 1, 3], 2: [1, 2] }, [0, 1, 2, 3]), [0, 1, 2, 3]);
	assert.deepEqual(of({ 0: [0], 1: [0, 1, 3] }, [0, 1, 2]), [0, 1, 3]);
	assert.deepEqual(of({}, []), []);
});

/** What two peers came to: 1,000 parameters, of which 40 bytes are said. */
function example() {
	const one = {
		training: 9,
		making: 0.25,
		waiting: 0.25,
		agreeing: 0.25,
		stepping: 0.25,
		all: 10,
		sent: 40,
		took_part: true,
	};
	const session = () => ({
		mbit: 100,
		updates: '64',
		bytes: 40,
		wire: 60,
		rounds: 3,
		killed: 0,
		wall: 20,
		counted: 4,
		hashes: [
			['a', 'a'],
			['b', 'b'],
			['c', 'c'],
		],
		times: [one, one, one, one],
	});
	const mixing = [{ updates: '64', bytes: 20, strict: 0.3, plain: 0.1 }];
	return {
		peers: 2,
		wan: null,
		seconds: 9,
		alone: { parameters: 1_000, tokens: 600, inner: 15, threads: 2, whole: 4_000, mixing },
		links: [session()],
		failing: [
			{ percent: 0, ...session() },
			{ percent: 50, ...session(), killed: 2, wall: 25, counted: 2 },
		],
	};
}

test('tables say what was measured', () => {
	const found = example();
	assert.equal(utilisation(found.links[0]), 0.9);
	// 9 s of training, 0.5 s of waiting, and 0.3 s that mixing takes alone.
	assert.equal(apart(found, found.links[0]), 9 / 9.8);
	assert.deepEqual(cells(links(found)).at(-1).slice(-4), ['0.50', '10.00', '90.0 %', '91.8 %']);
	// Half of the trainings, in rounds that take a quarter more.
	assert.deepEqual(cells(failing(found)).at(-1), ['50 %', '2', '2', '12.50', '2 of 4', '40.0 %']);
	assert.equal(cells(strictness(found)).at(-1).at(-1), '2.20 %');
	// 6 FLOP x 1,000 x 600 are 3.6 MFLOP, for 20 bytes; 22 are in 122.2 as many steps.
	assert.deepEqual(cells(essay(found)).at(-1), [
		'64 of 4,096 in 2 bits',
		'0.18',
		'1833',
		'27778',
		'22222',
		'227',
		'182',
	]);
	assert.equal(failing({ ...found, failing: [] }), '');
});

test('other bits and other bytes are found', () => {
	assert.deepEqual(wrong(example()), []);
	const broken = (change) => {
		const found = example();
		change(found);
		return wrong(found).length;
	};
	assert.equal(
		broken(({ links }) => (links[0].hashes[1] = ['b', 'x'])),
		1,
	);
	assert.equal(
		broken(({ links }) => (links[0].hashes = links[0].hashes.slice(1))),
		2,
	);
	assert.equal(
		broken(({ links }) => links[0].hashes[1].pop()),
		1,
	);
	assert.equal(
		broken(({ links }) => (links[0].hashes[2] = ['b', 'b'])),
		1,
	);
	assert.equal(
		broken(({ links }) => (links[0].times = [{ ...links[0].times[0], sent: 39 }])),
		1,
	);
	assert.equal(
		broken(({ links }) => (links[0].wire = 39)),
		1,
	);
	assert.equal(
		broken(({ alone }) => (alone.mixing[0].bytes = 30)),
		1,
	);
	assert.equal(
		broken(({ failing }) => (failing[1].killed = 3)),
		1,
	);
});
