// Lists trainers, their power and their offers.

import { accountName } from '../summary.js';
import { table } from '../table.js';
import { formatAmount, formatWork } from '../units.js';

/** Entries that are asked for at once. */
const PAGE = 256;

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** All entries of a list that the chain returns in pages: `ask(last, count)`, after the key of the last entry. */
async function pages(ask, key) {
	const all = [];
	for (;;) {
		const page = await ask(all.length > 0 ? key(all[all.length - 1]) : null, PAGE);
		all.push(...page);
		if (page.length < PAGE) return all;
	}
}

/** Trainers as plain values: amounts as BigInt, weights as BigInt or null, `ecp` and weights in parts of 10^12. */
export async function trainers(api) {
	const { trainyardApi } = api.call;
	const [all, listings] = await Promise.all([
		pages(trainyardApi.trainers, (view) => view.account),
		pages(trainyardApi.listings, (listing) => listing.trainer),
	]);
	all.sort((a, b) => compare(b.ecp.toBigInt(), a.ecp.toBigInt()) || compare(a.account.toHex(), b.account.toHex()));
	const offers = new Map(listings.map((listing) => [listing.trainer.toString(), listing]));
	const weight = (option) => (option.isSome ? option.unwrap().toBigInt() : null);
	return all.map((view) => {
		const offer = offers.get(view.account.toString());
		return {
			account: view.account.toString(),
			bond: view.bond.toBigInt(),
			candidate: view.candidate.isTrue,
			trainingTotal: view.trainingTotal.toBigInt(),
			trainingEffective: view.trainingEffective.toBigInt(),
			drillingEffective: view.drillingEffective.toBigInt(),
			ecp: view.ecp.toBigInt(),
			weight: weight(view.weight),
			nextWeight: weight(view.nextWeight),
			cpu: view.hardware.cpu.toUtf8(),
			gpu: view.hardware.gpu.toUtf8(),
			offer: offer
				? {
						pricePerUt: offer.pricePerUt.toBigInt(),
						maxWork: offer.maxWork.toBigInt(),
						note: offer.note.toUtf8(),
						done: offer.record.done.toBigInt(),
						against: offer.record.late.toBigInt() + offer.record.failed.toBigInt() + offer.record.convicted.toBigInt(),
					}
				: null,
		};
	});
}

/** The whole weight of a session's authorities, of which the chain gives parts. */
const WHOLE_WEIGHT = 1e12;

/** A part of the weight in percent, or a dash for none. */
const share = (parts) => (parts === null ? '-' : `${((Number(parts) / WHOLE_WEIGHT) * 100).toFixed(3)} %`);

export default {
	name: 'trainers',
	usage: '[flags]',
	about: 'Lists trainers: bond, credited work, effective power, weight as block author, offer.',
	flags: {},
	async run({ api, print }) {
		const all = await trainers(api);
		const rows = all.map((trainer) => [
			accountName(trainer.account),
			formatAmount(trainer.bond),
			formatWork(trainer.trainingTotal),
			`${formatWork(trainer.trainingEffective)}/day`,
			`${formatWork(trainer.drillingEffective)}/day`,
			share(trainer.ecp),
			share(trainer.weight),
			share(trainer.nextWeight),
			trainer.offer ? `${formatAmount(trainer.offer.pricePerUt)} per ut` : '-',
		]);
		const header = ['trainer', 'bond', 'trained', 'training', 'drilling', 'ECP', 'weight', 'next', 'offer'];
		print(
			rows.length > 0 ? table(header, rows, [1, 2, 3, 4, 5, 6, 7]) : 'there are no trainers yet',
			JSON.parse(JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? value.toString() : value))),
		);
	},
};
