//! Why calls fail.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod errors {
	#[pallet::error]
	pub enum Error<T> {
		/// There is no job with this number, or it was forgotten.
		NoSuchJob,
		/// The specification breaks a rule; the error inside says which.
		InvalidSpec(SpecFault),
		/// Replicas must be 1 to `MAX_REPLICAS`, and 1 for an ordered job.
		BadReplicas,
		/// Verifiers must be an odd number from 3 to 15.
		BadVerifiers,
		/// Each verifier draws too few or too many segments. It must draw `ceil(45 n / (1,000
		/// verifiers))` of `n` segments at least (of more than 1,000, as of 1,000), and 16 and all
		/// segments at most: change `audit_segments` or `verifiers`.
		BadAuditSegments,
		/// The price of a `ut` is zero.
		ZeroPrice,
		/// The fee of a verifier is below `MinAuditFee`, or below the price of the segments that it replays. That
		/// follows the market, and may have risen since it was quoted: raise `audit_fee` to what
		/// `TrainyardApi_audit_fee` says now, or a hundredth more, or leave it to the client.
		AuditFeeTooLow,
		/// The fee of a verifier is more than four times the least one of this job, which follows the market: lower
		/// `audit_fee` to four times what `TrainyardApi_audit_fee` says now, or leave it to the client. What a seat
		/// puts at stake follows from it, and few verifiers would have that.
		AuditFeeTooHigh,
		/// `apply_blocks` or `training_blocks` is below `MinPeriod` or above its maximum; `apply_blocks` of
		/// an ordered job is 144 at most.
		BadPeriods,
		/// Escrow or deposit would exceed the range of amounts.
		AmountOverflow,
		/// There are no numbers left for jobs.
		TooManyJobs,
		/// The trainer has no listing.
		NotListed,
		/// The price offered is below the listing's.
		PriceBelowListing,
		/// The job is larger than the listing takes.
		WorkAboveListing,
		/// A listing that takes no work at all makes no sense.
		ZeroWork,
		/// The account is not a registered trainer.
		NotATrainer,
		/// A submitter may not train its own job.
		SubmitterCannotTrain,
		/// The job was ordered from another trainer.
		NotInvited,
		/// The job of this number has another specification or other terms than the caller names:
		/// look at it again, a fork may have given its number to another job.
		OtherJob,
		/// The job does not take applications any more.
		NotOpen,
		/// The caller has applied already.
		AlreadyApplied,
		/// The list of applicants is full, and no bond in it is smaller than the caller's.
		TooManyApplicants,
		/// Only the submitter may do this.
		NotSubmitter,
		/// Someone has applied, so the job cannot be taken back.
		HasApplicants,
		/// The job is not waiting for anything that is overdue.
		NotOverdue,
		/// The job is not being trained or revealed. While it is audited there is nothing to
		/// agree about.
		NotRunning,
		/// The caller is neither the submitter nor a trainer still working on the job.
		NotAParty,
		/// The agreed pay may not exceed the price.
		PayAbovePrice,
		/// The job has not ended.
		NotEnded,
		/// The job ended too recently to be forgotten.
		StillRetained,
		/// A verifier would have to replay more work than a machine of the job's class does in a day:
		/// raise the number of checkpoints (a smaller `checkpoint_interval`), or lower
		/// `audit_segments` and raise `verifiers`.
		AuditTooLarge,
		/// The files of the job and the list of its checkpoints, which trainers must be able to store on chain
		/// where somebody cannot fetch them, are more than the blocks of the period `Rescue` can carry.
		/// States may be larger, since a committee relays them; these cannot be relayed: give it fewer
		/// rows, or a smaller initial model.
		RescueTooLarge,
		/// A step, an evaluation or the state needs more memory than a machine of the job's class
		/// has for it: lower `batch_size` or the widths of the layers.
		MemoryTooLarge,
		/// The decoded rows of the data are more than a machine of the job's class takes: give it
		/// fewer rows.
		RowsTooLarge,
		/// A verifier would have to fetch more than a machine of the job's class can in a round:
		/// lower `audit_segments` or `replicas`, or train a smaller model on fewer data.
		DownloadTooLarge,
		/// A verifier would have to replay more work than a machine of the job's class does in a day
		/// where all replicas bring different results: lower `replicas` or `audit_segments`, or raise
		/// the number of checkpoints.
		ResultsTooLarge,
		/// The part of the pay for undecided results is 0 to 100 percent.
		BadUndecidedPercent,
		/// The data may be more, once decompressed, than a machine of the job's class decodes in
		/// time: give it fewer rows, or a format that is not compressed.
		TextTooLarge,
		/// A step has more results than a dispute can be about: give the model fewer layers.
		TooManyResults,
		/// What was accepted can still be challenged, or is: wait for the event `LateProofOver`.
		StillAccusable,
		/// The decoded inputs or labels of the rows, which trainers must be able to store on chain as one
		/// blob where somebody lacks a row, are more than a blob may have: give it fewer rows, or fewer
		/// inputs a row.
		ContentTooLarge,
		/// The protocol fee for a `ut` of this job is above the `max_fee_per_ut` of the call: more was posted
		/// since it was quoted, or less was trained. Ask `TrainyardApi_quote` again, and name that or a little
		/// more, or wait: what is above the base fee fades in a day.
		FeeRose,
		/// No committee could be drawn for the audit of this job from the verifiers that there are, without its
		/// parties: fewer than three, or so few that all of them together would draw too little. Raise
		/// `audit_segments`, or name as many `verifiers` as there are (an odd number), or wait until more
		/// register.
		NoCommittee,
		/// `keep_every` is 1, by which trainers keep all states, to the number of segments.
		BadKeepEvery,
		/// Trainers would keep so few states that a machine of the job's class computes for more than a day until
		/// all are there again for which a committee may ask: lower `keep_every`, or the number of steps, or
		/// name a larger class of machines.
		RecomputeTooLong,
		/// A lottery must draw one of 2 to 128 segments.
		BadLottery,
		/// Of a job that pays by lottery each seat would replay more segments than it may, or nothing: with one of `n`
		/// segments drawn of `N`, raise `audit_segments` to `ceil(ceil(N / n) / verifiers)`, which is 16 at most, or
		/// `verifiers`, which are 3, or `ceil(N / n)` at most; or draw another part.
		BadLotteryDraws,
		/// A claim on pay can be offered and bought only while the result is audited: before, `agree` could settle the
		/// job at any pay.
		ClaimNotAudited,
		/// No trainer of this job with this account has a result in the audit: it delivered none, or it was convicted.
		NoSuchClaim,
		/// Only the holder of a claim may offer it.
		NotHolder,
		/// The claim is not on offer.
		ClaimNotOffered,
		/// Another holder, result or offer has come to stand there: look at it again.
		OtherClaim,
		/// More is known of the result than when the offer was made, so it has lapsed: the holder may make it again.
		ClaimLapsed,
		/// The price is above the `most` of the call.
		ClaimTooDear,
		/// The claim is on offer to another account.
		ClaimNotForYou,
		/// Nobody buys from itself, or offers to itself.
		OwnClaim,
		/// Some know more of the result than others: seats reveal, trainers open what they forced, somebody lacks what
		/// it asked for, or it has lost. Wait until the results stand, or another committee is drawn.
		ClaimInMotion,
		/// Something of the job is disputed, or announced to be: its trainers know who is right. Wait for the end.
		ClaimDisputed,
		/// A claim is on offer to a block to come.
		ClaimExpiry,
		/// The job does not pay by lottery: what it pays has no variance for a pool to carry.
		NoLottery,
		/// A ticket of the job, of all its replicas, is worth more than a seat pays that says nothing, so who owns one could
		/// take from a pool: post jobs of more segments, of a smaller `lottery`, or with a larger `audit_fee`.
		TicketTooDear,
		/// The job is trained for longer than the pool enrols: its members would wait for it.
		ClaimTooLong,
	}
}
