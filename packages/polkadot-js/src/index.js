// What other programs use of this package.

export * from './chain.js';
export * from './cid.js';
export * from './errors.js';
export * from './hash.js';
export { describeRows } from './rows.js';
export * from './seal.js';
export * from './spec.js';
export * from './summary.js';
export * from './table.js';
export * from './units.js';
export * from './views.js';
export { federation, openFederation } from './commands/federation.js';
export { fetchBlob, modelRootOf } from './commands/fetch-model.js';
export { blobCids } from './commands/model-cids.js';
export { versions } from './commands/model-log.js';
export { leastAuditFee, postJob, quote, withAuditFee } from './commands/submit-job.js';
export { postTask, storeBlob, task, taskOutput, taskSpec, taskTerms, followTask } from './commands/task.js';
export { trainers } from './commands/trainers.js';
export { follow, standing } from './commands/watch-job.js';
