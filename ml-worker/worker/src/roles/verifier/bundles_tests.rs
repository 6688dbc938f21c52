//! Results that several trainers delivered, each in a bundle of its own.

use super::*;
use trainyard_proof::bundle::Bundle;
use trainyard_protocol::{forced, views::BundleView};

/// A secret by which this leaf alone is forced.
fn secret_of(leaf: u32, not: u8) -> forced::Secret {
	let mut secrets = (0..=255).filter(|n| *n != not).map(|n| [n; 32]);
	secrets.find(|secret| forced::indices(&SEED, secret, 6) == [leaf]).unwrap()
}

/// Of two trainers of one result the one whose bundle the chain names serves nothing. The seat looks at the
/// other one's, says at which, and finds what is forced there. It stays with it.
#[tokio::test(flavor = "multi_thread")]
async fn who_withholds_its_bundle_keeps_nobody_from_the_result() {
	let mut scene = scene().await;
	scene.audit.groups.remove(0);
	let out = scene.folder.path().join("honest");
	let bundle = Bundle::open(&out).unwrap();
	let shown_by = |secret: forced::Secret| {
		bundle.force(&secret).unwrap();
		bundle.result().unwrap()
	};
	// Segments 0 and 2 are drawn.
	let own = secret_of(1, 0);
	let (away, here) = (shown_by(secret_of(1, own[0])), shown_by(own));
	assert!(away != here && away.common() == here.common());
	let shelf = Shelf::default();
	let roots = [here.bundle_root, here.true_root];
	shelf.set(roots.map(|root| (root, out.clone())).into(), Default::default());
	let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
	let urls = ["http://127.0.0.1:1".to_owned(), format!("http://{}", server.address())];
	let mut group = fake::group(away);
	for ((replica, result), url) in scene.job.replicas.iter_mut().zip([away, here]).zip(urls) {
		let reveal = replica.reveal.as_mut().unwrap();
		(reveal.bundle_root, reveal.true_root) = (result.bundle_root, result.true_root);
		(reveal.model_root, reveal.location) = (result.model_root, Text::new(&url).unwrap());
		let (trainer, root) = (replica.trainer, result.bundle_root);
		group.bundles.push(BundleView { trainer, root, forced: None });
	}
	scene.audit.groups = vec![group];
	let verifier = verifier(&scene.folder.path().join("seat")).await;
	let data = verifier.home.data(&scene.job.spec.dataset.content_hash);
	std::fs::copy(scene.folder.path().join("table.csv"), data).unwrap();
	let folder = verifier.folder(&scene.job, &scene.audit);
	for _ in 0..2 {
		let stop = Arc::new(AtomicBool::new(false));
		verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
		let found = verifier.home.load_findings(&folder).unwrap().unwrap();
		let GroupVerdict::Replayed(replayed) = &found.findings.verdicts[0] else {
			panic!("{found:?}")
		};
		assert_eq!(replayed.bundle, 1);
		let differs: Vec<bool> = replayed.evidence.iter().map(|e| e.differs.is_some()).collect();
		assert_eq!(differs, [true, false]);
		let mut looked = scene.audit.clone();
		looked.groups[0].result = here;
		check(&looked, &me(), &found);
		assert_eq!(super::super::super::bundles::looked_at(&scene.audit, &me(), &folder), looked);
		// Nobody serves anything any more, and the chain names the bundle of whoever is left.
		scene.job.replicas[1].reveal.as_mut().unwrap().location =
			Text::new("http://127.0.0.1:1").unwrap();
		std::fs::remove_file(folder.join("findings.json")).unwrap();
	}
	// Its trainer is convicted: whoever has not committed looks at the bundle that the chain names.
	let looked_at = super::super::super::bundles::looked_at;
	scene.audit.groups[0].convicted = vec![scene.audit.groups[0].bundles[1].trainer];
	let of = |audit: &AuditView| looked_at(audit, &me(), &folder).groups[0].result;
	assert_eq!(of(&scene.audit), away);
	let mut seats = scene.audit.committee.iter_mut();
	seats.find(|member| member.verifier == me()).unwrap().commitment = Some(H256([1; 32]));
	assert_eq!(of(&scene.audit), here);
}
