// Posts a deterministic task, shows one, and reads its result.

import { readFileSync, writeFileSync } from 'node:fs';
import { hexToU8a, u8aToHex } from '@polkadot/util';
import { keyFromSuri, send } from '../chain.js';
import { UserError } from '../errors.js';
import { cutBlob } from '../hash.js';
import { suriOf } from '../secret.js';
import { fixed, formatAmount, parseAmount } from '../units.js';
import { fetchBlob } from './fetch-model.js';

/** Bytes of an output that the chain keeps itself; a longer one is a blob. */
const INLINE = 4 * 1024;
/** How the chain names some bytes. */
const fileOf = (bytes) => ({ bytes: bytes.length, root: u8aToHex(cutBlob(bytes).root) });

/** Stores bytes on chain under their root, unless they are there, and returns the root. */
export async function storeBlob(api, key, bytes) {
	const cut = cutBlob(bytes);
	const root = u8aToHex(cut.root);
	const view = await api.call.trainyardApi.blob(root);
	if (view.isNone) await send(api, api.tx.modelStorage.register(bytes.length, u8aToHex(cut.content), null), key);
	const missing = view.isNone ? cut.chunks.keys() : view.unwrap().missing.map((index) => index.toNumber());
	for (const index of missing) {
		const proof = cut.proof(index).map((hash) => u8aToHex(hash));
		await send(api, api.tx.modelStorage.uploadChunk(root, index, proof, u8aToHex(cut.chunks[index])), key);
	}
	return root;
}

/** How the chain names how a module is used. */
const formOf = ({ steps, map, record }) =>
	steps === undefined ? { Map: { count: map, most: record } } : { Step: { steps } };

/** What a task is, as the chain has it; `module` and `input` as {@link postTask} takes them, or named already. */
export function taskSpec({ module, input, form, limits }) {
	const named = (file) => (file instanceof Uint8Array ? fileOf(file) : file);
	return { module: named(module), input: named(input), form: formOf(form), limits };
}

/**
 * Terms of a task, where what `offer` does not say follows from what the chain asks for. `spec` is as {@link taskSpec}
 * returns it; `offer` has `reward`, or `price` for a ut, and may have `replicas` (2), `audit` in thousandths (100) and
 * the other terms.
 */
export async function taskTerms(api, spec, offer) {
	const said = await api.call.trainyardApi.taskTerms(spec, { replicas: 2, audit: 100, ...offer });
	if (said.isErr) throw new UserError(`the chain takes no task with these terms: ${said.asErr.type}`);
	return said.asOk;
}

/**
 * Stores module and input, and posts a task. `spec` is `{ module, input, form: { steps } or { map, record },
 * limits: { fuel, pages, state } }` with bytes, `offer` as {@link taskTerms} takes it. Returns its number.
 */
export async function postTask(api, key, spec, offer) {
	const on = taskSpec(spec);
	const terms = await taskTerms(api, on, offer);
	for (const bytes of [spec.module, spec.input]) await storeBlob(api, key, bytes);
	const { events } = await send(api, api.tx.tasks.post(on, terms), key);
	return events.find((event) => api.events.tasks.Posted.is(event)).data.task.toNumber();
}

/** The task with this number as JSON, or null. */
export async function task(api, id) {
	const view = await api.call.trainyardApi.task(id);
	return view.isNone ? null : view.unwrap().toJSON();
}

/** Name and content of a phase. */
function phaseOf({ phase }) {
	if (typeof phase === 'string') return [phase.toLowerCase(), null];
	const [[name, content]] = Object.entries(phase);
	return [name.toLowerCase(), content];
}

/** The number of the claim that was accepted, or null. */
export function acceptedClaim(view) {
	const [name, end] = phaseOf(view);
	return name === 'ended' && end !== null && typeof end === 'object' && 'accepted' in end ? end.accepted : null;
}

/** The result of a task that was accepted, as bytes. */
export async function taskOutput(api, id) {
	const view = await task(api, id);
	if (view === null) throw new UserError(`there is no task ${id} on this chain (or it was forgotten)`);
	const claim = acceptedClaim(view);
	if (claim === null) throw new UserError(`task ${id} has no result: ${describe(view)}`);
	const { output } = view.claims[claim][0];
	if (!output.bytes) throw new UserError(`task ${id} ended with a fault: ${output.fault}`);
	const { bytes, root } = output.bytes;
	if (bytes > INLINE) return fetchBlob(api, root);
	const kept = hexToU8a((await api.call.trainyardApi.taskOutput(id, claim)).unwrap().toHex());
	// A node may say anything.
	if (fileOf(kept).root !== root) throw new UserError('the output does not have its root. Ask another node (--node)');
	return kept;
}

/** A task in a line. */
export function describe(view) {
	const [name, content] = phaseOf(view);
	const end = content !== null && typeof content === 'object' ? Object.keys(content)[0] : content;
	const stands = name === 'ended' ? `ended (${String(end).toLowerCase()})` : name;
	const computes = view.replicas.length > 0 ? `, ${view.replicas.length} replicas` : '';
	const claims = view.claims.map(([, convicted], at) => `, claim ${at}${convicted ? ' convicted' : ''}`).join('');
	const disputes = view.disputes.length > 0 ? `, ${view.disputes.length} disputes` : '';
	return `task ${view.id}: ${stands}${computes}${claims}${disputes}`;
}

/** Follows a task to its end, a block at a time, and returns it. */
export async function followTask(api, id, changed = () => {}) {
	let last = null;
	for (;;) {
		const view = await task(api, id);
		if (view === null) throw new UserError(`there is no task ${id} on this chain (or it was forgotten)`);
		const text = describe(view);
		if (text !== last) changed(text, view);
		last = text;
		if (phaseOf(view)[0] === 'ended') return view;
		await new Promise((resolve) => setTimeout(resolve, 1_000));
	}
}

/** A whole number of at least one. */
function count(text, flag) {
	if (!/^[1-9]\d*$/.test(text)) throw new UserError(`${flag}: "${text}" is not a whole number above 0`);
	return Number(text);
}

export default {
	name: 'task',
	usage:
		'NUMBER [--watch] [--out FILE] | --module FILE --input FILE (--steps N | --map N) --reward TRY (--suri-file FILE | --suri S) [flags]',
	about: 'Posts a deterministic task and prints its number; or shows one, follows it, and reads its result.',
	positionals: [0, 1],
	flags: {
		module: { value: 'FILE', help: 'the WebAssembly module, at most 64 KiB' },
		input: { value: 'FILE', help: 'the input: the first state, or what every index gets' },
		steps: { value: 'N', help: 'how many steps' },
		map: { value: 'N', help: 'how many indices' },
		record: { value: 'BYTES', help: 'most bytes of the result of an index', default: '64' },
		fuel: { value: 'UNITS', help: 'most fuel of a step or an index', default: '32000000' },
		pages: { value: 'PAGES', help: 'most memory of a step, in pages of 64 KiB', default: '128' },
		state: { value: 'BYTES', help: 'most bytes of a state, or of the input', default: '65536' },
		reward: { value: 'TRY', help: 'what each replica earns' },
		replicas: { value: 'N', help: 'how many compute it', default: '2' },
		audit: { value: 'P', help: 'chance of an audit, from 0.001 to 1', default: '0.1' },
		deposit: { value: 'TRY', help: 'what each replica puts at stake; default: the least that the chain takes' },
		watch: { help: 'follow it to its end' },
		out: { value: 'FILE', help: 'file for its result; with --watch when it is there' },
		'suri-file': { value: 'FILE', help: 'file with the secret URI of the submitter' },
		suri: { value: 'S', help: 'the URI itself, which everybody on the machine can see: //Ferdie' },
	},

	/** Everything that can be wrong without a chain. */
	async prepare(flags, positionals) {
		if (flags.module === undefined) {
			const [text] = positionals;
			if (!/^\d+$/.test(text ?? '')) throw new UserError('name the number of a task, or --module FILE');
			return { id: Number(text) };
		}
		for (const flag of ['input', 'reward']) {
			if (flags[flag] === undefined) throw new UserError(`--${flag} is needed to post a task`);
		}
		if ((flags.steps === undefined) === (flags.map === undefined)) throw new UserError('give --steps N or --map N');
		const form =
			flags.steps === undefined
				? { map: count(flags.map, '--map'), record: count(flags.record, '--record') }
				: { steps: count(flags.steps, '--steps') };
		const limits = Object.fromEntries(
			['fuel', 'pages', 'state'].map((name) => [name, count(flags[name], `--${name}`)]),
		);
		const [module, input] = [flags.module, flags.input].map((file) => new Uint8Array(readFileSync(file)));
		const audit = Number(fixed(flags.audit, 3, '--audit'));
		if (audit < 1 || audit > 1_000) throw new UserError('--audit: a chance is from 0.001 to 1');
		const offer = {
			reward: parseAmount(flags.reward, '--reward'),
			replicas: count(flags.replicas, '--replicas'),
			audit,
			...(flags.deposit === undefined ? {} : { deposit: parseAmount(flags.deposit, '--deposit') }),
		};
		return { spec: { module, input, form, limits }, offer, key: await keyFromSuri(suriOf(flags)) };
	},

	async run({ api, flags, prepared, print }) {
		const id = prepared.id ?? (await postTask(api, prepared.key, prepared.spec, prepared.offer));
		const view = flags.watch ? await followTask(api, id, print) : await task(api, id);
		if (view === null) throw new UserError(`there is no task ${id} on this chain (or it was forgotten)`);
		if (flags.out !== undefined && (flags.watch || prepared.id !== undefined)) {
			writeFileSync(flags.out, await taskOutput(api, id));
		}
		print(`${describe(view)}\n  ${formatAmount(BigInt(view.terms.reward))} to each replica`, view);
	},
};
