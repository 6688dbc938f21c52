// Follows a job to its end.

import { job as jobView } from '../chain.js';
import { jobNumber } from '../cli.js';
import { UserError } from '../errors.js';
import { accountName, summary } from '../summary.js';
import { ending, replayedText, segmentsTrained, stateText, trainedText, variantName, variantValue } from '../views.js';

/** One line on where a job stands, without what changes with every block. */
export function standing(job) {
	const parts = [stateText(job)];
	const state = variantName(job.state);
	if (state === 'open') parts.push(`${job.applicants.length} applicant(s)`);
	if (state === 'training' || state === 'revealing') {
		const committed = job.replicas.filter((replica) => replica.commitment).length;
		const revealed = job.replicas.filter((replica) => replica.reveal).length;
		parts.push(`trainer ${job.replicas.map(({ trainer }) => accountName(trainer)).join(', ')}`);
		parts.push(`${committed} of ${job.replicas.length} committed, ${revealed} revealed`);
	}
	if (job.replicas.some((replica) => segmentsTrained(replica) !== null)) {
		parts.push(`trained ${trainedText(job)} segments`);
	}
	if (state === 'auditing' && job.audit) {
		const { committee, phase, round } = job.audit;
		const revealed = committee.filter(({ findings }) => findings).length;
		const committed = committee.filter((member) => member.commitment).length;
		parts.push(`round ${round + 1} ${variantName(phase)}`);
		if (committee.length > 0) {
			if (revealed > 0) parts.push(`segments ${replayedText(job) || '-'} replayed`);
			parts.push(`${committed} of ${committee.length} verdicts committed, ${revealed} revealed`);
		}
	}
	if (ending(job) === null) parts.push(`until block ${deadline(job)} at the latest`);
	return parts.join(', ');
}

/** The last block of the present state, or of the audit's phase where there is one. */
const deadline = (job) => (job.audit && variantValue(job.audit.phase)?.until) || job.deadline;

/**
 * Prints each change of job `id` until it has ended, then its summary. Resolves to the job.
 * With `timeoutSeconds`, gives up after that time.
 */
export async function follow({ api, id, print, timeoutSeconds = Infinity }) {
	const started = Date.now();
	let last = '';
	for (;;) {
		const job = await jobView(api, id);
		if (job === null) throw new UserError(`there is no job ${id} on this chain (or it was forgotten)`);
		const now = standing(job);
		if (now !== last) {
			last = now;
			const seconds = ((Date.now() - started) / 1_000).toFixed(0);
			print(`${seconds.padStart(4)} s  job ${id}: ${now}`, { job: id, standing: now });
		}
		if (ending(job) !== null) {
			print(`\n${summary([job])}`, job);
			return job;
		}
		if (Date.now() - started > timeoutSeconds * 1_000) {
			throw new UserError(`job ${id} has not ended within ${timeoutSeconds} s; it is ${now}`);
		}
		await new Promise((resolve) => setTimeout(resolve, 1_000));
	}
}

export default {
	name: 'watch-job',
	usage: 'JOB [flags]',
	about: 'Prints every change of a job until it ends, then where its money went.',
	positionals: [1, 1],
	flags: {
		timeout: { value: 'SECONDS', help: 'give up after this time; default: never' },
	},
	prepare: (flags, [id]) => ({
		id: jobNumber(id),
		timeoutSeconds: flags.timeout === undefined ? undefined : jobNumber(flags.timeout),
	}),
	async run({ api, prepared, print }) {
		await follow({ api, ...prepared, print });
	},
};
