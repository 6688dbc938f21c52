import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFlags } from '../src/cli.js';
import { standing } from '../src/commands/watch-job.js';
import { summary } from '../src/summary.js';
import { fixed, formatAmount, formatWork, parseAmount } from '../src/units.js';
import * as views from '../src/views.js';

const evidence = (segment) => ({ segment, trace_root: '0x11', ended: { diverged: { step: 7 } }, idle_since: null });

/** Findings of a seat that replayed these segments of the only result. */
const found = (...segments) => ({
	draw: { pre_output: '0x22', proof: '0x33' },
	verdicts: [{ replayed: { evidence: segments.map(evidence), moved: null, parts: [] } }],
});

/** A job as `trainyard_job` gives it, settled: escrow 100, paid 60 + 9 + 1, back 30. */
const settled = () => ({
	id: 4,
	submitter: '5CiPPseXPECbkjWCa6MnjNokrgYjMqmKndv2rSnekmSK2DjL',
	spec: { training: { steps: 130, checkpoint_interval: 50 } },
	terms: { price_per_ut: '1000000000000' },
	work: 6_123,
	deadline: 90,
	state: { ended: 'settled' },
	applicants: [],
	replicas: [
		{
			trainer: '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
			commitment: '0x07',
			reveal: { segments: 3 },
			fate: 'accepted',
		},
	],
	audit: {
		round: 0,
		phase: 'done',
		groups: [
			{
				result: { segments: 3 },
				convicted: [],
				decision: 'accepted',
				asked: [],
				stored: [],
				rescued: [],
				relayed: false,
			},
		],
		committee: [
			{ verifier: 'a', commitment: '0x07', findings: found(0, 2) },
			{ verifier: 'b', commitment: '0x07', findings: found(0, 2) },
			{ verifier: 'c', commitment: null, findings: null },
		],
	},
	settlement: {
		escrowed: '100',
		paid_to_trainers: '60',
		paid_to_verifiers: '9',
		prizes_to_jackpot: '0',
		burned: '1',
		refunded: '30',
		slashed: '0',
		slashed_to_submitter: '0',
		slashed_to_jackpot: '0',
		slashed_burned: '0',
		slashed_to_finders: '0',
		won: '0',
	},
});

test('amounts are exact in both directions', () => {
	assert.equal(parseAmount('0.000000000001', 'x'), 1n);
	assert.equal(parseAmount('12', 'x'), 12_000_000_000_000n);
	assert.equal(formatAmount(1_500_000_000_000n), '1.5 TRY');
	assert.equal(formatAmount('1'), '0.000000000001 TRY');
	assert.equal(formatAmount(-2_000_000_000_000n), '-2 TRY');
	assert.equal(formatWork(6_123), '0.006123 ut');
	assert.throws(() => parseAmount('1e3', '--price-per-ut'), /--price-per-ut: "1e3" is not a number/);
	assert.throws(() => fixed('0.0000000001', 9, 'rate'), /more than 9 decimal places/);
	assert.equal(fixed('0.0020', 9, 'rate'), 2_000_000n);
});

test('money that adds up passes, and each way of not adding up is named', () => {
	assert.deepEqual(views.conservation(settled()), []);
	const lost = settled();
	lost.settlement.refunded = '29';
	assert.match(views.conservation(lost).join(), /the escrow was 100, but 99 left it/);
	const slashed = settled();
	slashed.settlement.slashed = '5';
	assert.match(views.conservation(slashed).join(), /5 was slashed, but 0 was distributed/);
});

test('verdicts, segments and shares are read from the audit', () => {
	const job = settled();
	assert.equal(views.verdictsText(job), '2 replayed, 1 silent');
	assert.equal(views.segments(job.spec), 3);
	// Segment 0 has 50 of the 130 steps, segment 2 only the last 30.
	assert.equal(views.replayedShare(job), 80 / 130);
	const rejected = (target) => ({ verdicts: [{ rejected: { account: 'x', target, claimed: 'other', leaves: [] } }] });
	job.audit.committee[0].findings = rejected({ segment: 2 });
	job.audit.committee[1].findings = rejected('model');
	assert.equal(views.verdictsText(job), '1 rejected (segment), 1 rejected (model), 1 silent');
	job.audit.committee[0].findings = { verdicts: ['unavailable'] };
	assert.match(views.verdictsText(job), /1 unavailable/);
	assert.equal(views.ending(job), 'settled');
	assert.equal(views.ending({ state: 'training' }), null);
});

test('a job that stopped early is shown as such', () => {
	const job = settled();
	const [replica] = job.replicas;
	job.replicas = [
		{ ...replica, reveal: { segments: 2 } },
		{ ...replica, reveal: null },
	];
	assert.equal(views.trainedText(job), '2 of 3 (stopped early), -');
	const diverged = structuredClone(job);
	diverged.replicas[0].reveal.diverged = true;
	assert.equal(views.trainedText(diverged), '2 of 3 (diverged), -');
	// Three results, of which nobody replayed the last, and each seat has draws of its own.
	const group = (segments) => ({
		result: { segments },
		convicted: [],
		decision: null,
		asked: [],
		stored: [],
		rescued: [],
		relayed: false,
	});
	job.audit.groups = [group(2), group(3), group(3)];
	const both = (one, other) => ({ verdicts: [...found(...one).verdicts, ...found(...other).verdicts, 'unavailable'] });
	job.audit.committee[0].findings = both([0, 1], [2]);
	job.audit.committee[1].findings = both([1], [0, 2]);
	assert.deepEqual(views.replayedByResult(job), [
		[0, 1],
		[0, 2],
	]);
	assert.equal(views.replayedText(job), '0, 1; 0, 2');
	// Of the 100 steps of the one all and 50, of the 130 of the other 30 and 80.
	assert.equal(views.replayedShare(job), (1 + 30 / 130 + 50 / 100 + 80 / 130) / 4);
	assert.match(standing(job), /^ended: settled, trained 2 of 3 \(stopped early\), - segments$/);
	assert.match(summary([job]), /segments trained\s+2 of 3 \(stopped early\), -/);
	job.audit = null;
	assert.equal(views.replayedShare(job), 0);
	assert.deepEqual(views.replayed(job), []);
});

test('a job under way is shown in a line', () => {
	const job = settled();
	job.state = 'auditing';
	job.audit.phase = { committing: { until: 77 } };
	assert.equal(
		standing(job),
		'auditing, trained 3 of 3 segments, round 1 committing, segments 0, 2 replayed, 2 of 3 verdicts committed, 2 revealed, until block 77 at the latest',
	);
	job.state = 'open';
	job.audit = null;
	job.replicas = [];
	assert.equal(standing(job), 'open, 0 applicant(s), until block 90 at the latest');
});

test('the summary has a column for each job', () => {
	const other = { ...settled(), id: 5, audit: null, replicas: [], state: { ended: 'no_applicants' } };
	const text = summary([settled(), other], { 4: { accuracy: 0.9721, trainingSeconds: 2, replaySeconds: 0.5 } });
	assert.match(text, /job 4\s+job 5/);
	assert.match(text, /submitter\s+\/\/Ferdie/);
	assert.match(text, /trainer\s+\/\/Alice\s+-/);
	assert.match(text, /accuracy\s+97\.21 %\s+-/);
	assert.match(text, /verification cost\s+61\.5 % of the steps each, 25\.0 % of the time/);
	assert.match(text, /ended\s+settled\s+no_applicants/);
});

test('wrong calls are named', () => {
	const command = {
		name: 'do',
		usage: 'X',
		about: 'Does.',
		positionals: [1, 1],
		flags: { suri: { value: 'S', required: true, help: 'key' } },
	};
	assert.throws(() => readFlags(command, ['x']), /--suri S is needed/);
	assert.throws(() => readFlags(command, ['--suri', 'a']), /usage: do X/);
	assert.throws(() => readFlags(command, ['x', '--surl', 'a']), /--surl/);
	assert.match(readFlags(command, ['--help']).help, /--suri S +key/);
	assert.equal(readFlags(command, ['x', '--suri', 'a']).flags.node, 'ws://127.0.0.1:9944');
});
