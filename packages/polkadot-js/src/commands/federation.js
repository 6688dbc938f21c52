// Shows a federation, and opens one.

import { keyFromSuri, send } from '../chain.js';
import { UserError } from '../errors.js';
import { suriOf } from '../secret.js';
import { toChain } from '../spec.js';
import { formatAmount, parseAmount } from '../units.js';
import { readFileSync } from 'node:fs';

/** Blocks of a round, where nobody says otherwise: for applying, training, revealing and an audit. */
const ROUND_BLOCKS = 2_500;

/** The federation with this number as JSON, or null. */
export async function federation(api, id) {
	const view = await api.call.trainyardApi.federation(id);
	return view.isNone ? null : plain(view.unwrap());
}

/** What a type of the chain holds, with texts as texts and amounts as strings. */
function plain(view) {
	const json = view.toJSON();
	const { file } = json.initial;
	file.location = Buffer.from(file.location.slice(2), 'hex').toString('utf8');
	json.fees = view.fees.toString();
	return json;
}

/** One line for each part and round of a federation. */
export function describe(view) {
	const lines = [`federation ${view.id} of ${view.submitter}: ${stageText(view)}`];
	for (const [at, { root, parts }] of view.rounds.entries()) {
		lines.push(`  round ${at}: model ${root}, of ${parts.length} parts`);
	}
	if (view.rounds.length < view.plan.rounds) {
		for (const [at, part] of view.parts.entries()) lines.push(`  part ${at}: ${partText(part)}`);
		for (const { number, proposer, root, until } of view.proposals) {
			lines.push(`  proposal ${number}: ${root} by ${proposer}, to be refuted until block ${until}`);
		}
	}
	if (view.tainted !== null) lines.push(`  a result that counted in round ${view.tainted} was false`);
	return lines.join('\n');
}

function stageText({ stage, round, plan }) {
	const [name, ending] = typeof stage === 'string' ? [stage] : Object.entries(stage)[0];
	if (name.toLowerCase() === 'ended') return `ended (${ending})`;
	return `${name.toLowerCase()}, round ${Math.min(round + 1, plan.rounds)} of ${plan.rounds}`;
}

function partText({ job, answer, givenUp, attempts }) {
	if (answer) return `answered with ${answer}, job ${job}`;
	if (givenUp) return 'given up';
	return job === null ? `not posted (${attempts} attempts)` : `job ${job} runs`;
}

/**
 * Opens a federation. `spec` is that of a job, with an initial model; `parts` are `{ file, labels, train_rows,
 * validation_rows, rows }`, and `plan` is `{ rounds, min_parts, rule, round_blocks, stop_if_tainted, aggregate_fee,
 * max_fee_per_ut }`. Returns its number.
 */
export async function openFederation(api, key, { spec, terms, parts, plan }) {
	const job = toChain({ spec, terms });
	const file = ({ content_hash, bytes, location }) => ({ contentHash: content_hash, bytes, location });
	const data = parts.map((part) => ({
		file: file(part.file),
		labels: part.labels ? file(part.labels) : null,
		trainRows: part.train_rows,
		validationRows: part.validation_rows,
		rows: part.rows,
	}));
	const how = {
		rounds: plan.rounds,
		minParts: plan.min_parts ?? parts.length,
		rule: plan.rule === 'settled' ? 'Settled' : 'Agreed',
		roundBlocks: plan.round_blocks ?? ROUND_BLOCKS,
		stopIfTainted: plan.stop_if_tainted ?? false,
		aggregateFee: BigInt(plan.aggregate_fee),
		maxFeePerUt: BigInt(plan.max_fee_per_ut ?? 0),
	};
	const tx = api.tx.federation.open(job.spec, data, job.terms, how);
	const { events } = await send(api, tx, key);
	return events.find((event) => api.events.federation.Opened.is(event)).data.federation.toNumber();
}

/** A whole number of at least one. */
function count(text, flag) {
	if (!/^[1-9]\d*$/.test(text)) throw new UserError(`${flag}: "${text}" is not a whole number above 0`);
	return Number(text);
}

export default {
	name: 'federation',
	usage: 'NUMBER | --open FILE.json --rounds N (--suri-file FILE | --suri S) [flags]',
	about: 'Shows a federation of rounds, or opens one and prints its number.',
	positionals: [0, 1],
	flags: {
		open: {
			value: 'FILE',
			help: 'what to open, as JSON: { "spec": …, "terms": …, "parts": […] }; the spec names an initial model',
		},
		rounds: { value: 'N', help: 'rounds' },
		redundancy: { value: 'R', help: 'trainers of each part; default: terms.replicas' },
		rule: { value: 'NAME', help: 'agreed (as soon as trainers agree) or settled (after the audit); default agreed' },
		'min-parts': { value: 'N', help: 'parts of which a round needs a result; default: all' },
		'round-blocks': { value: 'N', help: `blocks of a round; default ${ROUND_BLOCKS}` },
		'aggregate-fee': { value: 'TRY', help: 'what the aggregate of a round is paid', default: '0.5' },
		'suri-file': { value: 'FILE', help: 'file with the secret URI of the submitter' },
		suri: { value: 'S', help: 'the URI itself, which everybody on the machine can see: //Ferdie' },
	},

	/** Everything that can be wrong without a chain. */
	async prepare(flags, positionals) {
		if (flags.open === undefined) {
			const [text] = positionals;
			if (!/^\d+$/.test(text ?? '')) throw new UserError('name the number of a federation, or --open FILE');
			return { id: Number(text) };
		}
		if (flags.rounds === undefined) throw new UserError('--rounds N is needed to open a federation');
		const wanted = JSON.parse(readFileSync(flags.open, 'utf8'));
		if (flags.redundancy) wanted.terms.replicas = count(flags.redundancy, '--redundancy');
		if (!wanted.spec?.initial_model) {
			throw new UserError(`${flags.open}: spec.initial_model is missing: all parts must begin with one model`);
		}
		wanted.plan = {
			rounds: count(flags.rounds, '--rounds'),
			rule: flags.rule ?? 'agreed',
			min_parts: flags['min-parts'] && count(flags['min-parts'], '--min-parts'),
			round_blocks: flags['round-blocks'] && count(flags['round-blocks'], '--round-blocks'),
			aggregate_fee: parseAmount(flags['aggregate-fee'], '--aggregate-fee'),
		};
		return { wanted, key: await keyFromSuri(suriOf(flags)) };
	},

	async run({ api, prepared, print }) {
		const id = prepared.id ?? (await openFederation(api, prepared.key, prepared.wanted));
		const view = await federation(api, id);
		if (view === null) throw new UserError(`there is no federation ${id} on this chain (or it was forgotten)`);
		const fees = `  ${formatAmount(BigInt(view.fees))} held for aggregates`;
		print(`${describe(view)}\n${fees}`, view);
	},
};
