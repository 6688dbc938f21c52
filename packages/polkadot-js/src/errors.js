// Errors that a person should read as a sentence, not as a stack trace.

/** What was wrong, where, and what to do. Commands print the message alone. */
export class UserError extends Error {}

const sentence = (docs) =>
	docs
		.map((line) => line.toString().trim())
		.join(' ')
		.trim();

/**
 * What stands inside an error that carries another one, for example the broken rule in
 * `InvalidSpec(SpecFault(…))`: name and meaning of the inner variant, or null.
 */
function innerVariant(registry, fields, bytes) {
	let type = fields[0]?.type;
	while (type !== undefined) {
		const { def } = registry.lookup.getSiType(type);
		if (def.isVariant) {
			const found = def.asVariant.variants.find(({ index }) => index.toNumber() === bytes[0]);
			return found ? { name: found.name.toString(), meaning: sentence(found.docs) } : null;
		}
		// A type around one other.
		type = def.isComposite && def.asComposite.fields.length === 1 ? def.asComposite.fields[0].type : undefined;
	}
	return null;
}

/** A dispatch error of the chain as `Pallet.Error: what it means`. */
export function explainDispatchError(registry, error) {
	if (!error.isModule) {
		const detail = error.toHuman();
		return typeof detail === 'string' ? detail : JSON.stringify(detail);
	}
	const module = error.asModule;
	try {
		const { section, name, docs, fields } = registry.findMetaError(module);
		const inner = innerVariant(registry, fields ?? [], module.error.toU8a().subarray(1));
		const told = inner
			? [`${section}.${name}`, sentence(docs).replace(/\.$/, ''), inner.name, inner.meaning]
			: [`${section}.${name}`, sentence(docs)];
		return told.filter((part) => part !== '').join(': ');
	} catch {
		return `unknown error of a pallet: ${module.toString()}`;
	}
}

/** The reasons for which the transaction pool refuses a transaction, in words. */
export function explainPoolError(error) {
	const text = error?.message ?? String(error);
	if (/Inability to pay some fees/.test(text)) {
		return 'the account cannot pay the transaction fee. Send it some currency first';
	}
	if (/outdated|Stale/i.test(text)) {
		return 'another transaction of this account used the same nonce. Run the command again';
	}
	if (/Priority is too low/.test(text)) {
		return 'another transaction of this account with the same nonce waits in the pool. Wait for the next block and run the command again';
	}
	return text;
}
