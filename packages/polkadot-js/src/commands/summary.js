// Prints where the money of jobs went, and checks that it adds up.

import { job as jobView } from '../chain.js';
import { jobNumber } from '../cli.js';
import { UserError } from '../errors.js';
import { summary } from '../summary.js';
import { conservation } from '../views.js';

export default {
	name: 'summary',
	usage: 'JOB… [flags]',
	about: 'Prints jobs side by side: work, price, verdicts, and where the money went.',
	positionals: [1, 16],
	flags: {},
	prepare: (_, ids) => ids.map(jobNumber),
	async run({ api, prepared: ids, print }) {
		const jobs = await Promise.all(ids.map((id) => jobView(api, id)));
		ids.forEach((id, index) => {
			if (jobs[index] === null) throw new UserError(`there is no job ${id} on this chain (or it was forgotten)`);
		});
		print(summary(jobs), jobs);
		const over = jobs.filter((job) => job.settlement && job.state.ended);
		const wrong = over.flatMap((job) => conservation(job).map((sentence) => `job ${job.id}: ${sentence}`));
		if (wrong.length > 0) throw new UserError(`the money does not add up: ${wrong.join('; ')}`);
	},
};
