// Text of strangers, as a terminal may show it.

// Control characters, marks of direction and characters without width, ends of lines and paragraphs.
const ACTS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0]/gu;

const escaped = (text, keep) =>
	text.replace(ACTS, (c) => (keep.includes(c) ? c : `\\u{${c.codePointAt(0).toString(16)}}`));

/** One line: whatever would act on a terminal, or hide, is written as `\u{1b}`. */
export const line = (text) => escaped(text, '');

/** The same for text of several lines. */
export const lines = (text) => escaped(text, '\n\t');

/** JSON that means the same: such characters stand in its strings alone, where `\u001b` may stand. */
export const json = (text) =>
	text.replace(ACTS, (c) =>
		c === '\n'
			? c
			: Array.from({ length: c.length }, (_, at) => `\\u${c.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
	);
