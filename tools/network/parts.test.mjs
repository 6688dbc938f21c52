// The parts that need no nodes: statistics, headers, the record of a chain, the
// report, the command line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimOf, announcedBy, hashOf } from './headers.mjs';
import { readOptions } from './options.mjs';
import { Record } from './record.mjs';
import { report, reportText } from './report.mjs';
import { patched } from './spec.mjs';
import {
	binomialAtMost,
	binomialTest,
	chiSquare,
	chiSquareTail,
	claimProbability,
	howMany,
	quantile,
	scores,
	stays,
} from './statistics.mjs';
import { plot } from './svg.mjs';
import { u8aConcat, u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';

const near = (found, wanted, relative = 1e-10) =>
	assert.ok(Math.abs(found - wanted) <= relative * Math.abs(wanted), `${found} is not ${wanted}`);

/** Numbers from 0 to 1, always the same (Park and Miller). */
function generator(seed) {
	let state = seed;
	return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test('chi-square tails are those of the tables', () => {
	for (const [value, degrees, p] of [
		[3.841458820694124, 1, 0.05],
		[9.487729036781154, 4, 0.05],
		[18.307038053275146, 10, 0.05],
		[23.209251158954356, 10, 0.01],
		[149.4492528042, 100, 0.001],
	])
		near(chiSquareTail(value, degrees), p, 1e-8);
	for (const value of [0, 0.1, 1, 5, 40]) near(chiSquareTail(value, 2), Math.exp(-value / 2));
	// Four degrees: (1 + x / 2) exp(-x / 2), far out as well.
	for (const value of [0.5, 4, 30, 300, 1_000]) near(chiSquareTail(value, 4), (1 + value / 2) * Math.exp(-value / 2));
});

test('a tail too small for a number is 0, and its complement 1', () => {
	assert.equal(chiSquareTail(1_600, 16), 0);
	assert.equal(chiSquareTail(4, 400), 1);
	assert.throws(() => chiSquareTail(-1, 2), RangeError);
});

test('binomial tails are sums of their terms', () => {
	near(binomialAtMost(2, 4, 0.5), 0.6875);
	near(binomialAtMost(5, 10, 0.5), 0.623046875);
	near(binomialAtMost(49, 100, 0.5), 0.46020538130641064);
	near(binomialAtMost(0, 1_000, 0.01), 0.99 ** 1_000);
	const choose = (n, k) => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);
	for (const p of [0.01, 0.3, 0.75]) {
		let sum = 0;
		for (let k = 0; k < 20; k++) {
			sum += choose(20, k) * p ** k * (1 - p) ** (20 - k);
			near(binomialAtMost(k, 20, p), sum);
		}
		assert.equal(binomialAtMost(20, 20, p), 1);
		assert.equal(binomialAtMost(-1, 20, p), 0);
	}
	// The edges, where nothing or everything succeeds.
	assert.deepEqual(
		[0, 1].map((p) => binomialAtMost(3, 20, p)),
		[1, 0],
	);
	// 500,000 heads too few by two standard deviations: the normal limit is near.
	near(binomialTest(499_000, 1_000_000, 0.5), 0.0455, 0.01);
	assert.equal(binomialTest(5, 10, 0.5), 1);
});

test('the lottery: nobody wins with 1 - c, however the weight is split', () => {
	for (const shares of [[1], [0.1, 0.2, 0.3, 0.4], new Array(100).fill(0.01)]) {
		const claims = shares.map((share) => claimProbability(0.25, share));
		const counts = howMany(claims);
		near(counts[0], 0.75);
		near(
			counts.reduce((sum, p) => sum + p, 0),
			1,
		);
		near(
			stays(claims).reduce((sum, p) => sum + p, 0),
			0.25,
		);
	}
	near(claimProbability(0.25, 1), 0.25);
	near(claimProbability(0.25, 0.4), 1 - 0.75 ** 0.4);
	// Two that always claim share the blocks; a third of half the time takes its part.
	assert.deepEqual(stays([1, 1]), [0.5, 0.5]);
	near(stays([1, 0.5])[1], 0.25);
});

test('p values of a true lottery are uniform, and of a false one small', () => {
	const random = generator(7);
	const claims = [0.1, 0.2, 0.3, 0.4].map((share) => claimProbability(0.25, share));
	const variances = claims.map((p) => 500 * p * (1 - p));
	const run = (chances) => {
		const counts = chances.map((p) => Array.from({ length: 500 }, random).filter((value) => value < p).length);
		return scores(
			counts,
			claims.map((p) => 500 * p),
			variances,
		).p;
	};
	const all = Array.from({ length: 400 }, () => run(claims));
	for (const level of [0.05, 0.5, 0.9]) {
		const below = all.filter((p) => p < level).length;
		assert.ok(binomialTest(below, 400, level) > 0.001, `${below} of 400 below ${level}`);
	}
	assert.ok(run(claims.map(() => claimProbability(0.25, 0.25))) < 1e-6);
});

test('Pearson, and quantiles', () => {
	const { value, degrees, p } = chiSquare([44, 56], [50, 50]);
	near(value, 1.44);
	assert.equal(degrees, 1);
	near(p, 0.2301393, 1e-6);
	assert.equal(quantile([5, 1, 4, 2, 3], 0.5), 3);
	assert.equal(quantile([5, 1, 4, 2, 3], 0.99), 5);
});

/** A header that a development chain made, with the hash that its node returned. */
const HEADER = JSON.parse(
	'{"parentHash":"0x45d55d8a5f6a9818b6e8e08fb0f13fe9167db2ea5a49304f3c627f8b6c07661a","number":"0x1","stateRoot":"0x1d638aaa8816cf6dc64c2e59b4c494a57a25554183e9380f67997aba9130417c","extrinsicsRoot":"0xeda78cf042fc561c51d584ccfc6f2c413e97afb80f68391c6a424c111414df54","digest":{"logs":["0x0642414245b50103000000009bdb016b000000007864548c0c575044f492c93055284ff090441052772bea399e288878f217f8061f022ad88a81db042b0a02be96e0130de5a2805a614b110dd8485b4501fd920453d05479da4121c9dd08afbb22b184a6cceb04678ebe67b293519efa75314606","0x044241424529010104d43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d01000000000000000000000000000000000000000000000000000000000000000000000000000000","0x05424142450101aec5886cb92834bce55a007b38e47103d36cfdfbb9a8f386853442137041a5449431523bde0b92abe262cb2a2db2156e5ed497fd15964105989c957546b61880"]}}',
);
const HASH = '0x0a2b8c6e3ed176ab5af19b6e4bd3e1b1f0cf0262d90712daf32640d8becc3e3f';

test('a header tells its hash, author, slot, and the next authorities', () => {
	assert.equal(hashOf(HEADER), HASH);
	assert.deepEqual(claimOf(HEADER), { author: 0, slot: 1795283867, primary: false });
	const alice = '0xd43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d';
	assert.deepEqual(announcedBy(HEADER), [{ babe: alice, weight: 1n }]);
	assert.equal(claimOf({ digest: { logs: [] } }), null);
});

const little = (value, bytes) =>
	Uint8Array.from({ length: bytes }, (_, at) => Number((BigInt(value) >> BigInt(8 * at)) & 255n));
const key = (index) => `0x${String(index).padStart(64, '0')}`;

/** A header as BABE writes it; `announced` are weights of the keys 0, 1, …. */
function header({ number, parent, author, slot, announced }) {
	const item = (kind, payload) =>
		u8aToHex(u8aConcat(new Uint8Array([kind]), 'BABE', new Uint8Array([payload.length << 2]), payload));
	const claim = u8aConcat(new Uint8Array([1]), little(author, 4), little(slot, 8));
	const list = announced?.flatMap((weight, index) => [
		new Uint8Array(Buffer.from(key(index).slice(2), 'hex')),
		little(weight, 8),
	]);
	// Real announcements are longer than this length fits; four keys at most here.
	const announcement = list && u8aConcat(new Uint8Array([1, announced.length << 2]), ...list);
	const long = (payload) =>
		u8aToHex(u8aConcat(new Uint8Array([4]), 'BABE', little((payload.length << 2) | 1, 2), payload));
	return {
		number: `0x${number.toString(16)}`,
		parentHash: parent,
		digest: { logs: [item(6, claim), ...(announcement ? [long(announcement)] : [])] },
	};
}

test('the record of a chain: forks, finality, equivocations, conflicts', () => {
	const record = new Record({ epoch: 10 });
	const put = (hash, fields) => record.add(hash, header(fields), { node: 'Alice', at: 1_000 });
	put('a1', { number: 1, parent: 'genesis', author: 0, slot: 100, announced: [1, 3] });
	put('a2', { number: 2, parent: 'a1', author: 1, slot: 102 });
	put('b2', { number: 2, parent: 'a1', author: 0, slot: 103 });
	assert.equal(record.missing('a3'), 'a3');
	put('a3', { number: 3, parent: 'a2', author: 1, slot: 111, announced: [5, 5] });
	assert.equal(record.missing('a3'), null);
	record.finalize('a3', { node: 'Alice', at: 4_000 });
	assert.deepEqual(record.final, [undefined, 'a1', 'a2', 'a3']);
	assert.equal(record.height, 3);
	assert.equal(record.best, 3);
	assert.deepEqual(
		record.epochs().map(({ number, from }) => [number, from]),
		[
			[0, 1],
			[1, 3],
		],
	);
	// What block 1 announced holds in the first two epochs.
	assert.deepEqual(
		record
			.authoritiesAt()(115)
			.map(({ weight }) => weight),
		[1n, 3n],
	);
	assert.equal(record.equivocations().length, 0);
	put('c2', { number: 2, parent: 'a1', author: 0, slot: 103 });
	assert.deepEqual(
		record.equivocations().map((pair) => pair.map(({ hash }) => hash)),
		[['b2', 'c2']],
	);
	assert.deepEqual(record.conflicts, []);
	record.finalize('b2', { node: 'Bob', at: 5_000 });
	assert.deepEqual(record.conflicts, [{ number: 2, first: 'a2', second: 'b2', node: 'Bob' }]);
	assert.equal(record.final[2], 'a2');
});

test('the report of a simulated lottery agrees with it', () => {
	const random = generator(11);
	const weights = [1, 2, 3, 4];
	const record = new Record({ epoch: 100 });
	let parent = 'genesis';
	let number = 0;
	let epoch = -1;
	let counted = 0;
	const last = 3_100;
	for (let slot = 100; slot <= last; slot++) {
		const winners = weights
			.map((weight, author) => author)
			.filter((author) => random() < claimProbability(0.25, weights[author] / 10));
		if (slot === 100 || slot === last) winners.splice(0, 4, 0);
		if (winners.length === 0) continue;
		if (slot < last) counted += winners.length;
		const begins = Math.floor(slot / 100) > epoch;
		epoch = Math.floor(slot / 100);
		number++;
		// One of the winners stays, the others are forks.
		const stay = winners[Math.floor(random() * winners.length)];
		for (const author of winners) {
			const announced = begins ? weights : undefined;
			record.add(`${slot}/${author}`, header({ number, parent, author, slot, announced }), { at: slot * 1_000 });
		}
		parent = `${slot}/${stay}`;
	}
	record.finalize(parent, { at: last * 1_000 });
	const nameOf = (babe) => ['Alice', 'Bob', 'Charlie', 'Dave'][Number(babe.slice(2))];
	const powers = new Map(weights.map((weight, index) => [nameOf(key(index)), weight / 10]));
	const found = report({ record, from: 100, to: last, slot: 1_000, c: [1, 4], powers, nameOf });
	assert.deepEqual(
		found.authors.map(({ name }) => name),
		['Alice', 'Bob', 'Charlie', 'Dave'],
	);
	near(found.authors[3].weight_share, 0.4, 1e-9);
	near(found.authors[3].expected_claims, 3_000 * (1 - 0.75 ** 0.4), 1e-9);
	assert.equal(
		found.authors.reduce((sum, { claims }) => sum + claims, 0),
		counted,
	);
	assert.equal(found.blocks, counted);
	assert.equal(found.blocks - found.finality.final_blocks, found.forks.blocks);
	assert.equal(found.forks.longest, 1);
	for (const { p } of [...Object.values(found.tests), found.unclaimed, found.contested]) assert.ok(p > 0.01, p);
	assert.match(reportText(found), /3000 slots of 1000 ms.*\n[^]*Dave +40\.00 % +40\.00 %/);
	// The same blocks under other weights are found out.
	const wrong = structuredClone([...record.blocks.values()].filter(({ announced }) => announced));
	for (const { hash } of wrong)
		record.blocks.get(hash).announced = [4, 3, 2, 1].map((weight, index) => ({
			babe: key(index),
			weight: BigInt(weight),
		}));
	const other = report({ record, from: 100, to: last, slot: 1_000, c: [1, 4], powers, nameOf });
	assert.ok(Math.max(...Object.values(other.tests).map(({ p }) => p)) < 1e-9);
});

test('a specification carries the power and the timing that were asked for', () => {
	const patch = {
		balances: { balances: [['a', 5]] },
		hashrate: {
			minShare: 0,
			trainers: [],
			founders: [],
			slotDuration: 1,
			epochLength: 1,
			halfLife: 7,
			seedBlocks: 16,
			seedStep: 16,
		},
		session: { keys: [] },
		babe: {},
	};
	const spec = { id: 'local', genesis: { runtimeGenesis: { code: '0x', patch } } };
	const authorities = ['a', 'b'].map((address, index) => ({
		address,
		session: { babe: address },
		power: 10 * (index + 1),
	}));
	const wanted = { authorities, slot: 500, c: [1, 2], epoch: 20 };
	const found = patched(spec, wanted).genesis.runtimeGenesis.patch;
	assert.deepEqual(found.hashrate.founders, [
		['a', 10],
		['b', 20],
	]);
	const earned = patched(spec, { ...wanted, earned: true }).genesis.runtimeGenesis.patch.hashrate;
	assert.deepEqual(earned.founders, []);
	assert.deepEqual([found.hashrate.slotDuration, found.hashrate.epochLength, found.hashrate.halfLife], [500, 20, 7]);
	assert.deepEqual([found.hashrate.seedBlocks, found.hashrate.seedStep], [4, 4], 'seeds come sooner');
	assert.deepEqual(found.babe.epochConfig, { c: [1, 2], allowed_slots: 'PrimarySlots' });
	assert.deepEqual(
		found.balances.balances.map(([who]) => who),
		['a', 'b'],
	);
	assert.deepEqual(found.session.keys[1], ['b', 'b', { babe: 'b' }]);
	assert.equal(patched(spec, { ...wanted, halfLife: 9_000 }).genesis.runtimeGenesis.patch.hashrate.halfLife, 9_000);
	assert.equal(patch.hashrate.slotDuration, 1, 'the preset itself stays');
});

test('wrong arguments are refused in words', () => {
	for (const [args, message] of [
		[['--slot', '501'], /--slot: 501 is not even/],
		[['--slot', 'fast'], /--slot: "fast" is not a whole number/],
		[['--c', '1'], /--c: "1" is not a fraction between 0 and 1/],
		[['--c', '4\/4'], /--c: "4\/4" is not a fraction/],
		[['--power', '1:0:3'], /--power: "0" is not a number from 0\.001/],
		[['--nodes', '3', '--power', '1:2'], /--power names 2 nodes, --nodes 3/],
		[['--nodes', '17'], /--nodes: "17" is not a whole number from 1 to 16/],
		[['--blocks', '5', '--minutes', '1'], /not both/],
		[['--colour'], /colour/],
		[['fault'], /there is no command "fault"/],
		[['faults', 'flood'], /there is no fault "flood"; there are minority, /],
		[['--drillers', '1:2'], /--drillers names 2 speeds for 4 nodes/],
		[['shift', 'more'], /"more": shift takes no names/],
	])
		assert.throws(() => readOptions(args), message, args.join(' '));
	const read = readOptions(['faults', 'third', '--power', '1:2:3.5', '--half-life', '90', '--c', '1/3']);
	assert.deepEqual([read.command, read.names, read.powers], ['faults', ['third'], [1, 2, 3.5]]);
	assert.deepEqual([read.halfLife, read.c], [90_000, [1, 3]]);
});

test('a plot is well-formed and holds what it was given', () => {
	const svg = plot({
		title: 'Shares & weights',
		x: 'session',
		y: 'share',
		series: [{ name: '<Alice>', line: [0.5, 0.5, 0], dots: [0.4, null, 0.1] }],
		marks: [{ at: 2, words: 'stops' }],
	});
	assert.match(svg, /Shares &amp; weights/);
	assert.match(svg, /&lt;Alice&gt;/);
	assert.equal(svg.match(/<circle/g).length, 3, 'two dots and one in the legend');
	assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
});
