// Lets power change and looks at what comes of it: the weights that each session announces, and
// the blocks that are made under them.
//
// With drillers (`--drillers`) power is what they earn. Without, work is credited as if everyone
// worked steadily: every few seconds sudo writes it into the ledger of pallet-hashrate, with the
// ledger's own formula; everything behind the ledger (the choice of authorities, the announcement,
// the lottery) is the chain's. Power decays by its half-life, here half a session. Then the first
// trainer stops, and the second does twice as much.

import { writeFileSync } from 'node:fs';
import { sleep, until } from '../end-to-end/lib/network.mjs';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { keyFromSuri, send, table } from '../../packages/polkadot-js/src/index.js';
import { settings, startDrilling, startNetwork } from './measure.mjs';
import { PART } from './nodes.mjs';
import { weightShares } from './report.mjs';
import { claimProbability, scores } from './statistics.mjs';
import { plot } from './svg.mjs';

const DEFAULTS = { powers: [2, 2, 3, 3], slot: 500, c: [1, 2], epoch: 60, earned: true };
/** Half-lives in a session. */
const HALF_LIVES = 2;
/** How long it runs, and the share of that before power changes. */
const MINUTES = 10;
const BEFORE = 0.4;
/** Seconds between credits. */
const CREDIT_SECONDS = 3;
const DAY_MS = 86_400_000;
/** Fractional bits of effective power. */
const BITS = 64n;

/** `value * factor`, for a factor that a float holds well enough. */
const times = (value, factor) => (value * BigInt(Math.round(factor * 2 ** 40))) >> 40n;

/** A track of the ledger after a credit of `rate` (micro-ut a day) for the time since `from`. */
function credited(track, rate, from, now, halfLife) {
	const days = (now - from) / DAY_MS;
	const work = BigInt(Math.round(rate * days));
	const updated = track.updated.toNumber();
	const left = times(track.effective.toBigInt(), 2 ** (-(now - updated) / halfLife));
	const gain = times(work << BITS, (Math.LN2 * DAY_MS) / halfLife);
	return { total: track.total.toBigInt() + work, effective: left + gain, updated: now };
}

/** Credits steady work by sudo until it is stopped; `rates` maps names to micro-ut a day. */
class Credits {
	#loop;

	constructor(network, api, rates) {
		Object.assign(this, { network, api, rates: new Map(rates), stopped: false });
	}

	start() {
		this.#loop = this.#run();
	}

	change(name, rate) {
		this.rates.set(name, rate);
	}

	stop() {
		this.stopped = true;
	}

	done() {
		return this.#loop;
	}

	async #run() {
		const sudo = await keyFromSuri('//Alice');
		const { api, network } = this;
		const type = api.registry.createLookupType(api.query.hashrate.power.creator.meta.type.asMap.value);
		let from = (await api.query.timestamp.now()).toNumber();
		while (!this.stopped) {
			await sleep(CREDIT_SECONDS * 1_000);
			const now = (await api.query.timestamp.now()).toNumber();
			if (now <= from) continue;
			const writes = [];
			for (const [name, rate] of this.rates) {
				const { address } = network.nodes.get(name).keys;
				const ledger = await api.query.hashrate.power(address);
				// Who does nothing is not written.
				if (rate === 0) continue;
				const track = (kind) => credited(ledger[kind], rate, from, now, network.halfLife);
				const next = api.createType(type, { drilling: track('drilling'), training: track('training') });
				writes.push([api.query.hashrate.power.key(address), next.toHex()]);
			}
			from = now;
			try {
				await send(api, api.tx.sudo.sudo(api.tx.system.setStorage(writes)), sudo);
			} catch (error) {
				if (!this.stopped) throw error;
			}
		}
	}
}

/** Of each whole session from `first` to `last`: weight shares, and slots claimed, by name. */
function sessions(network, first, last) {
	const { record } = network;
	const begin = record.blocks.get(record.final[1]).slot;
	const authoritiesAt = record.authoritiesAt();
	const order = network.authorities.map(({ name }) => name);
	return Array.from({ length: last - first + 1 }, (_, index) => {
		const number = first + index;
		const from = begin + number * record.epoch;
		const authorities = authoritiesAt(from);
		const claims = new Map(authorities.map(({ babe }) => [babe, new Set()]));
		for (const block of record.blocks.values()) {
			if (block.slot < from || block.slot >= from + record.epoch) continue;
			claims.get(authorities[block.author]?.babe)?.add(block.slot);
		}
		const total = [...claims.values()].reduce((sum, slots) => sum + slots.size, 0);
		return {
			session: number,
			authors: [...weightShares(authorities)]
				.map(([babe, weight]) => ({
					name: network.nameOfKey(babe),
					weight_share: weight,
					claims: claims.get(babe).size,
					block_share: total > 0 ? claims.get(babe).size / total : 0,
				}))
				.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
		};
	});
}

/** The sum of claims of some sessions against the lottery under the weights of each. */
function agreement(found, { epoch, c }) {
	const names = [...new Set(found.flatMap(({ authors }) => authors.map(({ name }) => name)))];
	const of = (name) => found.flatMap(({ authors }) => authors.filter((author) => author.name === name));
	const chances = names.map((name) => of(name).map(({ weight_share: share }) => claimProbability(c[0] / c[1], share)));
	const counts = names.map((name) => of(name).reduce((sum, { claims }) => sum + claims, 0));
	const means = chances.map((all) => all.reduce((sum, p) => sum + epoch * p, 0));
	const variances = chances.map((all) => all.reduce((sum, p) => sum + epoch * p * (1 - p), 0));
	const total = counts.reduce((sum, count) => sum + count, 0);
	const expected = means.reduce((sum, value) => sum + value, 0);
	// Who has next to no weight is expected to make next to no block: no count for chi-square.
	const counted = names.map((_, index) => index).filter((index) => means[index] >= 5);
	const pick = (all) => counted.map((index) => all[index]);
	return {
		authors: names.map((name, index) => ({
			name,
			claims: counts[index],
			share: counts[index] / total,
			expected_share: means[index] / expected,
		})),
		test: scores(pick(counts), pick(means), pick(variances)),
	};
}

export async function runShift(options, hold) {
	const say = (text) => options.json || console.log(text);
	const wanted = settings(options, DEFAULTS);
	if (wanted.powers.length < 3)
		throw new UserError('shift needs at least three nodes: one stops, one doubles, one goes on');
	wanted.halfLife ??= (wanted.epoch * wanted.slot) / HALF_LIVES;
	const network = await startNetwork({ ...options, ...wanted }, hold, DEFAULTS);
	const { record, slot, epoch } = network;
	const alive = () => network.fleet.check();
	await until('the first block is final', 120, () => record.height > 0, alive);
	const api = await network.api(network.authorities.at(-1).name);
	const names = network.authorities.map(({ name }) => name);
	let work = await startDrilling(network, options);
	if (!work) {
		work = new Credits(network, api, new Map(names.map((name, index) => [name, wanted.powers[index] * PART])));
		work.start();
	}
	const rates = work.speeds ?? work.rates;
	// A failure is reported where the waiting is.
	let trouble = null;
	work.done().catch((error) => (trouble = error));
	const check = () => {
		alive();
		if (trouble) throw trouble;
	};

	const all = Math.ceil(((options.minutes ?? MINUTES) * 60_000) / (epoch * slot));
	const now = () => record.epochOf(network.slotNow);
	// What drillers earn from now on is weight two sessions later.
	const first = Math.max(2, options.drillers ? now() + 3 : 0);
	const changed = first + Math.round(all * BEFORE);
	const last = first + all - 1;
	const reach = (number) =>
		until(`session ${number} begins`, ((number - now() + 3) * epoch * slot) / 1_000, () => now() >= number, check);
	say(
		`sessions of ${(epoch * slot) / 1_000} s, power halves in ${wanted.halfLife / 1_000} s; measuring sessions ${first} to ${last}`,
	);
	await reach(changed);
	work.change(names[0], 0);
	work.change(names[1], rates.get(names[1]) * 2);
	say(`session ${changed}: ${names[0]} stops, ${names[1]} does twice as much`);
	await reach(last + 1);
	work.stop();
	await until('the measured sessions are final', 120, () => record.epochs().at(-1)?.number > last, check);
	await network.watch.settled();
	if (work.units) say(`units computed: ${[...work.units].map(([name, units]) => `${name} ${units}`).join(', ')}`);
	await api.disconnect();

	const found = sessions(network, first, last);
	const before = agreement(
		found.filter(({ session }) => session < changed),
		network,
	);
	// The weights of a session are those at the end of the one before the last.
	const after = agreement(
		found.filter(({ session }) => session >= changed + 2),
		network,
	);
	const result = {
		slot_ms: slot,
		epoch_slots: epoch,
		c: network.c[0] / network.c[1],
		half_life_ms: wanted.halfLife,
		changed,
		sessions: found,
		before,
		after,
	};
	if (options.plot) writeFileSync(options.plot, picture(result, names));
	if (options.json) console.log(JSON.stringify(result));
	else console.log(`\n${text(result, names)}`);
	return true;
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;

function text({ changed, sessions: found, before, after }, names) {
	const share = (authors, name, field) => {
		const author = authors.find((it) => it.name === name);
		return author ? percent(author[field]) : '-';
	};
	const header = ['session', ...names.flatMap((name) => [`${name} weight`, 'blocks'])];
	const rows = found.map(({ session, authors }) => [
		session === changed ? `${session} *` : session,
		...names.flatMap((name) => [share(authors, name, 'weight_share'), share(authors, name, 'block_share')]),
	]);
	const told = (what, { authors, test }) =>
		`${what}: ${authors.map((it) => `${it.name} ${percent(it.share)} (expected ${percent(it.expected_share)})`).join(', ')}; ` +
		`chi-square ${test.value.toFixed(2)} with ${test.degrees} degrees of freedom, p = ${test.p.toFixed(4)}`;
	return [
		table(header, rows, header.map((_, column) => column).slice(1)),
		`* ${names[0]} stopped and ${names[1]} doubled at the beginning of this session`,
		'',
		told('shares of blocks before', before),
		told('from two sessions behind the change', after),
	].join('\n');
}

function picture({ changed, sessions: found }, names) {
	const of = (name, field) => found.map(({ authors }) => authors.find((it) => it.name === name)?.[field] ?? 0);
	return plot({
		title: 'Power that changes: announced weights and blocks',
		x: 'session',
		y: 'share',
		first: found[0].session,
		series: names.map((name) => ({ name, line: of(name, 'weight_share'), dots: of(name, 'block_share') })),
		marks: [{ at: changed, words: `${names[0]} stops, ${names[1]} doubles` }],
		format: (value) => `${Math.round(value * 100)} %`,
		caption: 'line: share of weight\ndots: share of blocks',
	});
}
