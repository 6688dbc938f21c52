//! Tests, one file for each behaviour.

/// Asserts that a helper, which seals and lets blocks pass before, fails with an error.
macro_rules! refused {
	($result:expr, $error:expr $(,)?) => {
		assert_eq!($result, Err($error.into()))
	};
}

mod attacks;
mod computing;
mod disputes;
mod maps;
mod posting;
mod random;
