// Makes a trainer with a running node an authority: session keys, then candidacy.

import { u8aToHex } from '@polkadot/util';
import { httpRpc, keyFromSuri, send } from '../chain.js';
import { UserError } from '../errors.js';
import { accountName } from '../summary.js';
import { trainers } from './trainers.js';

/** How often `--wait` looks. */
const LOOK_MS = 2_000;

/**
 * What is missing, in order. `trainer` is the account's entry of `trainers` or undefined, `keys`
 * its session keys on chain (hex) or null, `here` whether the node has them.
 */
export function steps({ trainer, keys, here, newKeys, leave }) {
	if (!trainer) {
		throw new UserError('the account is no trainer. Register it first: trainyard register --bond AMOUNT');
	}
	if (leave) return trainer.candidate ? ['leave'] : [];
	return [...(keys === null || !here || newKeys ? ['keys'] : []), ...(trainer.candidate ? [] : ['candidacy'])];
}

/** An RPC method that nodes answer to their own machine only. */
async function unsafe(url, method, params) {
	try {
		return await httpRpc(url, method, params);
	} catch (error) {
		if (/unsafe/i.test(error.message)) {
			throw new UserError(
				`the node at ${url} does not make keys for others. Run this on the node's machine, with --node ws://127.0.0.1:PORT`,
			);
		}
		throw error;
	}
}

/** The account's session keys on chain as hex, or null. */
async function keysOf(api, account) {
	const keys = await api.query.session.nextKeys(account);
	return keys.isSome ? keys.unwrap().toHex() : null;
}

export default {
	name: 'become-authority',
	usage: '--suri S [flags]',
	about: 'Lets a node make session keys for a trainer, signs session.setKeys with their proof and stands for block authorship. Does what is missing, and nothing twice.',
	flags: {
		suri: { value: 'S', required: true, help: "the trainer's key: //Name, a mnemonic or a 0x seed" },
		'new-keys': { help: 'make new session keys even where the node has those on chain' },
		leave: { help: 'stand no more, instead' },
		wait: { help: 'wait until the account is an authority (two sessions)' },
	},
	async run({ api, flags, print }) {
		const signer = await keyFromSuri(flags.suri);
		const { address } = signer;
		const mine = async () => (await trainers(api)).find(({ account }) => account === address);
		const keys = await keysOf(api, address);
		const here = keys !== null && (await unsafe(flags.node, 'author_hasSessionKeys', [keys]));
		const todo = steps({
			trainer: await mine(),
			keys,
			here,
			newKeys: flags['new-keys'] ?? false,
			leave: flags.leave ?? false,
		});
		const tell = (event, text, more = {}) => print(text, { event, account: address, ...more });

		if (todo.includes('keys')) {
			// The proof of ownership covers the account's public key.
			const made = await unsafe(flags.node, 'author_rotateKeysWithOwner', [u8aToHex(signer.publicKey)]);
			const { fee } = await send(api, api.tx.session.setKeys(made.keys, made.proof), signer);
			tell('keys', `session keys of ${accountName(address)}: ${made.keys}`, { keys: made.keys, fee: String(fee) });
		} else if (!flags.leave) {
			tell('has_keys', `the node has the session keys of ${accountName(address)}: ${keys}`, { keys });
		}
		if (todo.includes('candidacy') || todo.includes('leave')) {
			await send(api, api.tx.hashrate.setCandidate(!flags.leave), signer);
		}
		tell(
			flags.leave ? 'left' : 'candidate',
			flags.leave
				? `${accountName(address)} does not stand for block authorship; it serves until the announced sessions are over`
				: `${accountName(address)} stands for block authorship`,
		);
		if (!flags.wait || flags.leave) return;
		let told;
		for (;;) {
			const { weight, nextWeight, candidate } = (await mine()) ?? {};
			if (!candidate) {
				throw new UserError('the account does not stand any more: it was displaced, suspended or deregistered');
			}
			if (weight !== null) {
				tell('authority', `an authority now, of weight ${weight}`, { weight: String(weight) });
				return;
			}
			if (nextWeight !== null && told !== nextWeight) {
				told = nextWeight;
				tell('announced', `announced for the next session, with weight ${nextWeight}`, { weight: String(nextWeight) });
			}
			await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
		}
	},
};
