// The key pair of a secret URI, in the form that transactions are signed with here.

import { DEV_PHRASE } from '../../packages/polkadot-js/node_modules/@polkadot/keyring/index.js';
import { hexToU8a, isHex } from '../../packages/polkadot-js/node_modules/@polkadot/util/index.js';
import {
	keyExtractSuri,
	keyFromPath,
	mnemonicToMiniSecret,
	sr25519PairFromSeed,
} from '../../packages/polkadot-js/node_modules/@polkadot/util-crypto/index.js';
import { UserError } from '../../packages/polkadot-js/src/errors.js';

/** sr25519 keys of `//Name`, a mnemonic or a 0x seed, with a path or without. */
export function pairOfSuri(suri) {
	try {
		const { phrase, path, password } = keyExtractSuri(suri.startsWith('//') ? `${DEV_PHRASE}${suri}` : suri);
		const seed = isHex(phrase, 256) ? hexToU8a(phrase) : mnemonicToMiniSecret(phrase, password);
		return keyFromPath(sr25519PairFromSeed(seed), path, 'sr25519');
	} catch (error) {
		throw new UserError(`the funder is not a secret URI (//Name, a mnemonic or a 0x seed): ${error.message}`);
	}
}
