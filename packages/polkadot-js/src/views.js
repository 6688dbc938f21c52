// Reading a job's JSON (`trainyard_job`): states, verdicts, money, in words and numbers.

/** A unit variant is a string, another an object with one key. */
export const variantName = (value) => (typeof value === 'string' ? value : Object.keys(value)[0]);

/** The fields of a variant that has some. */
export const variantValue = (value) => (typeof value === 'string' ? undefined : Object.values(value)[0]);

/** How the job ended (`settled`, `failed`, …), or null while it runs. */
export const ending = (job) => (variantName(job.state) === 'ended' ? variantValue(job.state) : null);

/** The state in words: `training`, `ended: settled`. */
export const stateText = (job) => (ending(job) ? `ended: ${ending(job)}` : variantName(job.state));

/** The settlement's amounts as BigInt, by name. */
export const money = (job) =>
	Object.fromEntries(Object.entries(job.settlement).map(([name, amount]) => [name, BigInt(amount)]));

/** Where the money must add up. Returns the sentences of what does not; empty when all does. */
export function conservation(job) {
	const m = money(job);
	const wrong = [];
	const out = m.paid_to_trainers + m.paid_to_verifiers + m.prizes_to_jackpot + m.burned + m.refunded;
	if (m.escrowed !== out) wrong.push(`the escrow was ${m.escrowed}, but ${out} left it`);
	const split = m.slashed_to_submitter + m.slashed_to_jackpot + m.slashed_burned + m.slashed_to_finders;
	if (m.slashed !== split) wrong.push(`${m.slashed} was slashed, but ${split} was distributed`);
	return wrong;
}

/** Step at which checkpoint `index` stands. */
export const checkpointStep = (spec, index) => Math.min(spec.training.checkpoint_interval * index, spec.training.steps);

/** Number of segments of a job. */
export const segments = (spec) => Math.ceil(spec.training.steps / spec.training.checkpoint_interval);

/** What seats of the last round showed that they replayed: verifier, number of the result, segments. */
export function replays(job) {
	return (job.audit?.committee ?? []).flatMap(({ verifier, findings }) =>
		(findings?.verdicts ?? []).flatMap((verdict, group) => {
			if (variantName(verdict) !== 'replayed') return [];
			return [{ verifier, group, segments: variantValue(verdict).evidence.map(({ segment }) => segment) }];
		}),
	);
}

/** Segments that some seat replayed, ascending: a list for each distinct result that any did. */
export function replayedByResult(job) {
	const of = (group) => replays(job).flatMap((replay) => (replay.group === group ? replay.segments : []));
	const lists = (job.audit?.groups ?? []).map((_, group) => [...new Set(of(group))].sort((a, b) => a - b));
	return lists.filter((list) => list.length > 0);
}

/** Segments that some seat replayed, of all results together. */
export const replayed = (job) => replayedByResult(job).flat();

/** Those of each result as text: `0, 2`, or `0, 2; 1, 5` where there are two results. */
export const replayedText = (job) =>
	replayedByResult(job)
		.map((segments) => segments.join(', '))
		.join('; ');

/** Segments that a replica trained, as it revealed; null before. */
export const segmentsTrained = (replica) => replica.reveal?.segments ?? null;

/** How far each replica was trained: `12 of 30 (stopped early)`, `12 of 30 (diverged)`, `30 of 30`, `-`. */
export const trainedText = (job) => {
	const all = segments(job.spec);
	const text = (replica) => {
		const done = segmentsTrained(replica);
		if (done === null) return '-';
		if (replica.reveal.diverged) return `${done} of ${all} (diverged)`;
		return `${done} of ${all}${done < all ? ' (stopped early)' : ''}`;
	};
	return job.replicas.map(text).join(', ') || '-';
};

/** Share of the steps of a result that a seat replayed in the mean, 0 to 1. */
export function replayedShare(job) {
	const { spec } = job;
	const shares = replays(job).map(({ group, segments }) => {
		const { result } = job.audit.groups[group];
		const steps = segments.reduce(
			(sum, segment) => sum + checkpointStep(spec, segment + 1) - checkpointStep(spec, segment),
			0,
		);
		return steps / checkpointStep(spec, result.segments + (result.diverged ? 1 : 0));
	});
	return shares.length === 0 ? 0 : shares.reduce((sum, share) => sum + share) / shares.length;
}

/** Every verdict of the last round: verifier, group, verdict in words, and what it says is false. */
export function verdicts(job) {
	return (job.audit?.committee ?? []).flatMap(({ verifier, findings }) =>
		(findings?.verdicts ?? []).map((verdict, group) => {
			const name = variantName(verdict);
			const reason = name === 'rejected' ? variantName(variantValue(verdict).target) : null;
			return { verifier, group, verdict: name, reason };
		}),
	);
}

/** Verdicts counted: `3 replayed`, `2 rejected (segment), 1 silent`. */
export function verdictsText(job) {
	const counts = new Map();
	const count = (text) => counts.set(text, (counts.get(text) ?? 0) + 1);
	for (const { verdict, reason } of verdicts(job)) count(reason ? `${verdict} (${reason})` : verdict);
	for (const { findings } of job.audit?.committee ?? []) if (!findings) count('silent');
	return [...counts].map(([text, n]) => `${n} ${text}`).join(', ') || '-';
}
