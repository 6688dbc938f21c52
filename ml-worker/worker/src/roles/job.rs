//! A job on chain, checked once.

use super::{checked, plan::Needs};
use std::{ops::Deref, sync::OnceLock};
use trainyard_client::JobView;
use trainyard_program::spec::{CheckedSpec, SpecError};

/// A job as the chain shows it, with what this program makes of its specification. Whatever is
/// computed from the specification takes it from here, so it is checked once for each view.
#[derive(Debug)]
pub struct Job {
	view: JobView,
	checked: Result<CheckedSpec, SpecError>,
	/// What a trainer needs, once it was asked for: counting it lowers the specification.
	needs: OnceLock<Needs>,
}

impl Job {
	/// Checks the specification of a job.
	pub fn new(view: JobView) -> Self {
		let checked = checked(&view);
		Self { view, checked, needs: OnceLock::new() }
	}

	/// Returns the checked specification, or what this program finds wrong with it.
	pub fn checked(&self) -> Result<&CheckedSpec, SpecError> {
		self.checked.as_ref().map_err(|error| *error)
	}

	/// Returns what the job needs of a trainer's machine. Fails with what [`Self::checked`] finds
	/// wrong.
	pub fn needs(&self) -> Result<&Needs, SpecError> {
		let spec = self.checked()?;
		Ok(self.needs.get_or_init(|| Needs::of(spec, &self.view.terms)))
	}
}

impl Deref for Job {
	type Target = JobView;

	fn deref(&self) -> &JobView {
		&self.view
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_protocol::job::JobState;

	#[test]
	fn needs_are_counted_once() {
		let job = Job::new(fake::job(JobState::Open));
		assert_eq!(job.checked().unwrap().spec(), &job.spec);
		let (first, again) = (job.needs().unwrap(), job.needs().unwrap());
		assert!(std::ptr::eq(first, again));
		assert_eq!(*first, Needs::of(job.checked().unwrap(), &job.terms));
	}

	#[test]
	fn an_invalid_specification_has_no_needs() {
		let mut view = fake::job(JobState::Open);
		view.spec.training.steps = 0;
		let job = Job::new(view);
		assert_eq!(job.checked().unwrap_err(), SpecError::BadSteps);
		assert_eq!(job.needs().unwrap_err(), SpecError::BadSteps);
	}
}
