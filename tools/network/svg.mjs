// A plot as SVG: step lines for what was announced, dots for what was counted.

const WIDTH = 860;
const HEIGHT = 420;
const MARGIN = { left: 64, right: 150, top: 44, bottom: 52 };
/** Colours that differ for colour-blind readers as well (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442', '#000000'];

const escape = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const round = (value) => Math.round(value * 100) / 100;

/** About five round numbers from 0 to `most`. */
function ticks(most) {
	const raw = most / 5;
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
	return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
}

/**
 * `series`: for each a `name`, `line` (one value for each x from `first` on, drawn as steps one
 * wide) and `dots` (the same, drawn in the middle of the step); null leaves a gap. `marks`: x and
 * text of vertical lines.
 */
export function plot({ title, x, y, first = 0, series, marks = [], format = String, caption = '' }) {
	const count = Math.max(...series.map(({ line, dots }) => Math.max(line.length, dots.length)));
	const most =
		1.1 * Math.max(...series.flatMap(({ line, dots }) => [...line, ...dots]).filter((value) => value !== null));
	const inner = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
	const px = (at) => round(MARGIN.left + ((at - first) / count) * inner.width);
	const py = (value) => round(MARGIN.top + inner.height - (value / most) * inner.height);
	const text = (at, down, words, rest = '') => `<text x="${at}" y="${down}" ${rest}>${escape(words)}</text>`;
	const parts = [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
		`<title>${escape(title)}</title>`,
		`<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
		text(MARGIN.left, 22, title, 'font-size="15" font-weight="bold"'),
	];
	for (const value of ticks(most)) {
		parts.push(`<path d="M${MARGIN.left} ${py(value)}H${WIDTH - MARGIN.right}" stroke="#dddddd"/>`);
		parts.push(text(MARGIN.left - 6, py(value) + 4, format(value), 'text-anchor="end"'));
	}
	const every = Math.max(1, Math.ceil(count / 20));
	for (let at = first; at < first + count; at += every) {
		parts.push(text(px(at + 0.5), HEIGHT - MARGIN.bottom + 18, at, 'text-anchor="middle"'));
	}
	parts.push(text(MARGIN.left + inner.width / 2, HEIGHT - 12, x, 'text-anchor="middle"'));
	parts.push(
		text(
			16,
			MARGIN.top + inner.height / 2,
			y,
			`text-anchor="middle" transform="rotate(-90 16 ${MARGIN.top + inner.height / 2})"`,
		),
	);
	for (const { at, words } of marks) {
		parts.push(
			`<path d="M${px(at)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}" stroke="#555555" stroke-dasharray="4 3"/>`,
		);
		parts.push(text(px(at) + 4, MARGIN.top + 12, words, 'fill="#555555"'));
	}
	series.forEach(({ name, line, dots }, index) => {
		const colour = COLOURS[index % COLOURS.length];
		let path = '';
		line.forEach((value, step) => {
			if (value === null) return;
			const joined = step > 0 && line[step - 1] !== null;
			path += `${joined ? 'L' : 'M'}${px(first + step)} ${py(value)}H${px(first + step + 1)}`;
		});
		parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
		dots.forEach((value, step) => {
			if (value !== null)
				parts.push(`<circle cx="${px(first + step + 0.5)}" cy="${py(value)}" r="4" fill="${colour}"/>`);
		});
		const down = MARGIN.top + 14 + index * 22;
		const right = WIDTH - MARGIN.right + 16;
		parts.push(
			`<path d="M${right} ${down}h22" stroke="${colour}" stroke-width="2"/><circle cx="${right + 11}" cy="${down}" r="4" fill="${colour}"/>`,
		);
		parts.push(text(right + 30, down + 4, name));
	});
	caption.split('\n').forEach((words, index) => {
		parts.push(
			text(WIDTH - MARGIN.right + 16, HEIGHT - MARGIN.bottom - 40 + index * 16, words, 'fill="#555555" font-size="11"'),
		);
	});
	parts.push('</svg>');
	return `${parts.join('\n')}\n`;
}
