use super::*;
use crate::roles::{
	fetch::Locations,
	http::{Server, Shelf},
};
use axum::{extract::Request as Asked, response::IntoResponse, Router};
use std::{
	collections::HashMap,
	path::Path,
	sync::{
		atomic::{AtomicU32, Ordering},
		Arc,
	},
	time::Instant,
};
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_program::{
	lower,
	spec::{Activation, CheckedSpec, JobSpec, Model},
};
use trainyard_proof::{
	bundle::{hash_of_state, max_checkpoint_bytes, tensors, Bundle},
	testing,
	verify::movement::{Fault, Levels, Local, Measure, Movement, Walk},
};
use trainyard_protocol::H256;

/// What a VRF gave a seat.
const OUTPUT: H256 = H256([9; 32]);

fn fetcher() -> Fetcher {
	Fetcher::new(2, Duration::from_millis(10), Locations::Any).unwrap()
}

/// A trained bundle, a server that has it, and a folder that has nothing yet.
struct Scene {
	folder: tempfile::TempDir,
	bundle: Bundle,
	server: Server,
	shelf: Shelf,
}

impl Scene {
	/// With states of more than 64 KiB, or of fewer.
	async fn new(large: bool) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let data = testing::table(folder.path());
		let hidden = if large { vec![128, 128] } else { vec![8] }.try_into().unwrap();
		let spec = testing::changed(&testing::job(&data), |spec| {
			spec.model = Model::Mlp { hidden, activation: Activation::Relu };
			spec.training.learning_rate_nano = 1_000_000;
		});
		let out = folder.path().join("bundle");
		let bundle = testing::train(&spec, &data, &out, false, None).unwrap();
		let shelf = Shelf::default();
		shelf.set(HashMap::from([(bundle.root(), out)]), HashMap::new());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf.clone()).await.unwrap();
		Self { folder, bundle, server, shelf }
	}

	fn spec(&self) -> &CheckedSpec {
		&self.bundle.manifest().spec
	}

	fn file(&self, checkpoint: usize) -> PathBuf {
		let step = self.bundle.manifest().checkpoints[checkpoint].step;
		self.folder.path().join("bundle").join(checkpoint_file(step))
	}

	fn place(&self, base: Option<String>) -> Place {
		let most_bytes = max_checkpoint_bytes(self.spec());
		Place { folder: self.folder.path().join("result"), base, most_bytes }
	}

	fn base(&self) -> String {
		format!("http://{}/bundle/{}", self.server.address(), hex::encode(self.bundle.root()))
	}

	fn served(&self) -> Place {
		self.place(Some(self.base()))
	}

	fn walk(&self) -> Walk<'_> {
		Walk::of_bundle(&self.bundle, Measure::Moments, &OUTPUT)
	}

	/// What the files of the bundle give.
	fn expected(&self) -> Movement {
		self.walk().run(&mut Local(self.folder.path().join("bundle"))).unwrap()
	}
}

/// Reads the rest of a run from `place`.
async fn read(walk: &mut Walk<'_>, place: &Place, came: &mut Came) -> Result<Movement, Fault> {
	let fetcher = fetcher();
	while let Some(request) = walk.request() {
		let answer = place.open(&fetcher, &request, came).await;
		walk.answer(&request, answer)?;
	}
	Ok(walk.movement())
}

#[tokio::test]
async fn a_run_is_read_from_a_server_without_its_states() {
	for large in [false, true] {
		let scene = Scene::new(large).await;
		let whole = std::fs::metadata(scene.file(0)).unwrap().len();
		assert_eq!(max_checkpoint_bytes(scene.spec()) > WHOLE_FILE, large);
		let (mut came, place) = (Came::default(), scene.served());
		let movement = read(&mut scene.walk(), &place, &mut came).await.unwrap();
		assert_eq!(movement, scene.expected());
		assert_eq!(came.answers, 7, "one of each checkpoint");
		match large {
			false => assert_eq!(came.bytes, 7 * whole),
			true => assert!(came.bytes < 7 * whole / 2, "{came:?} of {whole}"),
		}
		assert!(!place.folder.exists(), "nothing is written");
	}
}

/// What was measured before a kill is not asked for again.
#[tokio::test]
async fn a_reading_that_was_killed_goes_on() {
	let scene = Scene::new(true).await;
	let kept = scene.folder.path().join("movement");
	let gone = std::fs::read(scene.file(4)).unwrap();
	std::fs::remove_file(scene.file(4)).unwrap();
	let mut came = Came::default();
	let mut walk = scene.walk();
	walk.keep_in(&kept).unwrap();
	let fault = read(&mut walk, &scene.served(), &mut came).await.unwrap_err();
	let Fault::Missing { checkpoint: 4, why, .. } = &fault else { panic!("{fault}") };
	assert!(why.contains("404"), "{why}");
	assert_eq!((walk.segments(), came.answers), (3, 4));
	drop(walk);
	std::fs::write(scene.file(4), gone).unwrap();
	let (mut walk, mut came) = (scene.walk(), Came::default());
	walk.keep_in(&kept).unwrap();
	assert_eq!(read(&mut walk, &scene.served(), &mut came).await.unwrap(), scene.expected());
	assert_eq!(came.answers, 4, "checkpoint 3 again, and 4 to 6");
}

/// States that are here are not asked for, unless they are others.
#[tokio::test]
async fn what_is_here_is_not_asked_for() {
	let scene = Scene::new(true).await;
	let (place, mut came) = (scene.served(), Came::default());
	let own = |checkpoint: usize| {
		let step = scene.bundle.manifest().checkpoints[checkpoint].step;
		place.folder.join(checkpoint_file(step))
	};
	std::fs::create_dir_all(own(0).parent().unwrap()).unwrap();
	for checkpoint in [0, 2, 3] {
		std::fs::copy(scene.file(checkpoint), own(checkpoint)).unwrap();
	}
	// Another state, and a file that is none.
	std::fs::copy(scene.file(3), own(4)).unwrap();
	std::fs::write(own(5), b"no state").unwrap();
	assert_eq!(read(&mut scene.walk(), &place, &mut came).await.unwrap(), scene.expected());
	assert_eq!(came.answers, 4);
	// Without a server the first that is not here is missing.
	let fault = read(&mut scene.walk(), &scene.place(None), &mut came).await.unwrap_err();
	assert!(matches!(fault, Fault::Missing { checkpoint: 1, .. }), "{fault}");
}

#[tokio::test]
async fn what_a_server_gives_is_not_believed() {
	for large in [false, true] {
		let scene = Scene::new(large).await;
		let mut state = tensors::decode(&std::fs::read(scene.file(3)).unwrap()).unwrap();
		state.get_mut("layers.0.bias").unwrap().data[0] += 1.0;
		let forged = tensors::encode(&state);
		std::fs::write(scene.file(3), &forged).unwrap();
		let mut came = Came::default();
		let fault = read(&mut scene.walk(), &scene.served(), &mut came).await.unwrap_err();
		assert!(matches!(fault, Fault::Wrong { checkpoint: 3, .. }), "{fault}");
		// Where that state was committed to, and holds a number that no run has, this is named.
		state.get_mut("layers.0.bias").unwrap().data[0] = f32::INFINITY;
		let forged = tensors::encode(&state);
		std::fs::write(scene.file(3), &forged).unwrap();
		let checkpoints = &scene.bundle.manifest().checkpoints;
		let mut listed: Vec<_> = checkpoints.iter().map(|c| (c.step, c.state_hash)).collect();
		listed[3].1 = hash_of_state(&forged).unwrap();
		let mut walk = Walk::new(scene.spec(), listed, false, Measure::Parameters, &OUTPUT);
		let fault = read(&mut walk, &scene.served(), &mut came).await.unwrap_err();
		assert!(matches!(fault, Fault::NotFinite { checkpoint: 3, .. }), "{fault}");
		// It is taken down.
		scene.shelf.set(HashMap::new(), HashMap::new());
		let fault = read(&mut scene.walk(), &scene.served(), &mut came).await.unwrap_err();
		assert!(matches!(fault, Fault::Missing { checkpoint: 0, .. }), "{fault}");
	}
}

/// Where not all states are kept, those that are are read first and then two stretches, and whoever has only the kept
/// ones shows in which stretch it is.
#[tokio::test]
async fn a_run_of_which_not_all_states_are_kept_is_read_in_two_levels() {
	let scene = Scene::new(false).await;
	let listed = || scene.bundle.manifest().checkpoints.iter().map(|c| (c.step, c.state_hash));
	let levels = |every| Levels {
		spec: scene.spec(),
		checkpoints: listed().collect(),
		diverged: false,
		measure: Measure::Moments,
		output: OUTPUT,
		every,
	};
	let (folder, fetcher, place) = (tempfile::tempdir().unwrap(), fetcher(), scene.served());
	let read = async |every: u32, name: &str| {
		let mut came = Came::default();
		let note = |_: &Walk<'_>, _: &Came| Ok(());
		let at = (folder.path(), name);
		let picked = farthest(&levels(every), at, &place, &fetcher, &mut came, note).await;
		(picked, came.answers)
	};
	let (picked, answers) = read(1, "all").await;
	assert_eq!(picked, Ok(scene.expected().pick().map(|pick| pick.segment)));
	assert_eq!(answers, 7);
	// States 0, 3 and 6, and all of both stretches.
	let (picked, answers) = read(3, "levels").await;
	assert!(matches!(picked, Ok(Some(1..=4))), "{picked:?}");
	assert_eq!(answers, 3 + 4 + 4);
	assert_eq!(read(3, "levels").await, (picked, 0), "what was read is not read again");
	for index in [1, 2, 4, 5] {
		std::fs::remove_file(scene.file(index)).unwrap();
	}
	let (unread, answers) = read(3, "few").await;
	assert_eq!(unread.map_err(|unread| unread.stretch), Err(Some(1)));
	assert_eq!(answers, 3 + 1);
	std::fs::remove_file(scene.file(3)).unwrap();
	let (unread, _) = read(3, "fewer").await;
	assert_eq!(unread.map_err(|unread| unread.stretch), Err(None));
}

/// Serves what `answer` makes of the number of the request.
async fn serving(answer: impl Fn(u32) -> (u16, Vec<u8>) + Clone + Send + Sync + 'static) -> String {
	let (listener, asked) = (
		tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(),
		Arc::new(AtomicU32::default()),
	);
	let url = format!("http://{}", listener.local_addr().unwrap());
	let routes = Router::new().fallback(move |_: Asked| {
		let (status, body) = answer(asked.fetch_add(1, Ordering::Relaxed));
		async move { (axum::http::StatusCode::from_u16(status).unwrap(), body).into_response() }
	});
	tokio::spawn(async move { axum::serve(listener, routes).await });
	url
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_and_garbage_is_named() {
	let scene = Scene::new(true).await;
	let request = scene.walk().request().unwrap();
	let opening = Opening::of_file(&scene.file(0), &request.parts).unwrap();
	let right = codec::Encode::encode(&opening);
	let (fetcher, mut came) = (fetcher(), Came::default());
	// More often than a fetcher tries by itself.
	let body = right.clone();
	let busy = serving(move |number| match number {
		0..3 => (503, b"busy".to_vec()),
		_ => (200, body.clone()),
	})
	.await;
	let place = scene.place(Some(busy));
	assert_eq!(place.open(&fetcher, &request, &mut came).await, Ok(opening));
	assert_eq!(came, Came { answers: 1, bytes: right.len() as u64 });
	let longer = [&right[..], &[0]].concat();
	for (body, text) in [
		(b"no opening".to_vec(), "something else than openings"),
		(right[..right.len() - 1].to_vec(), "something else than openings"),
		(longer, "something else than openings"),
		(vec![0; 1 << 20], "serves more than the"),
	] {
		let place = scene.place(Some(serving(move |_| (200, body.clone())).await));
		let error = place.open(&fetcher, &request, &mut came).await.unwrap_err();
		assert!(error.contains(text), "{error}");
	}
}

/// What reading a run costs. Run it by `cargo test --release --locked -p trainyard-worker --lib
/// roles::openings::tests::costs -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "it measures"]
async fn costs() {
	const CHECKPOINTS: u32 = 12;
	let spec = |features: u32, hidden: Vec<u32>| {
		let mut spec = JobSpec::example();
		spec.dataset.features = features;
		let hidden = hidden.try_into().unwrap();
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		(spec.training.steps, spec.training.checkpoint_interval) = (1_000, 1);
		spec.check().unwrap()
	};
	println!(
		"| job | by | tensors | state, bytes | an answer, bytes | 1,000 segments, MB | an answer, s |"
	);
	for (name, spec) in
		[("64-64-32-10", spec(64, vec![64, 32])), ("8 layers of 512", spec(512, vec![512; 7]))]
	{
		let folder = tempfile::tempdir().unwrap();
		let mut listed = Vec::new();
		for step in 0..CHECKPOINTS {
			let path = folder.path().join("bundle").join(checkpoint_file(step));
			std::fs::create_dir_all(path.parent().unwrap()).unwrap();
			listed.push((step, write_state(&spec, step, &path)));
		}
		let (root, shelf) = (H256([1; 32]), Shelf::default());
		shelf.set(HashMap::from([(root, folder.path().join("bundle"))]), HashMap::new());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let base = format!("http://{}/bundle/{}", server.address(), hex::encode(root));
		let (most_bytes, nowhere) = (max_checkpoint_bytes(&spec), folder.path().join("result"));
		let place = Place { folder: nowhere, base: Some(base), most_bytes };
		let first = folder.path().join("bundle").join(checkpoint_file(0));
		let state = std::fs::metadata(first).unwrap().len();
		for measure in Measure::ALL {
			let mut walk = Walk::new(&spec, listed.clone(), false, measure, &OUTPUT);
			let (mut came, begun) = (Came::default(), Instant::now());
			read(&mut walk, &place, &mut came).await.unwrap();
			let seconds = begun.elapsed().as_secs_f64() / f64::from(CHECKPOINTS);
			assert_eq!(came.answers, u64::from(CHECKPOINTS));
			let bytes = came.bytes / came.answers;
			let (megabytes, tensors) = (bytes as f64 / 1e3, walk.plan().parts().len());
			println!(
				"| {name} | {measure:?} | {tensors} | {state} | {bytes} | {megabytes:.1} | {seconds:.4} |"
			);
		}
	}
}

/// Writes a state that differs from step to step, and returns its hash.
fn write_state(spec: &CheckedSpec, step: u32, path: &Path) -> H256 {
	let state: TensorMap = lower::state(spec)
		.into_iter()
		.map(|t| {
			let length = t.shape.iter().product::<u32>();
			let data = (0..length).map(|i| (i as f32 + 0.001 * step as f32).sin()).collect();
			(t.name, Tensor32 { shape: t.shape, data })
		})
		.collect();
	let bytes = tensors::encode(&state);
	std::fs::write(path, &bytes).unwrap();
	hash_of_state(&bytes).unwrap()
}
