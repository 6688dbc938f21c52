//! Serves to other seats what this verifier fetched for the audits in which it sits, and knows where
//! they serve.
//!
//! What is served are the folders of results, by their bundle roots, and the files of jobs in the
//! cache, by their hashes: the same paths as on a trainer's server, so that a seat asks the other
//! seats like one trainer more. Of a folder it serves what a [`Shelf`] does, the files of a bundle that
//! are there: manifest, checkpoints, and the data of the job until they go into the cache; of a relay of the
//! rows the files that it has for that. All of it came from a trainer or the submitter. What was replayed, found and asked for lies elsewhere or
//! under other names, and nothing that was computed is ever written there. Whoever fetches checks
//! every byte against the revealed roots and the job's hashes.

use super::VerifierError;
use crate::roles::{
	common::serving::{serve_by, IrohArgs, Served},
	fetch::{self, Locations, Over},
	http::Shelf,
	run::RoleError,
	store::{result_folder, Home},
};
use rand::seq::SliceRandom;
use std::{
	collections::HashMap,
	net::SocketAddr,
	path::{Path, PathBuf},
};
use tracing::{info, warn};
use trainyard_client::{AccountId32, AuditView, JobView};
use trainyard_program::spec::JobSpec;
use trainyard_proof::bundle;
use trainyard_protocol::{job::WorkResult, Text, H256};

/// The server of a verifier.
pub(super) struct Relay {
	shelf: Shelf,
	location: Option<Text>,
	_served: Served,
}

/// What is served after a look at the audits.
#[derive(Default)]
pub(super) struct Fetched {
	bundles: HashMap<H256, PathBuf>,
	blobs: HashMap<H256, PathBuf>,
}

impl Fetched {
	/// Adds the results of an audit, whose round has this folder, and the files of its job.
	pub(super) fn add(&mut self, home: &Home, job: &JobView, audit: &AuditView, folder: &Path) {
		for (index, group) in audit.groups.iter().enumerate() {
			self.add_bundle(&group.result, result_folder(folder, index));
		}
		for (_, file) in job.spec.files() {
			self.blobs.insert(file.content_hash, home.data(&file.content_hash));
		}
	}
}

impl Fetched {
	/// Adds a result of which there is a part in `dir`: the manifest by the root of the bundle, and all
	/// states by the root that its trainers have in common.
	pub(super) fn add_bundle(&mut self, result: &WorkResult, dir: PathBuf) {
		self.bundles.insert(result.true_root, dir.clone());
		self.bundles.insert(result.bundle_root, dir);
	}

	/// Adds those files of a job that are in `dir`.
	pub(super) fn add_files(&mut self, spec: &JobSpec, dir: &Path) {
		for (which, file) in spec.files() {
			let path = dir.join(bundle::input_file(which));
			// The same file may be served for an audit, from elsewhere.
			if path.is_file() {
				self.blobs.insert(file.content_hash, path);
			}
		}
	}
}

impl Relay {
	/// Starts the server. Other daemons are taken to fetch from the `locations` that this one does.
	pub(super) async fn start(
		(listen, public_url): (SocketAddr, Option<&str>),
		iroh: (&IrohArgs, Over),
		locations: Locations,
		home: &Home,
	) -> Result<Self, RoleError<VerifierError>> {
		let shelf = Shelf::default();
		let served = serve_by((listen, public_url), iroh, home, shelf.clone()).await?;
		let location = served.location.clone();
		let location = match locations.check(&location.to_string_lossy()) {
			Ok(()) => Some(location),
			Err(e) if public_url.is_some() => {
				warn!("other verifiers will not fetch what this one serves, see --public-url: {e}");
				None
			}
			Err(_) => {
				info!(
					"other verifiers cannot fetch here what a trainer does not give them: \
					 see --listen and --public-url"
				);
				None
			}
		};
		Ok(Self { shelf, location, _served: served })
	}

	/// Serves exactly this from now on.
	pub(super) fn serve(&self, fetched: Fetched) {
		self.shelf.set(fetched.bundles, fetched.blobs);
	}

	/// Returns under which URL other seats reach it; none where they would not fetch from there.
	pub(super) fn location(&self) -> Option<&Text> {
		self.location.as_ref()
	}
}

/// Returns the base URLs of the other seats of an audit, in random order: where all lack the same, they
/// do not ask the same seat first.
pub(super) fn others(audit: &AuditView, me: &AccountId32) -> Vec<String> {
	let others = audit.committee.iter().filter(|member| member.verifier != *me);
	let mut urls: Vec<String> = others
		.filter_map(|member| fetch::server(&member.location.as_ref()?.to_string_lossy()))
		.collect();
	urls.shuffle(&mut rand::rng());
	urls
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, MemberView};
	use trainyard_protocol::audit::AuditPhase;

	async fn relay(
		listen: &str,
		public_url: Option<&str>,
		locations: Locations,
		home: &Home,
	) -> Result<Relay, RoleError<VerifierError>> {
		let at = (listen.parse().unwrap(), public_url);
		Relay::start(at, (&IrohArgs::default(), Over::default()), locations, home).await
	}

	fn me(n: u8) -> AccountId32 {
		AccountId32([n; 32])
	}

	fn audit(locations: [Option<&str>; 3]) -> AuditView {
		let member = |(n, location): (u8, Option<&str>)| MemberView {
			location: location.and_then(Text::new),
			..fake::member(me(n))
		};
		let committee = (1..).zip(locations).map(member).collect();
		AuditView { committee, ..fake::audit(AuditPhase::Committing { until: 9 }, vec![]) }
	}

	#[test]
	fn the_other_seats_are_asked_where_they_serve() {
		let audit = audit([Some("http://203.0.113.1:1"), None, Some("http://203.0.113.3:3/")]);
		assert_eq!(others(&audit, &me(1)), ["http://203.0.113.3:3"]);
		assert_eq!(others(&audit, &me(2)).len(), 2);
	}

	#[test]
	fn nobody_is_always_the_first_that_is_asked() {
		let audit = audit([None, Some("http://203.0.113.1"), Some("http://203.0.113.2")]);
		let first: std::collections::BTreeSet<String> =
			(0..200).map(|_| others(&audit, &me(1)).swap_remove(0)).collect();
		assert_eq!(first.len(), 2);
	}

	#[tokio::test]
	async fn a_location_is_one_from_which_others_would_fetch() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let here = "127.0.0.1:0";
		let any = relay(here, None, Locations::Any, &home).await.unwrap();
		assert!(any.location().unwrap().to_string_lossy().starts_with("http://127.0.0.1:"));
		drop(any);
		let hidden = relay(here, None, Locations::Public, &home).await.unwrap();
		assert_eq!(hidden.location(), None, "nobody else reaches this machine's own address");
		let private = relay(here, Some("http://10.0.0.1"), Locations::Public, &home).await.unwrap();
		assert_eq!(private.location(), None);
		let url = Some("https://verifier.example/x/");
		let public = relay(here, url, Locations::Public, &home).await.unwrap();
		assert_eq!(public.location(), Text::new("https://verifier.example/x").as_ref());
		let anywhere = relay("0.0.0.0:0", None, Locations::Public, &home).await;
		assert!(matches!(anywhere, Err(RoleError::Own(VerifierError::Serving(_)))));
	}
}
