//! What is wrong with a job is named with field, line and what is allowed.

use super::*;

#[test]
fn wrong_fields_are_named() {
	refused(
		"batch_size = 32",
		"batch_size = 0",
		"training.batch_size",
		"batch_size = 0",
		"it is 0; allowed: a whole number from 1 to 65536",
	);
	refused(
		"batch_size = 32",
		"batch_size = \"32\"",
		"training.batch_size",
		"batch_size = \"32\"",
		"the text \"32\"",
	);
	refused(
		"batch_size = 32",
		"batch_size = 32.5",
		"training.batch_size",
		"batch_size = 32.5",
		"allowed: a whole number",
	);
	refused(
		"batch_size = 32",
		"batch_size = -1",
		"training.batch_size",
		"batch_size = -1",
		"it is -1",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 0.0",
		"training.learning_rate",
		"learning_rate = 0.0",
		"a number from 0.000000001 to 1000",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 1e-10",
		"training.learning_rate",
		"learning_rate = 1e-10",
		"more than 9 decimals",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = nan",
		"training.learning_rate",
		"learning_rate = nan",
		"not a decimal number",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = \"fast\"",
		"training.learning_rate",
		"learning_rate = \"fast\"",
		"not a decimal number",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = -0.1",
		"training.learning_rate",
		"learning_rate = -0.1",
		"negative",
	);
	refused(
		"steps = 1500",
		"steps = 99999999999",
		"training.steps",
		"steps = 99999999999",
		"1 to 100000000",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = [64, 0]",
		"model.mlp.hidden",
		"hidden = [64, 0]",
		"one entry is 0",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = 64",
		"model.mlp.hidden",
		"hidden = 64",
		"it is 64; allowed: a list",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = []\nactivation = \"rleu\"",
		"model.mlp.activation",
		"activation = \"rleu\"",
		"did you mean relu?",
	);
	refused(
		"location = \"https:",
		"location = \"ftp:",
		"dataset.location",
		"location = \"ftp://example.org/digits.csv\"",
		"http://",
	);
	refused(
		"content_hash = \"01",
		"content_hash = \"",
		"dataset.content_hash",
		"content_hash = \"01010101010101010101010101010101010101010101010101010101010101\"",
		"62 characters",
	);
	refused(
		"price_per_ut = \"1000\"",
		"price_per_ut = \"0\"",
		"terms.price_per_ut",
		"price_per_ut = \"0\"",
		"at least 0.000000000001",
	);
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\nreplicas = 9",
		"terms.replicas",
		"replicas = 9",
		"from 1 to 8",
	);
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\naudit_segments = 17",
		"terms.audit_segments",
		"audit_segments = 17",
		"from 1 to 16",
	);
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\nverifiers = 4",
		"terms.verifiers",
		"verifiers = 4",
		"an odd number",
	);
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\nverifiers = 1",
		"terms.verifiers",
		"verifiers = 1",
		"from 3 to 15",
	);
	// What a seat replays is worth less than the least fee of all.
	for fee in ["audit_fee = 0.09", "audit_fee = 0.401"] {
		let what = "allowed: 0.1 TRY to 0.4 TRY. The least follows the market";
		refused("audit_fee = 0.15", fee, "terms.audit_fee", fee, what);
	}
}

#[test]
fn unknown_fields_are_named_with_a_suggestion() {
	refused(
		"feature_divisor = 16",
		"feature_devisor = 16",
		"dataset.feature_devisor",
		"feature_devisor = 16",
		"did you mean feature_divisor?",
	);
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\nreplica = 2",
		"terms.replica",
		"replica = 2",
		"did you mean replicas?",
	);
	refused("[terms]", "[term]", "term", "[term]", "did you mean terms?");
	refused(
		"audit_fee = 0.15",
		"audit_fee = 0.15\ncolour = 2",
		"terms.colour",
		"colour = 2",
		"[terms] may have: apply_blocks,",
	);
}

#[test]
fn missing_fields_are_named_at_their_section() {
	refused(
		"steps = 1500\n",
		"",
		"training.steps",
		"[training]",
		"missing; allowed: a whole number",
	);
	refused("learning_rate = 0.002\n", "", "training.learning_rate", "[training]", "missing");
	refused(
		"[training.optimizer.adamw]\n",
		"",
		"training.optimizer",
		"[training]",
		"[training.optimizer.adam] or",
	);
	refused("features = 64\n", "", "dataset.features", "[dataset]", "only be left out where path");
	refused("price_per_ut = \"1000\"\n", "", "terms.price_per_ut", "[terms]", "an amount of TRY");
	refused(
		"[training.optimizer.adamw]",
		"[training.optimizer.adamw]\n[training.optimizer.sgd]",
		"training.optimizer",
		"[training.optimizer.adamw]",
		"two optimizers",
	);
}

#[test]
fn rules_between_fields_are_named() {
	refused(
		"validation_rows = 359",
		"validation_rows = 360",
		"dataset.validation_rows",
		"validation_rows = 360",
		"validation_every",
	);
	refused(
		"checkpoint_interval = 50",
		"checkpoint_interval = 1501",
		"training.checkpoint_interval",
		"checkpoint_interval = 1501",
		"1 to 1500",
	);
	refused(
		"batch_size = 32",
		"batch_size = 1439",
		"training.batch_size",
		"batch_size = 1439",
		"train_rows",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 0.002\nlearning_rate_nano = 1",
		"training.learning_rate_nano",
		"learning_rate_nano = 1",
		"one of the two",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = [65536, 65536]",
		"model.mlp.hidden",
		"hidden = [65536, 65536]",
		"more than 268435456 parameters",
	);
}

#[test]
fn all_problems_are_reported_at_once_in_order() {
	let text = whole()
		.replace("batch_size = 32", "batch_size = 0")
		.replace("features = 64", "features = 0")
		.replace("audit_fee", "audit_fees");
	let error = read(&text).unwrap_err();
	let fields: Vec<&str> = error.problems.iter().map(|p| p.field.as_str()).collect();
	assert_eq!(fields, ["dataset.features", "training.batch_size", "terms.audit_fees"]);
}

#[test]
fn what_is_no_toml_is_named_by_line() {
	let error = read("[dataset]\npath = \n").unwrap_err();
	assert_eq!(error.problems[0].line, 2, "{error}");
	assert!(error.to_string().contains("this is not TOML"), "{error}");
	let error = read("").unwrap_err();
	assert!(error.problems.len() >= 3, "{error}");
}
