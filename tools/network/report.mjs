// What a network did in a range of slots: for every author its shares of power, weight, claims and
// blocks; how far that is from the lottery's exact probabilities; forks, intervals, finality.

import { table } from '../../packages/polkadot-js/src/table.js';
import { binomialTest, chiSquare, claimProbability, howMany, mean, quantile, scores, stays } from './statistics.mjs';

const sum = (values) => values.reduce((all, value) => all + value, 0);

/** Shares of all weight, by BABE key. */
export function weightShares(authorities) {
	const total = Number(authorities.reduce((all, { weight }) => all + weight, 0n));
	return new Map(authorities.map(({ babe, weight }) => [babe, Number(weight) / total]));
}

/** Of each slot in [from, to): which authors claimed it, by BABE key. */
function claimsBySlot(record, from, to) {
	const authoritiesAt = record.authoritiesAt();
	const slots = new Map();
	for (const block of record.blocks.values()) {
		if (block.slot < from || block.slot >= to) continue;
		const babe = authoritiesAt(block.slot)[block.author]?.babe;
		if (babe === undefined) continue;
		if (!slots.has(block.slot)) slots.set(block.slot, new Set());
		slots.get(block.slot).add(babe);
	}
	return slots;
}

/** How many blocks behind the final chain the branch of an abandoned block begins. */
function depth(record, block) {
	let at = block;
	let length = 0;
	while (at && record.final[at.number] !== at.hash) {
		length++;
		at = record.blocks.get(at.parent);
	}
	return length;
}

/**
 * The report of the slots in [from, to), all of them final. `powers` maps names to shares of
 * power, in the order of the report; `nameOf` gives the name of a BABE key. Everything is a plain number for JSON.
 */
export function report({ record, from, to, slot, c, powers, nameOf }) {
	const chance = c[0] / c[1];
	const authoritiesAt = record.authoritiesAt();
	const claimed = claimsBySlot(record, from, to);
	const authors = new Map();
	const order = [...powers.keys()];
	const author = (babe) => {
		if (!authors.has(babe)) {
			const name = nameOf(babe);
			const none = { weight: 0, expected: 0, variance: 0, stays: 0, claims: 0, blocks: 0 };
			authors.set(babe, { name, power: powers.get(name) ?? null, ...none });
		}
		return authors.get(babe);
	};

	// What the lottery should give, slot by slot: weights change with epochs.
	let contestedExpected = 0;
	const known = new Map();
	for (let at = from; at < to; at++) {
		const authorities = authoritiesAt(at);
		if (!known.has(authorities)) {
			const shares = weightShares(authorities);
			const chances = [...shares.values()].map((share) => claimProbability(chance, share));
			const counts = howMany(chances);
			known.set(authorities, { shares, chances, stays: stays(chances), contested: 1 - counts[0] - counts[1] });
		}
		const epoch = known.get(authorities);
		contestedExpected += epoch.contested;
		[...epoch.shares].forEach(([babe, share], index) => {
			const it = author(babe);
			it.weight += share / (to - from);
			it.expected += epoch.chances[index];
			it.variance += epoch.chances[index] * (1 - epoch.chances[index]);
			it.stays += epoch.stays[index];
		});
	}

	for (const babes of claimed.values()) for (const babe of babes) author(babe).claims++;
	const final = record.finalBlocks().filter((block) => block.slot >= from && block.slot < to);
	for (const block of final) author(authoritiesAt(block.slot)[block.author].babe).blocks++;

	const all = [...authors.values()].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
	const totals = { expected: sum(all.map((it) => it.expected)), stays: sum(all.map((it) => it.stays)) };
	const claims = sum(all.map((it) => it.claims));
	const slots = to - from;
	const inRange = [...record.blocks.values()].filter((block) => block.slot >= from && block.slot < to);
	const abandoned = inRange.filter((block) => record.final[block.number] !== block.hash);
	const gaps = final.slice(1).map((block, index) => ((block.slot - final[index].slot) * slot) / 1_000);
	const finality = final
		.filter(({ finalized }) => finalized !== null)
		.map((block) => (block.finalized - block.seen) / 1_000);
	// How many blocks are on top of one when it becomes final.
	const pending = final.map(
		(block) => final.filter((later) => later.number > block.number && later.seen <= block.finalized).length,
	);
	const unclaimed = slots - claimed.size;
	const contested = [...claimed.values()].filter((babes) => babes.size > 1).length;

	return {
		slots,
		slot_ms: slot,
		c: chance,
		seconds: (slots * slot) / 1_000,
		blocks: inRange.length,
		authors: all.map((it) => ({
			name: it.name,
			power_share: it.power,
			weight_share: it.weight,
			claim_probability: it.expected / slots,
			expected_claims: it.expected,
			claims: it.claims,
			expected_claim_share: it.expected / totals.expected,
			claim_share: it.claims / claims,
			final_blocks: it.blocks,
			expected_block_share: it.stays / totals.stays,
			block_share: it.blocks / final.length,
			forked: it.claims - it.blocks,
		})),
		tests: {
			claims: scores(
				all.map((it) => it.claims),
				all.map((it) => it.expected),
				all.map((it) => it.variance),
			),
			claim_shares: chiSquare(
				all.map((it) => it.claims),
				all.map((it) => (it.expected / totals.expected) * claims),
			),
			block_shares: chiSquare(
				all.map((it) => it.blocks),
				all.map((it) => (it.stays / totals.stays) * final.length),
			),
		},
		unclaimed: { slots: unclaimed, expected: slots * (1 - chance), p: binomialTest(unclaimed, slots, 1 - chance) },
		contested: {
			slots: contested,
			expected: contestedExpected,
			p: binomialTest(contested, slots, contestedExpected / slots),
		},
		forks: { blocks: abandoned.length, longest: Math.max(0, ...abandoned.map((block) => depth(record, block))) },
		equivocations: record.equivocations().filter(([{ slot: at }]) => at >= from && at < to).length,
		interval: {
			mean: mean(gaps),
			p99: quantile(gaps, 0.99),
			expected_mean: slot / 1_000 / chance,
			expected_p99: (Math.ceil(Math.log(0.01) / Math.log1p(-chance)) * slot) / 1_000,
		},
		finality: {
			final_blocks: final.length,
			mean_seconds: mean(finality),
			p99_seconds: quantile(finality, 0.99),
			mean_blocks: mean(pending),
			p99_blocks: quantile(pending, 0.99),
			conflicts: record.conflicts.length,
		},
	};
}

const percent = (share) => (share === null ? '-' : `${(share * 100).toFixed(2)} %`);
const fixed = (value, digits = 1) => value.toFixed(digits);
const probability = (p) => (p < 1e-4 ? p.toExponential(1) : p.toFixed(4));

/** The report for people. */
export function reportText(found) {
	const header = [
		'author',
		'power',
		'weight',
		'claims',
		'expected',
		'claim share',
		'expected',
		'final blocks',
		'block share',
		'expected',
		'forked',
	];
	const rows = found.authors.map((it) => [
		it.name,
		percent(it.power_share),
		percent(it.weight_share),
		it.claims,
		fixed(it.expected_claims),
		percent(it.claim_share),
		percent(it.expected_claim_share),
		it.final_blocks,
		percent(it.block_share),
		percent(it.expected_block_share),
		it.forked,
	]);
	const { tests, interval, finality, unclaimed, contested, forks } = found;
	const chi = ({ value, degrees, p }) =>
		`chi-square ${fixed(value, 2)} with ${degrees} degrees of freedom, p = ${probability(p)}`;
	return [
		`${found.slots} slots of ${found.slot_ms} ms (${fixed(found.seconds, 0)} s), c = ${found.c}: ${found.blocks} blocks, ${finality.final_blocks} of them final`,
		'',
		table(header, rows, header.map((_, column) => column).slice(1)),
		'',
		`claims against the lottery      ${chi(tests.claims)}`,
		`shares of claims                ${chi(tests.claim_shares)}`,
		`shares of final blocks          ${chi(tests.block_shares)}`,
		`slots nobody claimed            ${unclaimed.slots}, expected ${fixed(unclaimed.expected)}, p = ${probability(unclaimed.p)}`,
		`slots claimed more than once    ${contested.slots}, expected ${fixed(contested.expected)}, p = ${probability(contested.p)}`,
		`blocks off the final chain      ${forks.blocks}, the longest branch ${forks.longest}`,
		`equivocations                   ${found.equivocations}`,
		`block interval                  mean ${fixed(interval.mean, 2)} s, 99 % within ${fixed(interval.p99)} s (one lottery, no delay: ${fixed(interval.expected_mean, 2)} s, ${fixed(interval.expected_p99)} s)`,
		`finality                        mean ${fixed(finality.mean_seconds, 2)} s behind a block, 99 % within ${fixed(finality.p99_seconds, 2)} s; mean ${fixed(finality.mean_blocks, 2)} blocks on top, 99 % at most ${finality.p99_blocks}`,
		...(finality.conflicts ? [`CONFLICTING FINAL BLOCKS        ${finality.conflicts}`] : []),
	].join('\n');
}
