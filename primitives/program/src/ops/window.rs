//! Square windows over images.

/// Square windows that move over the planes of `[images, channels, height, width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
	/// Images (rows of the batch).
	pub images: u32,
	/// Planes of an image.
	pub channels: u32,
	/// Height of a plane.
	pub height: u32,
	/// Width of a plane.
	pub width: u32,
	/// Height and width of the window.
	pub kernel: u32,
	/// Distance of neighbouring windows, down and to the right; at least 1.
	pub stride: u32,
	/// Rows and columns of `+0` around each plane.
	pub padding: u32,
}

impl Window {
	/// Returns the number of windows in a column:
	/// `floor((height + 2 padding - kernel) / stride) + 1`, 0 where the window does not fit.
	pub fn out_height(&self) -> u32 {
		self.fits(self.height)
	}

	/// Returns the number of windows in a row, as [`Self::out_height`] does.
	pub fn out_width(&self) -> u32 {
		self.fits(self.width)
	}

	fn fits(&self, size: u32) -> u32 {
		let padded = u64::from(size).saturating_add(u64::from(self.padding).saturating_mul(2));
		let room = padded.checked_sub(u64::from(self.kernel));
		let more = room.and_then(|room| room.checked_div(u64::from(self.stride)));
		more.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1))
	}

	/// Returns the number of places of a plane.
	pub fn area(&self) -> u64 {
		u64::from(self.height).saturating_mul(u64::from(self.width))
	}

	/// Returns the number of windows of a plane.
	pub fn out_area(&self) -> u64 {
		u64::from(self.out_height()).saturating_mul(u64::from(self.out_width()))
	}

	/// Returns the number of places of a window on one plane.
	pub fn taps(&self) -> u64 {
		u64::from(self.kernel).saturating_mul(u64::from(self.kernel))
	}

	/// Returns the number of places of a window on all planes: the length of a convolution's dot
	/// products.
	pub fn patch(&self) -> u64 {
		self.taps().saturating_mul(u64::from(self.channels))
	}

	/// Returns the row or column of the plane that tap `tap` of window `window` reads, of `size`;
	/// none in the padding.
	pub fn reads(&self, window: u32, tap: u32, size: u32) -> Option<u32> {
		window
			.checked_mul(self.stride)?
			.checked_add(tap)?
			.checked_sub(self.padding)
			.filter(|at| *at < size)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn window(height: u32, kernel: u32, stride: u32, padding: u32) -> Window {
		Window { images: 1, channels: 1, height, width: height + 3, kernel, stride, padding }
	}

	#[test]
	fn windows_are_counted() {
		assert_eq!(window(28, 3, 1, 1).out_height(), 28);
		assert_eq!(window(28, 5, 1, 0).out_height(), 24);
		assert_eq!(window(28, 2, 2, 0).out_width(), 15);
		assert_eq!(window(7, 3, 2, 1).out_height(), 4);
		assert_eq!(window(2, 5, 1, 1).out_height(), 0);
		assert_eq!(window(2, 2, 0, 0).out_height(), 0);
		assert_eq!(window(1, u32::MAX, 1, u32::MAX).out_height(), u32::MAX);
	}

	#[test]
	fn taps_read_the_padded_plane() {
		// 9 rows with 1 around them, and windows of 3 at a distance of 2.
		let w = window(9, 3, 2, 1);
		let rows = |at: u32| [0, 1, 2].map(|tap| w.reads(at, tap, 9));
		assert_eq!(w.out_height(), 5);
		assert_eq!(rows(0), [None, Some(0), Some(1)]);
		assert_eq!(rows(1), [Some(1), Some(2), Some(3)]);
		assert_eq!(rows(4), [Some(7), Some(8), None]);
		assert_eq!(w.reads(u32::MAX, 1, 9), None);
	}
}
