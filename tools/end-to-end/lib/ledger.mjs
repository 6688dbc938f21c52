// What accounts have, and what they paid for transactions: read from the chain, to the last unit.

/** Free and held balance of each address, at one block; `block` is its height. */
export async function accounts(api, addresses) {
	const header = await api.rpc.chain.getHeader();
	const at = await api.at(header.hash);
	const found = await at.query.system.account.multi(addresses);
	const all = new Map(
		addresses.map((address, index) => {
			const { free, reserved } = found[index].data;
			return [
				address,
				{ free: free.toBigInt(), reserved: reserved.toBigInt(), total: free.toBigInt() + reserved.toBigInt() },
			];
		}),
	);
	return Object.assign(all, { block: header.number.toNumber() });
}

/** Transaction fees that each address paid in the blocks after `from` up to `to`. */
export async function feesPaid(api, from, to) {
	const fees = new Map();
	for (let number = from + 1; number <= to; number++) {
		const at = await api.at(await api.rpc.chain.getBlockHash(number));
		for (const { event } of await at.query.system.events()) {
			if (!api.events.transactionPayment.TransactionFeePaid.is(event)) continue;
			const [who, fee] = event.data;
			fees.set(who.toString(), (fees.get(who.toString()) ?? 0n) + fee.toBigInt());
		}
	}
	return fees;
}
