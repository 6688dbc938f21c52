// The summary of jobs that are over, from the chain's own figures.

import { formatAmount, formatWork } from './units.js';
import { sheet } from './table.js';
import { ending, money, replayed, replayedShare, replayedText, segments, trainedText, verdictsText } from './views.js';

const percent = (share, digits = 1) => `${(share * 100).toFixed(digits)} %`;

/** Names of the development accounts, for tables that people read. */
export const DEVELOPMENT_NAMES = {
	'5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY': '//Alice',
	'5FHneW46xGXgs5mUiveU4sbTyGBzmstUspZC92UhjJM694ty': '//Bob',
	'5FLSigC9HGRKVhB9FiEo4Y3koPsNmBmLJbpXg2mp1hXcS59Y': '//Charlie',
	'5DAAnrj7VHTznn2AWBemMuyBwZWs6FNFjdyVXUeYum3PTXFy': '//Dave',
	'5HGjWAeFDfFCWPsjFQdVV2Msvz2XtMktvgocEZcCj68kUMaw': '//Eve',
	'5CiPPseXPECbkjWCa6MnjNokrgYjMqmKndv2rSnekmSK2DjL': '//Ferdie',
};

/** An address, or the name of the development account behind it. */
export const accountName = (address) => DEVELOPMENT_NAMES[address] ?? address;

/**
 * One column per job. `extra[id]` may carry what the chain does not know: `accuracy` (0 to
 * 1), `trainingSeconds` and `replaySeconds` (one verifier's mean).
 */
export function summary(jobs, extra = {}) {
	const rows = [
		['ended', (job) => ending(job) ?? 'not yet'],
		['submitter', (job) => accountName(job.submitter)],
		['trainer', (job) => job.replicas.map(({ trainer }) => accountName(trainer)).join(', ') || '-'],
		['fate of the work', (job) => job.replicas.map(({ fate }) => fate).join(', ') || '-'],
		['segments trained', trainedText],
		['work', (job) => formatWork(job.work)],
		['price per ut', (job) => formatAmount(job.terms.price_per_ut)],
		['segments replayed', (job) => `${replayed(job).length} of ${segments(job.spec)} (${replayedText(job) || '-'})`],
		['verdicts', verdictsText],
		['escrowed', (job) => formatAmount(money(job).escrowed)],
		['paid to trainers', (job) => formatAmount(money(job).paid_to_trainers)],
		['paid to verifiers', (job) => formatAmount(money(job).paid_to_verifiers)],
		['prizes that nobody earned', (job) => formatAmount(money(job).prizes_to_jackpot)],
		['burned', (job) => formatAmount(money(job).burned)],
		['refunded', (job) => formatAmount(money(job).refunded)],
		['slashed', (job) => formatAmount(money(job).slashed)],
		['  to the submitter', (job) => formatAmount(money(job).slashed_to_submitter)],
		['  to the jackpot', (job) => formatAmount(money(job).slashed_to_jackpot)],
		['  to those who convicted', (job) => formatAmount(money(job).slashed_to_finders)],
		['  burned', (job) => formatAmount(money(job).slashed_burned)],
		['accuracy', (job) => (extra[job.id]?.accuracy === undefined ? '-' : percent(extra[job.id].accuracy, 2))],
		['verification cost', (job) => verificationText(job, extra[job.id])],
	];
	return sheet(
		jobs.map(({ id }) => `job ${id}`),
		rows.map(([title, cell]) => [title, ...jobs.map(cell)]),
	);
}

/** What a verifier computed in the mean as a share of the training: by steps, and by time if known. */
function verificationText(job, { trainingSeconds, replaySeconds } = {}) {
	if (replayed(job).length === 0) return '-';
	const share = `${percent(replayedShare(job))} of the steps each`;
	if (!trainingSeconds || !replaySeconds) return share;
	return `${share}, ${percent(replaySeconds / trainingSeconds)} of the time`;
}
