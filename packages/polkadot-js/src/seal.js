// Sealed files: who has a file's bytes and a public key makes them, and who has the secret key opens
// them. The bytes are those of `ml-worker/seal`, which docs/storage.md describes. The primitives are
// OpenSSL's, as Node.js has them, and BLAKE3 of @noble/hashes.

import {
	createCipheriv,
	createDecipheriv,
	createPrivateKey,
	createPublicKey,
	diffieHellman,
	randomBytes,
} from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3';
import { UserError } from './errors.js';

const MAGIC = Buffer.from('trainyard/seal/1', 'latin1');
const HEADER = MAGIC.length + 32;
const PIECE = 65_536;
const TAG = 16;

/** What the text of a public key and of a secret key begin with. */
const [PUBLIC, SECRET] = ['seal-', 'seal-secret-'];

const derived = (what, ...parts) => Buffer.from(blake3(Buffer.concat(parts), { context: `trainyard seal/1: ${what}` }));
const checksum = (key) => derived('checksum of a key', key).subarray(0, 4);
const url = (bytes) => Buffer.from(bytes).toString('base64url');

// Node.js takes a point as a JSON web key, and a secret alone as PKCS #8, after these bytes (RFC 8410).
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const pointKey = (point) => createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: url(point) }, format: 'jwk' });
const secretKey = (secret) => createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });

/** The public key of a secret: 32 bytes each. */
const publicOf = (secret) => Buffer.from(createPublicKey(secretKey(secret)).export({ format: 'jwk' }).x, 'base64url');

/** The 32 bytes of a key written as text. */
function parsed(text, prefix, what) {
	const digits = text.startsWith(prefix) ? text.slice(prefix.length) : '';
	if (!/^[0-9a-f]{72}$/i.test(digits))
		throw new UserError(`this is no ${what} for sealing: that is ${prefix} and 72 hex digits`);
	const bytes = Buffer.from(digits, 'hex');
	const key = bytes.subarray(0, 32);
	if (!checksum(key).equals(bytes.subarray(32))) {
		throw new UserError('the checksum of this key for sealing is wrong: a digit is mistyped or missing');
	}
	return key;
}

const written = (prefix, key) => prefix + Buffer.concat([key, checksum(key)]).toString('hex');

/** The text of the public key with these 32 bytes. */
export const publicSealKey = (point) => written(PUBLIC, Buffer.from(point));

/** A fresh key: `public`, for which others seal, and `secret`, which opens. Both are text. */
export function sealKey(secret = randomBytes(32)) {
	return { public: publicSealKey(publicOf(secret)), secret: written(SECRET, Buffer.from(secret)) };
}

/** The secret in the text of a key's file, as `trainyard seal keygen` writes it. */
export function readSealKey(text) {
	const lines = text.split('\n').map((line) => line.trim());
	const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
	if (keys.length !== 1) throw new UserError('this is no file with a secret key for sealing');
	parsed(keys[0], SECRET, 'secret key');
	return keys[0];
}

function nonce(index, isLast) {
	const bytes = Buffer.alloc(12);
	bytes.writeBigUInt64BE(BigInt(index), 3);
	bytes[11] = isLast ? 1 : 0;
	return bytes;
}

/** The ephemeral secret of a file with these bytes, sealed for `recipient`. */
const ephemeralOf = (bytes, recipient) =>
	derived('ephemeral secret', derived('fingerprint of the bytes', Buffer.from(bytes)), recipient);

/** Whether these bytes are the one way to write a point: less than 2^255 - 19, lowest byte first. */
function isReduced(point) {
	const [low, high] = [point[0], point[31]];
	return high < 0x7f || (high === 0x7f && (low < 0xed || point.subarray(1, 31).some((byte) => byte !== 0xff)));
}

/** The key of the pieces. Fails where a point is of low order: then everybody knows what is shared. */
function pieceKey(secret, point, ephemeral, recipient) {
	let shared;
	try {
		if (!isReduced(recipient)) throw new Error('no secret key has this public key');
		shared = diffieHellman({ privateKey: secretKey(secret), publicKey: pointKey(point) });
	} catch {
		throw new UserError('this key cannot be sealed for: everybody could open it');
	}
	return derived('key', shared, ephemeral, recipient);
}

/**
 * Seals `bytes` for the public key with this text. The same bytes and key make the same sealed file.
 */
export function sealFor(bytes, publicKey) {
	const recipient = parsed(publicKey, PUBLIC, 'public key');
	const secret = ephemeralOf(bytes, recipient);
	const ephemeral = publicOf(secret);
	const key = pieceKey(secret, recipient, ephemeral, recipient);
	const made = [MAGIC, ephemeral];
	const last = Math.max(0, Math.ceil(bytes.length / PIECE) - 1);
	for (let index = 0; index <= last; index++) {
		const cipher = createCipheriv('chacha20-poly1305', key, nonce(index, index === last), { authTagLength: TAG });
		made.push(cipher.update(bytes.subarray(index * PIECE, (index + 1) * PIECE)), cipher.final(), cipher.getAuthTag());
	}
	return new Uint8Array(Buffer.concat(made));
}

/**
 * Opens a sealed file with the secret key with this text. Fails where it is sealed for another key, or is
 * not whole and unchanged.
 */
export function unseal(sealed, secretText) {
	const secret = parsed(secretText, SECRET, 'secret key');
	if (sealed.length < HEADER || !MAGIC.equals(sealed.subarray(0, MAGIC.length))) {
		throw new UserError('this is no sealed file, or one of another version: it does not begin with trainyard/seal/1');
	}
	const recipient = publicOf(secret);
	const ephemeral = Buffer.from(sealed.subarray(MAGIC.length, HEADER));
	const key = pieceKey(secret, ephemeral, ephemeral, recipient);
	const opened = [];
	for (let at = HEADER, index = 0; ; index++) {
		const end = Math.min(at + PIECE + TAG, sealed.length);
		const isLast = end === sealed.length;
		const damaged = () =>
			new UserError(
				index === 0
					? 'it does not open: it is sealed for another key, or damaged'
					: `piece ${index} of the sealed file does not open: the file is damaged, cut or put together of several`,
			);
		// An empty piece is that of an empty file alone.
		if (end - at < TAG || (end - at === TAG && index > 0)) throw damaged();
		const cipher = createDecipheriv('chacha20-poly1305', key, nonce(index, isLast), { authTagLength: TAG });
		cipher.setAuthTag(sealed.subarray(end - TAG, end));
		try {
			opened.push(cipher.update(sealed.subarray(at, end - TAG)), cipher.final());
		} catch {
			throw damaged();
		}
		if (isLast) break;
		at = end;
	}
	const bytes = Buffer.concat(opened);
	if (!publicOf(ephemeralOf(bytes, recipient)).equals(ephemeral)) {
		throw new UserError('it opens, but it is not what sealing these bytes for this key gives: another program made it');
	}
	return new Uint8Array(bytes);
}
