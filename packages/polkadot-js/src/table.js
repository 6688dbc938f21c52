// Plain text tables. A cell is one line, whoever wrote it.

import { line as harmless } from './escape.js';

/** Rows of strings as a table under `header`; numbers are meant to stand right. */
export function table(header, rows, rightAligned = []) {
	const shown = (cell) => harmless(String(cell ?? ''));
	const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => shown(row[column]).length)));
	const line = (row) =>
		row
			.map((cell, column) => {
				const text = shown(cell);
				return rightAligned.includes(column) ? text.padStart(widths[column]) : text.padEnd(widths[column]);
			})
			.join('  ')
			.trimEnd();
	return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** A record as `name  value` lines: the table for one subject, or several side by side. */
export function sheet(columns, rows) {
	return table(['', ...columns], rows);
}
