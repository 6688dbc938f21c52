// A whistleblower convicts a cheat by itself, with the real node and the real worker, though it is killed again
// and again in the middle of its dispute.
//
// Three seats find the fraud and reject it, which is a dispute of each of them. They are killed as soon as they
// have revealed, so nobody goes on with these. The whistleblower has no seat and no bond: it looks at the result
// that stands, binds itself, accuses, and plays against a cheat that computed what it delivered and defends it move
// by move, until the court computes the last element. Whatever it was doing when it was killed, the next process
// goes on from its folder and from the chain, and sends nothing twice.
//
// Both trainers bet on what they deliver. The whistleblower stakes against the cheat while it accuses it, and wins; what
// nobody took of the honest trainer's offer returns.
//
// Beside it another one looks at the result of an honest trainer, finds it true, and ends without a transaction.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { accounts, feesPaid } from './lib/ledger.mjs';
import { DIGITS, Network, sleep, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';

const { jobFromFlags, keyFromSuri, money, postJob, rpc, send, variantName } = trainyard;

const UNIT = 10n ** 12n;
/** Accounts of the tests, made from //Ferdie's balance. */
const TRAINERS = {
	honest: ['--bet-stake', '50'],
	cheat: ['--test-only-half-rate', '--bet-stake', '50', '--bet-odds', '10:1', '--bet-notice', '20'],
};
/** What the whistleblower stakes against a result, and what it wins of the cheat's, in TRY. */
const [STAKE, WINS] = [4n, 40n];
const LOOKS = ['--segments-per-job', '2', '--max-bet', `${STAKE}`];
const VERIFIERS = ['one', 'two', 'three'];
const PEOPLE = [...Object.keys(TRAINERS), ...VERIFIERS, 'patron', 'victim', 'bystander', 'whistleblower'];
/** What each is given. */
const GIFT = 1_000n * UNIT;
/** 30 short segments, each of which the cheat trains falsely. */
const JOB = { hidden: '32', steps: '300', 'checkpoint-interval': '10', 'price-per-ut': '5000', 'apply-blocks': '5' };
/**
 * Blocks of a second for which results stand at least, and that each side of a dispute has: twice as many as it takes
 * where the next process has to wait each time until it may send a move again.
 */
const PATIENCE = 60;
/** Blocks after which a worker sends a move again that it wrote down and that is not on chain. */
const AGAIN = 10;
/** Seconds within which what is waited for comes, whatever else the machine does. */
const LONG = 300;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'whistleblower') : mkdtempSync(join(tmpdir(), 'trainyard-whistleblower-'));
let network, api, data;
const keys = {};

const address = (name) => keys[name].address;
const nameOf = (account) => PEOPLE.find((name) => address(name) === account) ?? account;

/** Starts a worker, or starts it again in the same folder. */
const start = (name, role, flags) => network.startWorker(role, `//Ferdie//${name}`, flags, name);

const log = (name, wanted) => events(join(folder, name), wanted);
/** Waits until a worker has reported such an event; returns it. */
const told = (name, wanted) =>
	until(
		`${name} tells ${JSON.stringify(wanted)}`,
		LONG,
		() => log(name, wanted)[0],
		() => network.fleet.check(),
	);

/** Waits until `found` returns something of a job; returns that. */
const seen = (id, what, found) =>
	until(
		`job ${id}: ${what}`,
		LONG,
		async () => found(await network.job(id)),
		() => network.fleet.check(),
	);
const phaseOf = (job) => variantName(job.audit?.phase ?? '');

/** Orders a job from a trainer; returns its number. */
async function order(submitter, trainer) {
	const job = await jobFromFlags({ data: DIGITS, location: data.url('digits.csv'), ...JOB });
	return (await postJob(api, keys[submitter], job, address(trainer))).id;
}

/**
 * Reads all blocks up to the best one: what the court said (`court`), each event with its fields by name, and the
 * transactions of an account (`sent`), each with its name and whether it failed.
 */
async function chainStory(name) {
	const best = (await api.rpc.chain.getHeader()).number.toNumber();
	const [court, sent] = [[], []];
	for (let number = 1; number <= best; number++) {
		const hash = await api.rpc.chain.getBlockHash(number);
		const all = await (await api.at(hash)).query.system.events();
		for (const { event } of all) {
			if (event.section !== 'court') continue;
			const fields = event.data.names.map((name, index) => [name, event.data[index].toJSON()]);
			court.push({ number, event: event.method, ...Object.fromEntries(fields) });
		}
		const { block } = await api.rpc.chain.getBlock(hash);
		block.extrinsics.forEach(({ isSigned, signer, method }, index) => {
			if (!isSigned || nameOf(signer.toString()) !== name) return;
			const failed = all.some(
				({ phase, event }) =>
					phase.isApplyExtrinsic &&
					phase.asApplyExtrinsic.toNumber() === index &&
					api.events.system.ExtrinsicFailed.is(event),
			);
			sent.push({ number, call: `${method.section}.${method.method}`, args: method.args.toString(), failed });
		});
	}
	return { court, sent };
}

/** The offers of bets of an account that stand, or of which bets run. */
async function offersOf(name) {
	const offers = await api.query.bets.offers.entries();
	return offers.filter(([, offer]) => nameOf(offer.unwrap().maker.toString()) === name);
}

/** The moves that the whistleblower wrote down before it sent them, the earliest first. */
function written() {
	const own = join(folder, 'whistleblower');
	const journals = existsSync(own)
		? readdirSync(own, { recursive: true }).filter((path) => /disputes\/\d+\/moves\.jsonl$/.test(path))
		: [];
	return journals
		.flatMap((path) => readFileSync(join(own, path), 'utf8').split('\n').slice(0, -1))
		.map((line) => JSON.parse(line))
		.filter(({ line }) => line === 'move');
}

/** Waits for what is on the disk for moments only, so it looks much more often than `until`. */
async function onDisk(what, probe) {
	const end = Date.now() + LONG * 1_000;
	while (!probe()) {
		network.fleet.check();
		if (Date.now() > end) throw new Error(`${what}: not within ${LONG} s`);
		await sleep(2);
	}
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		for (const name of PEOPLE) keys[name] = await keyFromSuri(`//Ferdie//${name}`);
		const gifts = PEOPLE.map((name) => api.tx.balances.transferKeepAlive(address(name), GIFT));
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
		const patience = api.tx.parameters.setParameter({ Court: { Patience: [null, PATIENCE] } });
		await send(api, api.tx.sudo.sudo(patience), await keyFromSuri('//Alice'));
		for (const name of VERIFIERS) start(name, 'verifier', ['--bond', '200']);
		for (const [name, flags] of Object.entries(TRAINERS)) {
			start(name, 'trainer', ['--bond', '100', '--min-price', '5000', ...flags]);
		}
		for (const name of Object.keys(TRAINERS)) {
			await told(name, { event: 'started' });
			await until('the trainer is registered', 60, () =>
				send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys[name]).then(
					() => true,
					() => network.fleet.check(),
				),
			);
		}
		await until('the verifiers are registered', 60, async () => {
			const known = (await api.call.trainyardApi.verifiers()).map(([account]) => nameOf(account.toString()));
			return VERIFIERS.every((name) => known.includes(name));
		});
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('at the same time', { concurrency: 2, timeout: 600_000 }, () => {
	let isAudited;
	const honestAudit = new Promise((resolve) => (isAudited = resolve));

	test('who looks at an honest result leaves it alone, and sends nothing', async () => {
		try {
			const id = await order('patron', 'honest');
			const bystander = start('bystander', 'whistleblower', ['--once', '--segments-per-job', '3']);
			// It ends by itself.
			bystander.expected = true;
			await seen(id, 'it is audited', ({ state }) => state === 'auditing');
			isAudited(id);
			await until('the bystander ends', LONG, () => !bystander.alive);
			assert.equal(bystander.code, 0, bystander.tail());
			const looked = log('bystander', { event: 'looked_at', job: id });
			assert.equal(looked.length, 1);
			assert.equal(looked[0].segments.length, 3);
			assert.deepEqual(log('bystander', { event: 'found_false' }), []);

			const job = await network.ended(id, LONG);
			assert.equal(trainyard.ending(job), 'settled');
			assert.equal(job.replicas[0].fate, 'accepted');
			const { nonce, data: balance } = await api.query.system.account(address('bystander'));
			assert.equal(nonce.toNumber(), 0, 'it has sent nothing');
			assert.deepEqual([balance.free.toBigInt(), balance.reserved.toBigInt()], [GIFT, 0n]);
			const { court } = await chainStory('bystander');
			const about = court.filter(({ job, defendant }) => job === id || defendant?.trainer?.job === id);
			assert.deepEqual(about, [], 'nobody went before the court');
			assert.deepEqual(trainyard.conservation(job), []);
			// What the trainer offered on it returns, for nobody took it.
			assert.equal(log('honest', { event: 'bet_offered', job: id })[0].stake, `${50n * UNIT}`);
			await until('the offer is taken back', LONG, async () => (await offersOf('honest')).length === 0);
		} finally {
			isAudited(null);
		}
	});

	test('a whistleblower convicts a cheat by itself, though it is killed again and again', async (t) => {
		assert.notEqual(await honestAudit, null, 'the other job is audited');
		const first = await accounts(api, [address('whistleblower'), address('victim')]);
		const id = await order('victim', 'cheat');
		let whistleblower = start('whistleblower', 'whistleblower', LOOKS);

		// Each seat rejects, which is a dispute, and is gone in the next moment.
		const seats = new Map(network.fleet.running.map((it) => [it.name, it]));
		await seen(id, 'all seats have revealed and are killed', async ({ audit }) => {
			for (const { verifier, findings } of audit?.committee ?? []) {
				const seat = seats.get(nameOf(verifier));
				if (findings !== null && seat.alive) await seat.kill();
			}
			return VERIFIERS.every((name) => !seats.get(name).alive);
		});
		assert.deepEqual(
			trainyard.verdicts(await network.job(id)).map(({ verdict }) => verdict),
			['rejected', 'rejected', 'rejected'],
		);

		/** The dispute of the whistleblower, as long as it runs. */
		const own = async () =>
			(await rpc(api, 'trainyard_disputes', [id])).find(({ challenger }) => challenger === address('whistleblower'));
		/** Where the whistleblower was when it was killed, for who reads the log. */
		const kills = [];
		async function kill(when) {
			await whistleblower.kill();
			const { moves = null, turn = null } = (await own()) ?? {};
			kills.push({ when, block: (await api.rpc.chain.getHeader()).number.toNumber(), moves, turn });
			whistleblower = start('whistleblower', 'whistleblower', LOOKS);
		}
		await seen(id, 'the whistleblower is bound', async () => {
			const bound = await api.query.court.committedBy(id, address('whistleblower'));
			return bound.isSome;
		});
		await kill('bound');
		// A move is on the disk, and perhaps not sent.
		await onDisk('a move is written down', () => written().length > 0);
		await kill('a move is written down');
		await seen(id, 'four moves are made', async () => (await own())?.moves >= 4);
		await kill('four moves are made');
		await seen(id, 'a piece is left', async () => (await own())?.turn === 'piece');
		await kill('a piece is left');
		// The judgement may come on chain while nobody is there.
		await onDisk('a judgement is written down', () => written().some(({ call }) => call === 'judge'));
		await kill('a judgement is written down');
		await told('whistleblower', { event: 'accusation_won', job: id });
		const job = await network.ended(id, LONG);
		// The chain settles bets within an hour; anybody may at once.
		const bet = (await api.query.bets.bets.entries()).find(
			([, bet]) => nameOf(bet.unwrap().taker.toString()) === 'whistleblower',
		);
		const number = bet[0].args[0].toString();
		const settled = await network.worker('settle', [
			...['bet', 'settle', number, '--suri', '//Ferdie//bystander', '--node', network.url],
		]);
		assert.equal(settled.status, 0, settled.stderr);
		const last = await accounts(api, [address('whistleblower'), address('victim')]);
		t.diagnostic(`killed: ${JSON.stringify(kills)}`);

		// The court itself found it, in the dispute of the whistleblower.
		const { court: all, sent } = await chainStory('whistleblower');
		const disputes = all.filter(({ event, defendant }) => event === 'Challenged' && defendant.trainer?.job === id);
		assert.deepEqual(
			disputes.map(({ challenger }) => nameOf(challenger)).sort(),
			[...VERIFIERS, 'whistleblower'].sort(),
		);
		const { id: mine } = disputes.find(({ challenger }) => challenger === address('whistleblower'));
		const ended = all.filter(({ event }) => event === 'Ended');
		assert.deepEqual(ended.find((event) => event.id === mine)?.ending, { convicted: { byClock: false } });
		// Those of the seats are moot, or were lost before by their clocks.
		const nobodys = disputes.filter((event) => event.id !== mine).map((event) => event.id);
		for (const id of nobodys) {
			const { ending } = ended.find((event) => event.id === id);
			assert.ok('moot' in ending || ending.acquitted?.byClock, `dispute ${id}: ${JSON.stringify(ending)}`);
		}
		const judged = all.filter(({ event }) => event === 'Judged');
		assert.deepEqual(
			judged.map(({ id, by }) => [id, nameOf(by)]),
			[[mine, 'whistleblower']],
		);

		// Nothing was sent twice, whatever was on its way when it was killed.
		const moves = all.filter(({ event, id }) => id === mine && ['Posted', 'Opened', 'Denied', 'Shown'].includes(event));
		const places = moves.map(({ event, place }) => `${event} ${JSON.stringify(place)}`);
		assert.equal(new Set(places).size, places.length, places.join('\n'));
		const denied = moves.filter(({ event }) => event === 'Denied').length;
		assert.ok(denied >= 3, `the cheat defended itself: ${places.join('\n')}`);
		const calls = sent.filter(({ call }) => call.startsWith('court.') && call !== 'court.poke');
		const others = sent.filter(({ call }) => !call.startsWith('court.'));
		assert.deepEqual(
			others.map(({ call, failed }) => [call, failed]),
			[['bets.take', false]],
		);
		assert.deepEqual(
			calls.map(({ call, failed }) => [call, failed]),
			['commit', 'challenge', ...Array(denied).fill('deny'), 'judge'].map((call) => [`court.${call}`, false]),
		);
		assert.equal(new Set(calls.map(({ args }) => args)).size, calls.length);
		// What it wrote down for one stage is one move, and the second time it is there the first was lost.
		const moved = written();
		for (const stage of new Set(moved.map(({ stage }) => stage))) {
			const sendings = moved.filter((move) => move.stage === stage);
			assert.equal(new Set(sendings.map(({ hash }) => hash)).size, 1);
			sendings.slice(1).forEach(({ height }, before) => assert.ok(height >= sendings[before].height + AGAIN));
		}
		for (const event of ['bet_taken', 'found_false', 'accusing', 'accused', 'accusation_won']) {
			assert.ok(log('whistleblower', { event, job: id }).length <= 1, event);
		}
		for (const event of ['problem', 'accusation_lost', 'accusation_moot', 'accusation_dropped', 'clock_runs']) {
			assert.deepEqual(log('whistleblower', { event }), []);
		}

		// The cheat loses its deposit, and nobody else anything.
		assert.equal(trainyard.ending(job), 'failed');
		assert.equal(job.replicas[0].fate, 'rejected');
		assert.deepEqual(trainyard.conservation(job), []);
		const paid = money(job);
		assert.equal(paid.refunded + paid.slashed_to_submitter, paid.escrowed);
		assert.equal(paid.slashed, BigInt(job.deposit));
		assert.equal(paid.slashed_to_finders, (paid.slashed - paid.slashed_to_submitter) / 4n);
		assert.ok(paid.slashed_to_finders > 0n);
		const fees = await feesPaid(api, first.block, last.block);
		const gained = (name) => {
			const change = last.get(address(name)).total - first.get(address(name)).total;
			return change + (fees.get(address(name)) ?? 0n);
		};
		const won = paid.slashed_to_finders + WINS * UNIT;
		assert.equal(gained('whistleblower'), won, 'but for its fees it has its part more, and what it won');
		assert.equal(last.get(address('whistleblower')).reserved, 0n);
		assert.equal(gained('victim'), 0n);
		assert.equal(last.get(address('victim')).reserved, BigInt(job.record), 'only for the record');
	});
});

test('what everybody did is remembered, in fees that were burned', { timeout: 60_000 }, async () => {
	/** What the chain remembers of an account, by role. */
	async function remembered(name) {
		const { stdout } = await network.worker(`reputation-${name}`, [
			'reputation',
			address(name),
			'--node',
			network.url,
			'--json',
		]);
		const { records } = JSON.parse(stdout);
		return new Map(records.map((view) => [view.role, view]));
	}
	const honest = (await remembered('honest')).get('trainer');
	assert.ok(BigInt(honest.record.done) > 0n, JSON.stringify(honest));
	assert.ok(honest.standing > 500_000 && honest.right > 900_000, JSON.stringify(honest));
	const cheat = (await remembered('cheat')).get('trainer');
	assert.ok(BigInt(cheat.record.convicted) > 0n && BigInt(cheat.record.done) === 0n, JSON.stringify(cheat));
	assert.ok(cheat.standing < 500_000 && cheat.right < 900_000, JSON.stringify(cheat));
	const finder = (await remembered('whistleblower')).get('challenger');
	assert.ok(BigInt(finder.record.done) > 0n && BigInt(finder.record.failed) === 0n, JSON.stringify(finder));
	assert.deepEqual([...(await remembered('bystander')).keys()], [], 'who does nothing is not known');
	assert.ok(BigInt((await remembered('patron')).get('submitter').record.done) > 0n);
});
