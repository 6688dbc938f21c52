// The rows roots that packages/polkadot-js computes, for rows_elsewhere.py. Reads a list of cases as JSON:
// [{ path, format, every, divisor, normalization, context, labelsPath }]. Prints a list of what comes of
// them: { root } or { error }; an error that is no sentence for a person is passed on as a fault.

import { text } from 'node:stream/consumers';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { describeRows } from '../../packages/polkadot-js/src/rows.js';

const found = [];
for (const { path, ...how } of JSON.parse(await text(process.stdin))) {
	try {
		found.push({ root: (await describeRows(path, how)).rows });
	} catch (error) {
		found.push(error instanceof UserError ? { error: error.message } : { fault: error.stack });
	}
}
console.log(JSON.stringify(found));
