//! The records from which certificates are read are laid out in `trainyard-certificate` a second time, since
//! no worker imports a pallet. They must be those of this runtime: whoever changes one of them raises
//! `spec_version`, and adds the new layout beside the old one there.

use scale_info::{
	form::PortableForm, MetaType, PortableRegistry, Registry, Type, TypeDef, TypeInfo,
};
use trainyard_certificate::{
	finality::authorities_key,
	keys::Key,
	records::{self, Defendant},
};
use trainyard_protocol::{audit::Findings, H256};
use trainyard_runtime::{AccountId, Runtime, VERSION};

/// Returns how a type is encoded, with the names of fields and variants: names of types do not count, nor
/// do types of one field without a name, as bounded vectors are.
fn shape<T: TypeInfo + 'static>() -> String {
	let mut registry = Registry::new();
	let id = registry.register_type(&MetaType::new::<T>()).id;
	written(&PortableRegistry::from(registry), id)
}

fn written(types: &PortableRegistry, id: u32) -> String {
	let Some(Type { type_def, .. }) = types.resolve(id) else { panic!("type {id}") };
	let of = |id: u32| written(types, id);
	match type_def {
		TypeDef::Composite(composite) => fields(types, &composite.fields),
		TypeDef::Variant(variants) => {
			let variant = |variant: &scale_info::Variant<PortableForm>| {
				let inner = fields(types, &variant.fields);
				format!("{} {} {inner}", variant.index, variant.name)
			};
			format!("<{}>", variants.variants.iter().map(variant).collect::<Vec<_>>().join(" | "))
		}
		TypeDef::Sequence(sequence) => format!("[{}]", of(sequence.type_param.id)),
		TypeDef::Array(array) => format!("[{}; {}]", of(array.type_param.id), array.len),
		TypeDef::Tuple(tuple) => {
			format!(
				"({})",
				tuple.fields.iter().map(|field| of(field.id)).collect::<Vec<_>>().join(", ")
			)
		}
		TypeDef::Primitive(primitive) => format!("{primitive:?}"),
		TypeDef::Compact(compact) => format!("compact {}", of(compact.type_param.id)),
		TypeDef::BitSequence(_) => "bits".into(),
	}
}

fn fields(types: &PortableRegistry, fields: &[scale_info::Field<PortableForm>]) -> String {
	match fields {
		[field] if field.name.is_none() => written(types, field.ty.id),
		fields => {
			let one = |field: &scale_info::Field<PortableForm>| {
				let name = field.name.as_deref().unwrap_or("");
				format!("{name}: {}", written(types, field.ty.id))
			};
			format!("{{{}}}", fields.iter().map(one).collect::<Vec<_>>().join(", "))
		}
	}
}

#[test]
fn layouts_are_those_of_the_pallets() {
	assert_eq!(shape::<records::Job>(), shape::<pallet_task_market::Job<AccountId>>());
	assert_eq!(shape::<records::Late>(), shape::<pallet_task_market::Late<AccountId>>());
	assert_eq!(shape::<records::Round>(), shape::<pallet_submissions::Round<AccountId>>());
	assert_eq!(shape::<records::Audit>(), shape::<pallet_verification::AuditOf<Runtime>>());
	assert_eq!(shape::<records::Standing>(), shape::<trainyard_traits::Standing>());
	assert_eq!(shape::<Defendant>(), shape::<trainyard_traits::Defendant<AccountId>>());
	assert_eq!(shape::<records::Blob>(), shape::<pallet_model_storage::BlobOf<Runtime>>());
	let dispute = shape::<Option<u64>>();
	assert_eq!(dispute, shape::<Option<trainyard_traits::DisputeId>>());
	// Findings are a type of the protocol, which both take from there.
	assert!(shape::<Findings<AccountId>>().contains("evidence"));
	assert_ne!(shape::<records::Job>(), shape::<records::Late>());
}

#[test]
fn this_version_is_known() {
	assert_eq!(VERSION.spec_name, records::RUNTIME_NAME);
	assert!(
		records::RUNTIME_VERSIONS.contains(&VERSION.spec_version),
		"add {} to RUNTIME_VERSIONS in ml-worker/certificate/src/records.rs if the layouts are the same",
		VERSION.spec_version
	);
}

#[test]
fn keys_are_those_of_the_pallets() {
	let (job, who, root) = (7, AccountId::new([3; 32]), H256([4; 32]));
	let first: Vec<Vec<u8>> = records::first_keys(job).into_iter().map(|key| key.bytes).collect();
	assert_eq!(
		first,
		[
			frame_system::LastRuntimeUpgrade::<Runtime>::hashed_key().to_vec(),
			pallet_task_market::Jobs::<Runtime>::hashed_key_for(job),
			pallet_task_market::Specs::<Runtime>::hashed_key_for(job),
			pallet_task_market::Lates::<Runtime>::hashed_key_for(job),
			pallet_submissions::Rounds::<Runtime>::hashed_key_for(job),
			pallet_verification::AuditRecords::<Runtime>::hashed_key_for(job),
			pallet_court::Standings::<Runtime>::hashed_key_for(job),
		]
	);
	let same = |key: Key, other: Vec<u8>| assert_eq!(key.bytes, other, "{}", key.name);
	same(
		records::verdict_key(job, &who),
		pallet_verification::Verdicts::<Runtime>::hashed_key_for(job, &who),
	);
	for (ours, theirs) in [
		(
			Defendant::Trainer { job, who: who.clone() },
			trainyard_traits::Defendant::Trainer { job, who: who.clone() },
		),
		(
			Defendant::Seat { job, who: who.clone(), bundle_root: root },
			trainyard_traits::Defendant::Seat { job, who: who.clone(), bundle_root: root },
		),
	] {
		let theirs = pallet_court::Convicted::<Runtime>::hashed_key_for(job, &theirs);
		same(records::conviction_key(job, &ours), theirs);
	}
	same(records::blob_key(&root), pallet_model_storage::Blobs::<Runtime>::hashed_key_for(root));
	same(authorities_key(), pallet_grandpa::Authorities::<Runtime>::hashed_key().to_vec());
}
