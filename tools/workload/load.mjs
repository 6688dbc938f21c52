// One run of a workload against nodes: accounts and money, what is signed ahead, the load itself, and its end.

import { connect, keyFromSuri } from '../../packages/polkadot-js/src/chain.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';
import { callIndex, ready } from '../node-bench/runtime.mjs';
import { Account, pairOf } from './accounts.mjs';
import { Cutter } from './blobs.mjs';
import { calls, feeOf, fund, hasCall, inSmallest, missingKinds, readChain } from './chain.mjs';
import { timesOf } from './declaration.mjs';
import { EventReader } from './events-thread.mjs';
import { pairOfSuri } from './keys.mjs';
import { Ledger } from './ledger.mjs';
import { Operations, prepare } from './operations.mjs';
import { presign, signOne } from './presign.mjs';
import { bytesOf } from './random.mjs';
import { Connection } from './rpc.mjs';
import { Sender, now } from './sender.mjs';
import { BlockWatch } from './watch.mjs';

/** Ms before the first transaction is due, in which all is made ready. */
const LEAD = 500;
/** Fees are reckoned to be so many times what they are before the load, since they may follow it. */
const FEE_MARGIN = 3n;
/** Ms that a client of a closed loop waits after its transaction was refused. */
const AFTER_REFUSAL = 1_000;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Leaves out the streams that the chain cannot take, where that is wanted; else says which. */
export function chosen(streams, missing, { chain, skipMissing }) {
	if (missing.length === 0) return streams;
	const words = missing.map(({ kind, lacks }) => `${kind} (there is no call ${lacks})`).join(', ');
	if (!skipMissing) {
		throw new UserError(
			`the chain ${chain} cannot take streams of the kind ${words}. Nothing was sent; --skip-missing leaves them out`,
		);
	}
	const left = streams.filter(({ kind }) => !missing.some((one) => one.kind === kind));
	if (left.length === 0) throw new UserError(`the chain ${chain} can take none of the streams: it lacks ${words}`);
	return left;
}

/** Runs a workload; `say(text)` hears what happens, `hold(close)` what ends everything. Returns what was found. */
export async function runLoad({ declaration, urls, funder, skipMissing, say, hold }) {
	await ready();
	const closes = [];
	let closing;
	const close = () =>
		(closing ??= (async () => {
			for (const one of closes.reverse()) await one();
		})());
	hold(close);
	try {
		return await new Run({ declaration, urls, funder, skipMissing, say, closes }).go();
	} finally {
		await close();
	}
}

class Run {
	constructor(options) {
		Object.assign(this, options);
		this.ledger = new Ledger();
	}

	async go() {
		await this.connect();
		await this.choose();
		this.plan();
		await this.pay();
		await this.prepare();
		await this.sign();
		await this.start();
		await this.load();
		return this.found();
	}

	async connect() {
		this.lines = [];
		for (const url of this.urls) {
			const line = await new Connection(url).open();
			this.closes.push(() => line.close());
			this.lines.push(line);
		}
		// Blocks are watched by a connection of their own, so that they do not wait behind transactions.
		this.eye = await new Connection(this.urls[0]).open();
		this.closes.push(() => this.eye.close());
		this.chain = await readChain(this.eye);
		for (const line of this.lines) {
			const genesis = await line.rpc('chain_getBlockHash', [0]);
			if (genesis !== this.chain.genesis) {
				throw new UserError(`${line.url} is a node of another chain than ${this.urls[0]}: name nodes of one chain`);
			}
		}
		this.make = calls(this.chain.description);
		this.signNow = (account, nonce, call) => signOne(this.chain.description.plain, account.pair, nonce, call);
	}

	async choose() {
		const { streams } = this.declaration;
		const missing = missingKinds(streams, (pallet, call) => hasCall(this.chain.description, pallet, call));
		this.streams = chosen(streams, missing, { chain: this.chain.name, skipMissing: this.skipMissing });
		this.skipped = streams.filter((stream) => !this.streams.includes(stream)).map(({ name, kind }) => ({ name, kind }));
		this.byName = new Map(this.streams.map((stream) => [stream.name, stream]));
		for (const { name, kind } of this.skipped) say(this, `left out: stream "${name}", since the chain has no ${kind}`);
	}

	/** Accounts and due times. */
	plan() {
		const { declaration } = this;
		const times = timesOf(declaration);
		let index = 0;
		this.accounts = [];
		declaration.streams.forEach((stream, at) => {
			stream.times = times[at];
			// Of streams that are left out too: the same seed gives the others the same accounts.
			const first = index;
			index += stream.accounts;
			if (!this.byName.has(stream.name)) return;
			stream.smallest = inSmallest(this.chain, stream.funds, 'funds');
			stream.smallestReward = stream.reward ? inSmallest(this.chain, stream.reward, 'reward') : null;
			stream.members = Array.from({ length: stream.accounts }, (_, member) => {
				const number = first + member;
				const account = new Account({
					index: number,
					pair: pairOf(declaration.seed, number),
					line: member % this.lines.length,
				});
				return Object.assign(account, { funds: stream.smallest });
			});
			this.accounts.push(...stream.members);
		});
	}

	/** The call of transaction `number` of a stream of single transactions. */
	callOf(stream, number) {
		if (stream.kind === 'remark') {
			return this.make.remark(bytesOf(stream.bytes, String(this.declaration.seed), stream.name, String(number)));
		}
		const { members } = stream;
		const to = members[(number + 1) % members.length].pair.publicKey;
		return this.make.transfer(to, stream.amount === null ? this.chain.deposit : stream.smallestAmount);
	}

	async pay() {
		for (const stream of this.streams) {
			if (!stream.single) continue;
			if (stream.amount !== null && stream.kind === 'transfer') {
				stream.smallestAmount = inSmallest(this.chain, stream.amount, 'amount');
			}
			const [account] = stream.members;
			const call = this.callOf(stream, 0);
			const fee = await feeOf(this.eye, this.chain.description, this.signNow(account, 0, call).bytes);
			stream.fee = fee;
			const each = BigInt(Math.ceil((stream.times?.length ?? 0) / stream.accounts));
			const needed = each * fee * FEE_MARGIN + this.chain.deposit;
			if (needed > stream.smallest) {
				const whole = Number((needed * 1_000n) / 10n ** BigInt(this.chain.decimals)) / 1_000;
				throw new UserError(
					`stream "${stream.name}": an account sends ${each} transactions, whose fees may come to ${whole} ` +
						`${this.chain.symbol}, more than its funds of ${stream.funds}: raise funds or accounts`,
				);
			}
		}
		const pair = pairOfSuri(this.funder);
		say(this, `money for ${this.accounts.length} accounts`);
		await fund({
			connection: this.eye,
			chain: this.chain,
			accounts: this.accounts,
			funder: new Account({ index: -1, pair }),
			sign: this.signNow,
			transfer: this.make.transfer,
		});
	}

	async prepare() {
		const ours = this.streams.filter(({ single }) => !single);
		// What an earlier run of the same seed stored is there already, so the nonces go into contents too.
		const words = [String(this.declaration.seed), ...ours.map(({ members }) => String(members[0].next))];
		const index = (call) => callIndex(this.chain.description, 'ModelStorage', call);
		if (ours.some(({ kind }) => kind !== 'job')) {
			this.cutter = new Cutter({ register: index('register'), upload: index('upload_chunk') });
			this.closes.push(() => this.cutter.close());
			// It takes its time to begin.
			await this.cutter.cut(1, ['first']);
		}
		if (ours.some(({ kind }) => kind !== 'blob')) {
			const api = await connect(this.urls[0]);
			this.closes.push(() => api.disconnect());
			const key = await keyFromSuri(this.funder);
			const count = ({ times }) => times?.length ?? 0;
			this.closes.push(await prepare({ api, key, streams: ours, count }));
		}
		this.operations = new Operations({
			submit: (op, account, call) =>
				this.sender.submit({ entry: this.ledger.add(op.stream, now(), op), account, call, patience: Infinity }),
			lines: this.lines,
			cutter: this.cutter,
			words,
		});
	}

	/** Signs ahead what is due at known times. */
	async sign() {
		this.due = [];
		const items = [];
		for (const stream of this.streams) {
			if (!stream.times || !stream.single) continue;
			stream.times.forEach((at, number) => {
				const account = stream.members[number % stream.members.length];
				const nonce = account.next + Math.floor(number / stream.members.length);
				items.push({ account: account.index, nonce, call: this.callOf(stream, number) });
				this.due.push({ at, stream, account });
			});
		}
		const begun = now();
		const signed = items.length ? await presign(this.chain.description.plain, this.declaration.seed, items) : [];
		this.due.forEach((one, index) => Object.assign(one, { call: items[index].call, signed: signed[index] }));
		if (items.length) say(this, `${items.length} transactions signed in ${((now() - begun) / 1_000).toFixed(1)} s`);
	}

	async start() {
		this.sender = new Sender({
			lines: this.lines,
			ledger: this.ledger,
			sign: this.signNow,
			patience: this.declaration.patience * 1_000,
		});
		const { metadata } = this.chain.description;
		this.events = new EventReader(u8aToHex(metadata.toU8a()));
		this.closes.push(() => this.events.close());
		this.watch = new BlockWatch({
			connection: this.eye,
			ledger: this.ledger,
			onFinal: (block, events) => {
				// Not awaited: blocks must not wait for it.
				this.events.read(events).then(({ failures, told }) => this.#told(block, failures, told));
			},
		});
		await this.watch.start();
	}

	#told(block, failures, told) {
		for (const [index, reason] of failures) {
			const entry = this.ledger.at(block.hash, index);
			if (!entry) continue;
			entry.failed = reason;
			if (entry.op) this.operations.failed(entry.op, reason);
		}
		this.operations.told(told, block.at, (index) => this.ledger.at(block.hash, index), this.byName);
	}

	async load() {
		const { duration, drain } = this.declaration;
		const start = now() + LEAD;
		this.began = start;
		const end = start + duration * 1_000;
		const { ledger, sender, operations } = this;
		const plan = this.due.map(({ at, stream, account, call, signed }) => ({
			at,
			run: () => sender.submit({ entry: ledger.add(stream.name, start + at), account, call, signed }),
		}));
		const units = [];
		for (const stream of this.streams) {
			if (stream.single || !stream.times) continue;
			for (const at of stream.times) plan.push({ at, run: () => units.push(operations.begin(stream, start + at)) });
		}
		plan.sort((a, b) => a.at - b.at);
		say(this, `the load begins: ${duration} s`);
		const ticker = setInterval(() => this.#progress(), 5_000);
		const stop = sender.keepGoing();
		try {
			for (const stream of this.streams) {
				if (stream.arrival.process === 'closed') units.push(...this.#clients(stream, start, end));
			}
			await sender.play(plan, start);
			if (now() < end) await sleep(end - now());
			this.loadEnd = now();
			say(this, 'the load is over; what is on its way has time to arrive');
			const last = this.loadEnd + drain * 1_000;
			let ended = false;
			Promise.allSettled(units).then(() => (ended = true));
			const rest = () => ledger.entries.some(({ over }) => !over);
			while (now() < last && (!ended || rest())) {
				await sleep(200);
			}
			operations.stop();
			await this.watch.settled();
			await sleep(100);
		} finally {
			stop();
			clearInterval(ticker);
		}
		this.ended = now();
		await this.events.settled();
		const { trouble } = this.watch;
		if (trouble)
			say(this, `the watched node did not answer at least once, and blocks were read later: ${trouble.message}`);
		if (this.events.failed) say(this, `events could not be read: ${this.events.failed.message}`);
	}

	/** Clients that each wait for the answer to one thing before they do the next. */
	#clients(stream, start, end) {
		const { clients, think, until } = stream.arrival;
		const one = async (client) => {
			await sleep(Math.max(0, start - now()));
			for (let number = client; now() < end; number += clients) {
				if (stream.single) {
					const entry = this.ledger.add(stream.name, now());
					const account = stream.members[client];
					this.sender.submit({ entry, account, call: this.callOf(stream, number), patience: Infinity });
					try {
						await Promise.race([entry.when(until), this.#over(end)]);
					} catch {
						await sleep(AFTER_REFUSAL);
					}
				} else {
					const { unsent, error } = await this.operations.begin(stream, now());
					if (unsent || error) await sleep(AFTER_REFUSAL);
				}
				if (think) await sleep(think * 1_000);
			}
		};
		return Array.from({ length: clients }, (_, client) => one(client));
	}

	/** Resolves when the load is over. */
	#over(end) {
		this.overPromise ??= sleep(Math.max(0, end - now()));
		return this.overPromise;
	}

	#progress() {
		const count = { sent: 0, included: 0, final: 0, refused: 0 };
		for (const { sent, seen, final, refused } of this.ledger.entries) {
			if (sent !== null) count.sent++;
			if (seen !== null) count.included++;
			if (final !== null) count.final++;
			if (refused !== null) count.refused++;
		}
		const seconds = ((now() - this.began) / 1_000).toFixed(0).padStart(4);
		const { sent, included, final, refused } = count;
		say(this, `${seconds} s  sent ${sent}, in blocks ${included}, final ${final}, refused ${refused}`);
	}

	found() {
		const { declaration, chain, streams, skipped, ledger, operations, watch, sender } = this;
		const { began, loadEnd, ended } = this;
		return {
			declaration,
			chain,
			urls: this.urls,
			streams,
			skipped,
			ledger,
			operations,
			watch,
			sender,
			began,
			loadEnd,
			ended,
		};
	}
}

const say = (run, text) => run.say(text);
