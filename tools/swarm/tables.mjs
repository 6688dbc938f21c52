// Tables of what tools/swarm/links measured, and what must hold of it.

/** MFLOP for a byte, FLOP/s of a card and cards behind one link: those of the essay. */
const ESSAY = { mflop: 22, card: 5e12, cards: 100 };

const table = (head, rows) =>
	[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const percent = (part, digits = 1) => `${(100 * part).toFixed(digits)} %`;
const of = (times, read) => median(times.map(read));
const named = (updates) => (updates === 'whole' ? 'whole' : `${updates} of 4,096 in 2 bits`);

/** How much of a round is training. */
export const utilisation = ({ times }) => of(times, ({ training, all }) => training / all);

/** Seconds for which a peer waits in a round. */
const waited = ({ times }) => of(times, ({ waiting, agreeing }) => waiting + agreeing);

/** The same where a peer has its machine to itself: what it waited here, and mixing as it was measured alone. */
export function apart(found, session) {
	const { strict } = found.alone.mixing.find(({ updates }) => updates === session.updates);
	return found.seconds / (found.seconds + waited(session) + strict);
}

/** Links and updates: bytes, times and utilisation. */
export function links(found) {
	const head = [
		'Mbit/s',
		'updates',
		'times less',
		'bytes of an update',
		'on the wire, of a peer in a round',
		'these take, s',
		'waited, s',
		'computed, s',
		'a round, s',
		'utilisation',
		'with a machine each',
	];
	const rows = found.links.map((session) => {
		const { mbit, updates, bytes, wire, times } = session;
		return [
			mbit,
			named(updates),
			(found.alone.whole / bytes).toFixed(0),
			bytes,
			wire.toFixed(0),
			((wire * 8) / (mbit * 1e6)).toFixed(2),
			waited(session).toFixed(2),
			of(times, ({ making, stepping }) => making + stepping).toFixed(2),
			of(times, ({ all }) => all).toFixed(2),
			percent(utilisation(session)),
			percent(apart(found, session)),
		];
	});
	const { parameters, inner, tokens, threads } = found.alone;
	const delay = found.wan ? `, ${found.wan.delay} ms each way, ${found.wan.loss} % lost` : '';
	const what = `${parameters} parameters, ${found.peers} peers, ${inner} inner steps of ${tokens / inner} tokens in ${found.seconds.toFixed(2)} s on ${threads} threads${delay}\n\n`;
	return what + table(head, rows);
}

/** What failing peers cost. */
export function failing(found) {
	const [calm, ...others] = found.failing;
	if (!calm) return '';
	const head = ['peers failing', 'killed', 'rounds', 'a round, s', 'trainings that counted', 'goodput'];
	const rows = [calm, ...others].map(({ percent: share, killed, rounds, wall, counted }) => {
		const possible = found.peers * (rounds - 1);
		const each = wall / (rounds - 1);
		return [
			`${share} %`,
			killed,
			rounds - 1,
			each.toFixed(2),
			`${counted} of ${possible}`,
			percent((counted / possible) * (calm.wall / (calm.rounds - 1) / each)),
		];
	});
	return `${calm.mbit} Mbit/s, ${named(calm.updates)}\n\n${table(head, rows)}`;
}

/** What strict mixing costs a round. */
export function strictness(found) {
	const head = ['updates', 'training, s', 'mixing, s', 'in plain floats, s', 'strict mixing makes a round longer by'];
	const rows = found.alone.mixing.map(({ updates, strict, plain }) => [
		named(updates),
		found.seconds.toFixed(2),
		strict.toFixed(3),
		plain.toFixed(3),
		percent((strict - plain) / (found.seconds + plain), 2),
	]);
	return table(head, rows);
}

/** What the sizes say, beside the essay. Training is 6 FLOP for a parameter and a token. */
export function essay(found) {
	const { parameters, tokens, inner, mixing } = found.alone;
	const flop = 6 * parameters * tokens;
	const head = [
		'updates',
		'MFLOP of training for a byte of an update',
		'inner steps for 22 of them',
		'a card of 5 TFLOP/s makes, kB/s',
		'100 such cards, Mbit/s',
		'at 22 MFLOP for a byte, kB/s',
		'and 100 cards, Mbit/s',
	];
	const rate = (mflop) => ESSAY.card / (mflop * 1e6);
	const rows = mixing.map(({ updates, bytes }) => {
		const mflop = flop / bytes / 1e6;
		const speeds = [mflop, ESSAY.mflop].flatMap((each) => [
			(rate(each) / 1e3).toFixed(0),
			((rate(each) * ESSAY.cards * 8) / 1e6).toFixed(0),
		]);
		return [named(updates), mflop.toPrecision(2), ((ESSAY.mflop / mflop) * inner).toFixed(0), ...speeds];
	});
	return table(head, rows);
}

/** What must hold and does not: equal bits, and bytes as their form says. */
export function wrong(found) {
	const said = [];
	for (const { mbit, updates, bytes, hashes, times, rounds, killed, wire } of [...found.links, ...found.failing]) {
		const where = `${mbit} Mbit/s, ${updates}`;
		hashes.forEach((round, number) => {
			if (new Set(round).size !== 1) said.push(`${where}: all peers have the same bits after round ${number}`);
		});
		if (hashes.length !== rounds || hashes.some((round) => round.length !== found.peers))
			said.push(`${where}: every peer ends every round`);
		if (killed) continue;
		if (new Set(hashes.map(([first]) => first)).size !== rounds) said.push(`${where}: every round changes the model`);
		const sent = bytes * (found.peers - 1);
		if (!times.every((one) => one.sent === sent))
			said.push(`${where}: a peer sends ${sent} bytes of updates in a round`);
		if (wire < sent) said.push(`${where}: ${wire} bytes on the wire are at least ${sent}`);
	}
	for (const { updates, bytes } of found.alone.mixing) {
		const least = { 128: 100, 64: 180, 16: 500 }[updates];
		if (least && found.alone.whole / bytes < least) said.push(`${updates} of 4,096 are ${least} times less`);
	}
	for (const { percent: share, killed, rounds } of found.failing) {
		const planned = Math.round((share / 100) * found.peers * (rounds - 1));
		if (killed > planned) said.push(`${planned} peers are killed of ${share} %, not ${killed}`);
	}
	return said;
}
