//! Checks that this process computes as IEEE 754 says. Libraries and debuggers can switch the
//! processor into modes that flush subnormals or round differently; a replay would then differ, and
//! nothing would show why.

use std::hint::black_box;

/// Checks this thread and every thread of the pool that kernels use.
pub fn check() -> Result<(), &'static str> {
	check_thread()?;
	rayon::broadcast(|_| check_thread()).into_iter().collect()
}

fn check_thread() -> Result<(), &'static str> {
	// `black_box` keeps the compiler from computing these itself.
	let smallest = black_box(f32::from_bits(1));
	if smallest * black_box(8_388_608.0) != f32::MIN_POSITIVE {
		return Err("it reads subnormal numbers as zero (DAZ); switch that mode off");
	}
	if black_box(f32::MIN_POSITIVE) * black_box(0.5) == 0.0 {
		return Err("it writes subnormal results as zero (FTZ); switch that mode off");
	}
	// Ties to even, above and below one: only rounding to nearest gives all four.
	let (one, half_place) = (black_box(1.0f32), black_box(f32::EPSILON / 2.0));
	let place = black_box(f32::EPSILON);
	let nearest = one + half_place == one
		&& (one + place) + half_place == one + 2.0 * place
		&& -one - half_place == -one
		&& (-one - place) - half_place == -one - 2.0 * place;
	if !nearest {
		return Err("it does not round to nearest; restore the default rounding mode");
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn this_process_is_fit() {
		assert_eq!(check(), Ok(()));
	}

	/// Tests the check itself: it must report each mode that is switched on.
	#[cfg(target_arch = "x86_64")]
	#[test]
	fn modes_are_noticed() {
		fn under(mode: u32) -> Result<(), &'static str> {
			let mut saved = 0u32;
			// Safety: the control register of this thread is read, changed and restored.
			unsafe {
				let slot = &mut saved as *mut u32;
				std::arch::asm!("stmxcsr [{}]", in(reg) slot);
				let changed = saved | mode;
				std::arch::asm!("ldmxcsr [{}]", in(reg) &changed);
				let result = check_thread();
				std::arch::asm!("ldmxcsr [{}]", in(reg) &saved);
				result
			}
		}
		let message = |mode| under(mode).unwrap_err();
		assert!(message(1 << 6).contains("DAZ"));
		assert!(message(1 << 15).contains("FTZ"));
		for rounding in [1 << 13, 2 << 13, 3 << 13] {
			assert!(message(rounding).contains("nearest"));
		}
		assert_eq!(under(0), Ok(()));
	}
}
