// Parquet, which is not read here.

import { UserError } from '../errors.js';

/** Fails, and says who reads such files. */
export async function openParquet(path) {
	throw new UserError(
		`${path}: this package does not read Parquet. trainyard estimate JOB.toml reads it, and prints rows and their ` +
			'root; trainyard submit JOB.toml posts the job. Or write the rows in another format',
	);
}
