//! The events of the pallet.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod events {
	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A driller is in a stint.
		Begun {
			/// Who.
			driller: T::AccountId,
			/// How many stints it began before.
			number: u32,
			/// The stint's seed.
			seed: H256,
		},
		/// A driller gave its stint up, and has its deposit back.
		Retired {
			/// Who.
			driller: T::AccountId,
		},
		/// A driller reported a stint.
		Reported {
			/// Number of the report.
			report: ReportId,
			/// Who.
			driller: T::AccountId,
			/// How many laps.
			laps: u32,
			/// Their work.
			work: MicroUt,
			/// Chance of a check, in parts of 2^32.
			chance: u64,
			/// What it paid for that.
			fee: Balance,
		},
		/// A report was credited.
		Credited {
			/// Which.
			report: ReportId,
			/// Whose.
			driller: T::AccountId,
			/// What was added to its drilling power.
			work: MicroUt,
			/// Whether verifiers confirmed it.
			checked: bool,
		},
		/// Verifiers are to compute samples of a report.
		CheckOpened {
			/// Which.
			report: ReportId,
			/// Who.
			verifiers: BoundedVec<T::AccountId, ConstU32<{ DOUBTERS }>>,
			/// Which laps.
			samples: BoundedVec<u32, ConstU32<{ trainyard_protocol::stint::SAMPLES }>>,
			/// Last block for commitments.
			until: BlockNumber,
		},
		/// Verifiers are drawn again later, since they were busy or too few.
		CheckPostponed {
			/// Of which report.
			report: ReportId,
			/// Not before this block.
			until: BlockNumber,
		},
		/// A seed was not to be had any more; there will be another.
		SeedLost {
			/// Of which report.
			report: ReportId,
		},
		/// A verifier committed.
		Committed {
			/// To samples of which report.
			report: ReportId,
			/// Who.
			who: T::AccountId,
		},
		/// The driller opens samples from now on, and verifiers reveal.
		OpeningBegan {
			/// Of which report.
			report: ReportId,
			/// Last block for that.
			until: BlockNumber,
		},
		/// A driller opened the samples.
		Opened {
			/// Of which report.
			report: ReportId,
		},
		/// A verifier revealed.
		Revealed {
			/// Of which report.
			report: ReportId,
			/// Who.
			who: T::AccountId,
		},
		/// The first committee did not confirm a report: a second one decides.
		Doubted {
			/// Which.
			report: ReportId,
		},
		/// A driller did not open samples in time.
		NotOpened {
			/// Of which report.
			report: ReportId,
			/// Who.
			driller: T::AccountId,
			/// The work whose power it lost, as far as it had it.
			work: MicroUt,
			/// What was taken of its bond, where its power did not cover that.
			slashed: Balance,
		},
		/// A report was neither confirmed nor refuted.
		Unconfirmed {
			/// Which.
			report: ReportId,
			/// Whose.
			driller: T::AccountId,
			/// The work whose power it lost, as far as it had it.
			work: MicroUt,
			/// What was taken of its bond, where most of that committee found something else and its power
			/// did not cover that.
			slashed: Balance,
		},
		/// A report was false.
		Forged {
			/// Which.
			report: ReportId,
			/// Whose.
			driller: T::AccountId,
			/// What was taken of its bond, beside all drilling power.
			slashed: Balance,
		},
		/// Verifiers could not be had for a report. It is not credited, and costs nothing.
		Void {
			/// Which.
			report: ReportId,
		},
		/// A verifier was paid.
		CheckPaid {
			/// For a check of which report.
			report: ReportId,
			/// Who.
			verifier: T::AccountId,
			/// How much.
			fee: Balance,
		},
		/// The least number of blocks of a stint is another.
		PeriodSet {
			/// How many.
			period: BlockNumber,
		},
	}
}
