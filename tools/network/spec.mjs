// The genesis of a local network: the preset `local` with other authorities, power and timing.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The built-in network whose genesis is changed. */
const PRESET = 'local';
/** What an account has that the preset does not know: a million TRY, in the smallest unit. */
const ENDOWMENT = 1e18;
/** Bond of each trainer: a thousand TRY. */
const BOND = 1e15;
/**
 * How seeds form: of fewer blocks and more often than on a public network, so that drillers do not
 * wait for minutes. Nothing on one machine is robbed by whoever knows a seed.
 */
const SEEDS = { seedBlocks: 4, seedStep: 4 };

/**
 * Changes the preset's specification to what was asked for.
 *
 * `authorities` as of `accounts.mjs`, each with its `power`, the weight that it has as a founder;
 * `slot` in ms, `c` as [numerator, denominator], `epoch` in slots, `halfLife` in ms. With `earned`
 * there are no founders: weights are what work earns, from the first work on.
 */
export function patched(spec, { authorities, slot, c, epoch, halfLife, earned = false }) {
	const patch = structuredClone(spec.genesis.runtimeGenesis.patch);
	const known = new Set(patch.balances.balances.map(([address]) => address));
	for (const { address } of authorities) {
		if (!known.has(address)) patch.balances.balances.push([address, ENDOWMENT]);
	}
	patch.hashrate = {
		...patch.hashrate,
		trainers: authorities.map(({ address }) => [address, BOND, true]),
		founders: earned ? [] : authorities.map(({ address, power }) => [address, power]),
		slotDuration: slot,
		epochLength: epoch,
		...SEEDS,
		...(halfLife === undefined ? {} : { halfLife }),
	};
	patch.session.keys = authorities.map(({ address, session }) => [address, address, session]);
	patch.babe.epochConfig = { c, allowed_slots: 'PrimarySlots' };
	return {
		...spec,
		name: 'Trainyard Network on One Machine',
		id: 'trainyard_network',
		genesis: { runtimeGenesis: { ...spec.genesis.runtimeGenesis, patch } },
	};
}

/** Writes the raw specification into `folder`; resolves to its path. */
export async function writeSpec(fleet, node, folder, wanted) {
	const preset = await fleet.must('export-preset', node, ['export-chain-spec', '--chain', PRESET]);
	const plain = join(folder, 'network-plain.json');
	writeFileSync(plain, JSON.stringify(patched(JSON.parse(preset.stdout), wanted), null, '\t'));
	const raw = join(folder, 'network.json');
	await fleet.must('export-chain-spec', node, ['export-chain-spec', '--chain', plain, '--raw', '--output', raw]);
	return raw;
}
