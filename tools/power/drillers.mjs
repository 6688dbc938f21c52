// Power share against compute share, with real drillers: some twenty of paces from 1 to 100, and one
// owner's rate in one account and in ten. A development chain, six verifiers; all share this machine,
// so a slow machine is a driller that rests between its laps.
//
//     node tools/power/drillers.mjs [--dir DIR] [--reports N] [--total N]
//
// Each driller makes N reports (3), all together compute `total` laps a second (20). Prints a table. The
// programs are those of `TRAINYARD_BIN`, or of the release build.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { events } from '../end-to-end/lib/events.mjs';
import { anyPort } from '../end-to-end/lib/net.mjs';
import { Network, sleep, trainyard } from '../end-to-end/lib/network.mjs';

const { keyFromSuri, send, table } = trainyard;
const UNIT = 10n ** 12n;
const VERIFIERS = [1, 2, 3, 4, 5, 6].map((number) => `//Eve//${number}`);

const { values: options } = parseArgs({
	options: {
		dir: { type: 'string' },
		reports: { type: 'string', default: '3' },
		total: { type: 'string', default: '20' },
	},
});
const reports = Number(options.reports);
const folder = options.dir ?? mkdtempSync(join(tmpdir(), 'trainyard-drillers-'));

/** Twenty paces from 1 to 100, and one owner's ten in one account and in ten. */
const paces = [
	...Array.from({ length: 20 }, (_, index) => ({ name: `pace-${index}`, pace: 100 ** (index / 19) })),
	{ name: 'whole', pace: 50 },
	...Array.from({ length: 10 }, (_, index) => ({ name: `part-${index}`, pace: 5 })),
];
const sum = paces.reduce((all, { pace }) => all + pace, 0);

const network = new Network({ folder });
try {
	await network.startNode({ rpcPort: await anyPort() });
	const api = await network.connect();
	const suri = ({ name }) => `//Ferdie//${name}`;
	const addresses = new Map();
	for (const one of paces) addresses.set(one.name, (await keyFromSuri(suri(one))).address);
	const verifiers = await Promise.all(VERIFIERS.map(async (who) => (await keyFromSuri(who)).address));
	const gifts = [...addresses.values(), ...verifiers].map((address) =>
		api.tx.balances.transferKeepAlive(address, 200n * UNIT),
	);
	await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
	for (const [index, who] of VERIFIERS.entries()) {
		network.startWorker('verifier', who, ['--bond', '100'], `verifier-${index}`);
	}
	for (const one of paces) {
		const pace = String((one.pace / sum) * Number(options.total));
		const flags = ['--bond', '100', '--threads', '1', '--max-laps-per-second', pace, '--stints', String(reports)];
		network.startWorker('driller', suri(one), flags, one.name);
	}
	const done = (name) => events(join(folder, name), { event: 'stint_credited' }).length >= reports;
	for (let seconds = 0; !paces.every(({ name }) => done(name)); seconds += 5) {
		if (seconds % 60 === 0) {
			const ready = paces.filter(({ name }) => done(name)).length;
			console.log(`${seconds} s: ${ready} of ${paces.length} drillers have ${reports} reports`);
		}
		if (seconds > 1_800) throw new Error('it takes too long: give a smaller --total');
		await sleep(5_000);
	}
	// What each was credited, over the time from its first report to its last: paces, not moments.
	const rows = [];
	const rates = new Map();
	for (const { name, pace } of paces) {
		const reported = events(join(folder, name), { event: 'stint_reported' }).slice(0, reports);
		const credited = events(join(folder, name), { event: 'stint_credited' }).slice(0, reports);
		const first = reported[0].time;
		const seconds = (reported.at(-1).time - first) / 1_000;
		const work = credited.slice(1).reduce((all, report) => all + report.work, 0);
		rates.set(name, work / seconds);
		rows.push({ name, pace, reports: credited.length, work, seconds });
	}
	const all = [...rates.values()].reduce((total, rate) => total + rate, 0);
	const percent = (share) => `${(share * 100).toFixed(3)} %`;
	const line = (name, pace, rate) => [
		name,
		pace.toFixed(1),
		percent(pace / sum),
		percent(rate / all),
		(rate / all / (pace / sum)).toFixed(4),
	];
	const parts = paces.filter(({ name }) => name.startsWith('part-'));
	const together = parts.reduce((total, { name }) => total + rates.get(name), 0);
	console.log(
		table(
			['driller', 'pace', 'share of computing', 'share of credit', 'ratio'],
			[
				...paces
					.filter(({ name }) => !name.startsWith('part-'))
					.map(({ name, pace }) => line(name, pace, rates.get(name))),
				line('ten parts', 50, together),
			],
			[1, 2, 3, 4],
		),
	);
} finally {
	await network.stop();
	if (!options.dir) rmSync(folder, { recursive: true, force: true });
}
