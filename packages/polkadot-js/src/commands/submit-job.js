// Posts a job, with its escrow.

import { isAddress } from '@polkadot/util-crypto';
import { keyFromSuri, send } from '../chain.js';
import { UserError, explainDispatchError } from '../errors.js';
import { suriOf } from '../secret.js';
import { jobFromFlags, toChain } from '../spec.js';
import { formatAmount, formatWork, parseAmount } from '../units.js';
import { follow } from './watch-job.js';

/** Most fee of a verifier, as a multiple of the least one of the same job. */
const MOST_AUDIT_FEE = 4n;

export default {
	name: 'submit-job',
	usage: '(--suri-file FILE | --suri S) (--job FILE.json | --data FILE --location URL) [flags]',
	about: 'Posts a training job, holds its escrow, and prints the number of the job.',
	flags: {
		'suri-file': { value: 'FILE', help: 'file with the secret URI of the submitter: a mnemonic, a 0x seed' },
		suri: { value: 'S', help: 'the URI itself, which everybody on the machine can see: //Ferdie' },
		job: { value: 'FILE', help: 'job as JSON: { "spec": …, "terms": … }, as trainyard_job returns it' },
		data: { value: 'FILE', help: 'data to train on; hash, size, rows, classes and rows root are read from it' },
		location: { value: 'URL', help: 'where trainers fetch the data (http or https)' },
		format: { value: 'F', help: 'csv_label_last (default), csv_label_first, text, idx, npy, npz or safetensors' },
		labels: { value: 'FILE', help: 'the labels of data in the format idx' },
		'labels-location': { value: 'URL', help: 'where trainers fetch them' },
		features: { value: 'N', help: 'of text: the context, how many tokens a row has' },
		'validation-every': { value: 'N', help: 'one row in N validates' },
		'feature-divisor': { value: 'N', help: 'inputs are divided by this; default: the largest input' },
		normalization: { value: 'NAME', help: 'none or standard; default none' },
		hidden: { value: 'W,W', help: 'widths of the hidden layers; default 64,32' },
		steps: { value: 'N', help: 'optimizer steps; default 1500' },
		'batch-size': { value: 'N', help: 'rows of a batch; default 32' },
		'checkpoint-interval': { value: 'N', help: 'steps between checkpoints; default 50' },
		optimizer: { value: 'NAME', help: 'adamw or sgd; default adamw' },
		momentum: { value: 'X', help: 'momentum of sgd; default 0' },
		'learning-rate': { value: 'X', help: 'learning rate; default 0.002' },
		'weight-decay': { value: 'X', help: 'decoupled weight decay; default 0' },
		'price-per-ut': { value: 'TRY', help: 'pay for one ut of work; default 1000' },
		replicas: { value: 'N', help: 'trainers that train the same job; default 1' },
		verifiers: { value: 'N', help: 'size of the audit committee, odd and at least 3; default 3' },
		'audit-segments': { value: 'N', help: 'segments that each verifier draws; default: as few as are taken' },
		'audit-fee': {
			value: 'TRY',
			help: 'fee of one verifier for one round; default: the least that the chain takes when the job is posted, which follows the market; four times that is the most',
		},
		'apply-blocks': { value: 'N', help: 'blocks for applications; default 10' },
		'training-blocks': { value: 'N', help: 'blocks for training; default 120' },
		'undecided-percent': {
			value: 'N',
			help: 'part of the pay, in percent, for a result that the audit cannot decide; default 20',
		},
		'keep-every': {
			value: 'N',
			help: 'trainers keep one state in so many and compute the others again where a seat asks; default 1, by which they keep all',
		},
		lottery: {
			value: 'N',
			help: 'pays by lottery: one of N segments (2 to 128) is replayed and pays for all of them; default: all that is accepted is paid',
		},
		'max-fee': {
			value: 'TRY',
			help: 'most protocol fee for one ut of training; default: twice what the chain quotes',
		},
		trainer: { value: 'ADDRESS', help: 'order from this trainer, through its listing' },
		'dry-run': { help: 'print the job as JSON and what it would cost; post nothing' },
		watch: { help: 'follow the job to its end' },
	},

	/** Everything that can be wrong without a chain. */
	async prepare(flags) {
		if (flags.trainer && !isAddress(flags.trainer)) {
			throw new UserError(`--trainer: "${flags.trainer}" is not an address`);
		}
		const maxFee = flags['max-fee'] === undefined ? undefined : parseAmount(flags['max-fee'], '--max-fee');
		return { key: await keyFromSuri(suriOf(flags)), wanted: await jobFromFlags(flags), maxFee };
	},

	async run({ api, flags, prepared, print }) {
		const { key, maxFee } = prepared;
		const wanted = await withAuditFee(api, prepared.wanted);
		const cost = await quote(api, key, wanted);
		if (flags['dry-run']) {
			print(
				`${JSON.stringify(wanted, null, 2)}\nwork ${formatWork(cost.work)}, pay of a replica ` +
					`${formatAmount(cost.pay)}, escrow ${formatAmount(cost.escrow)}, for its record ` +
					`${formatAmount(cost.record)}, deposit of a trainer ${formatAmount(cost.deposit)}, ` +
					`protocol fee for a ut ${formatAmount(cost.fee_per_ut)}, computing a ut counts as ${formatAmount(cost.compute_per_ut)}`,
				{ ...wanted, ...Object.fromEntries(Object.entries(cost).map(([key, value]) => [key, `${value}`])) },
			);
			return;
		}
		const { data } = await api.query.system.account(key.address);
		const free = data.free.toBigInt();
		if (free < cost.escrow + cost.record) {
			throw new UserError(
				`not enough balance: the escrow is ${formatAmount(cost.escrow)}, ${key.address} has ` +
					`${formatAmount(free)} free. Lower the price, the replicas or the steps, or top up the account`,
			);
		}
		const { id, block } = await postJob(api, key, wanted, flags.trainer, maxFee);
		print(
			`job ${id} is posted: ${formatWork(cost.work)} of work, ${formatAmount(cost.escrow)} in escrow (block ${block})`,
			{ job: id, work: `${cost.work}`, escrow: `${cost.escrow}`, block },
		);
		if (flags.watch) await follow({ api, id, print });
		else if (!flags.json) console.log(`Follow it with: watch-job ${id} --node ${flags.node}`);
	},
};

/** The least audit fee that the chain takes for a job, or null where the job is invalid. */
export async function leastAuditFee(api, job) {
	const { spec, terms } = toChain(job);
	const fee = await api.call.trainyardApi.auditFee(spec, terms);
	return fee.isNone ? null : fee.unwrap().toBigInt();
}

/**
 * The job with the least audit fee that the chain takes, where it names none, and a hundredth more where that may
 * rise until the job is in a block: it follows the market until computing counts as 1 TRY for a ut.
 */
export async function withAuditFee(api, job) {
	if (job.terms.audit_fee !== undefined) return job;
	const named = (fee) => ({ ...job, terms: { ...job.terms, audit_fee: `${fee}` } });
	// An invalid job is for the chain to refuse.
	const least = named((await leastAuditFee(api, job)) ?? 0n);
	const { spec, terms } = toChain(least);
	const cost = await api.call.trainyardApi.quote(spec, terms);
	if (cost.isNone) return least;
	const mayRise = cost.unwrap().computePerUt.toBigInt() < api.consts.taskMarket.computePrice.toBigInt();
	const fee = BigInt(least.terms.audit_fee);
	return mayRise ? named(fee + (fee + 99n) / 100n) : least;
}

/** What is wrong with the fee of a verifier, of which the chain takes `least` to four times that; or nothing. */
export function wrongFee(terms, least) {
	const [fee, most] = [BigInt(terms.audit_fee), MOST_AUDIT_FEE * least];
	if (fee < least) {
		return (
			`the audit fee of ${formatAmount(fee)} is too low: a verifier replays its ${terms.audit_segments} ` +
			`draws and what it has to besides, for which the chain takes ${formatAmount(least)} at least now. That follows ` +
			`the market: pass --audit-fee of at least that, or none`
		);
	}
	if (fee > most) {
		return (
			`the audit fee of ${formatAmount(fee)} is too high: verifiers put more at stake where it is higher, ` +
			`and few could, so the chain takes ${formatAmount(most)} at most for this job now. That follows the market: ` +
			`pass --audit-fee of no more than that, or none for the least, which is ${formatAmount(least)}`
		);
	}
}

/**
 * What a job costs: work, pay of each replica, escrow, deposit for its record, and the deposit of a
 * trainer. Fails where it is invalid.
 */
export async function quote(api, key, wanted) {
	const job = await withAuditFee(api, wanted);
	const least = await leastAuditFee(api, job);
	const wrong = least === null ? undefined : wrongFee(job.terms, least);
	if (wrong) throw new UserError(wrong);
	const { spec, terms } = toChain(job);
	const cost = await api.call.trainyardApi.quote(spec, terms);
	if (cost.isNone) {
		throw new UserError(`the chain refuses this job as invalid: ${await reason(api, key, spec, terms)}`);
	}
	const { work, pay, feePerUt: fee_per_ut, escrow, deposit, record, computePerUt: compute_per_ut } = cost.unwrap();
	return Object.fromEntries(
		Object.entries({ work, pay, fee_per_ut, escrow, deposit, record, compute_per_ut }).map(([key, value]) => [
			key,
			value.toBigInt(),
		]),
	);
}

/** Twice the protocol fee that the chain quotes for a `ut` of a job; nothing where it quotes none. */
async function mostFee(api, spec, terms) {
	const cost = await api.call.trainyardApi.quote(spec, terms);
	// An invalid job is for the chain to refuse.
	const quoted = cost.isNone ? 0n : cost.unwrap().feePerUt.toBigInt();
	return 2n * quoted;
}

/**
 * Posts a job, or orders it from `trainer`. It fails with `FeeRose` where the protocol fee for a `ut` is above
 * `maxFee` by then, or without that twice what the chain quotes. Returns its number and the hash of its
 * block.
 */
export async function postJob(api, key, job, trainer, maxFee) {
	const { spec, terms } = toChain(await withAuditFee(api, job));
	const most = maxFee ?? (await mostFee(api, spec, terms));
	const { taskMarket } = api.tx;
	const tx = trainer ? taskMarket.order(trainer, spec, terms, most) : taskMarket.submitJob(spec, terms, most);
	const { events, blockHash } = await send(api, tx, key);
	const posted = events.find((event) => api.events.taskMarket.JobPosted.is(event));
	return { id: posted.data.job.toNumber(), block: blockHash.toHex() };
}

/** Why the chain refuses a job: what posting it would fail with, from a dry run. */
async function reason(api, key, spec, terms) {
	const most = (1n << 128n) - 1n;
	const signed = await api.tx.taskMarket.submitJob(spec, terms, most).signAsync(key, { nonce: -1 });
	let result;
	try {
		result = await api.rpc.system.dryRun(signed.toHex());
	} catch {
		// A node that answers strangers does not offer dry runs.
		return 'a value of the specification or the terms is out of range';
	}
	if (result.isErr) return result.asErr.toString();
	return result.asOk.isErr
		? explainDispatchError(api.registry, result.asOk.asErr)
		: 'a value of the specification or the terms is out of range';
}
