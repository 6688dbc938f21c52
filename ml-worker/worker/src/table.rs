//! Tables of text for people. No library draws them, because they have neither frames nor wrapped
//! cells, which is what one would bring.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
	/// Text.
	Left,
	/// Numbers.
	Right,
}

/// Writes the rows below the header as lines of aligned columns, two spaces apart; the last column
/// is as wide as it needs to be.
pub fn table(header: &[(&str, Align)], rows: &[Vec<String>]) -> String {
	let width = |column: usize| {
		let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
		cells.chain(header.get(column).map(|(name, _)| name.chars().count())).max().unwrap_or(0)
	};
	let widths: Vec<usize> = (0..header.len()).map(width).collect();
	let line = |cells: Vec<&str>| {
		let mut line = String::new();
		for (i, ((cell, (_, align)), width)) in cells.iter().zip(header).zip(&widths).enumerate() {
			if i > 0 {
				line.push_str("  ");
			}
			match align {
				Align::Left => line.push_str(&format!("{cell:<width$}")),
				Align::Right => line.push_str(&format!("{cell:>width$}")),
			}
		}
		line.trim_end().to_owned() + "\n"
	};
	let mut text = line(header.iter().map(|(name, _)| *name).collect());
	for row in rows {
		text.push_str(&line(row.iter().map(String::as_str).collect()));
	}
	text
}

/// Writes a whole number in groups of three digits: `1,234,567`.
pub fn grouped(n: impl Into<u128>) -> String {
	let digits = n.into().to_string();
	let mut out = String::new();
	for (i, digit) in digits.chars().enumerate() {
		if i > 0 && (digits.len() - i) % 3 == 0 {
			out.push(',');
		}
		out.push(digit);
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn columns_align() {
		let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "10".into()]];
		let text = table(&[("name", Align::Left), ("n", Align::Right)], &rows);
		assert_eq!(text, "name   n\na      1\nlong  10\n");
	}

	#[test]
	fn digits_group() {
		assert_eq!(grouped(0u32), "0");
		assert_eq!(grouped(999u32), "999");
		assert_eq!(grouped(1_234_567u64), "1,234,567");
	}
}
