// The secret of an account: as it was typed, or in a file.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { UserError } from './errors.js';

/**
 * The secret URI that the flags `suri` and `suri-file` give: one of the two. All users of a machine can
 * see its command lines, so a secret is better in a file; one that everybody may read is refused, as
 * `trainyard` and ssh refuse it.
 */
export function suriOf(flags) {
	const { suri, 'suri-file': path } = flags;
	if ((suri === undefined) === (path === undefined)) {
		throw new UserError('give one of --suri-file FILE and --suri S: whose account?');
	}
	if (suri !== undefined) return suri;
	let file;
	try {
		file = openSync(path, 'r');
		const mode = fstatSync(file).mode & 0o7777;
		if (process.platform !== 'win32' && (mode & 0o007) !== 0) {
			throw new UserError(
				`everybody on this machine may read or write ${path}, which holds a secret (its mode is ` +
					`${mode.toString(8)}). Make it yours alone by chmod 600`,
			);
		}
		return readFileSync(file, 'utf8').trim();
	} catch (error) {
		if (error instanceof UserError) throw error;
		throw new UserError(`cannot read ${path}: ${error.message}`);
	} finally {
		if (file !== undefined) closeSync(file);
	}
}
