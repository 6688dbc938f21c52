//! Opens a peer: its folder, its endpoint, and its data.

use super::{roles_in, Options, Peer, PeerError};
use crate::{
	roles::report::Reporter,
	swarm::{
		board::Board,
		contact::Contact,
		journal::Journal,
		learner::{self, LearnError, Learner, Slice},
		models::Models,
		outer::Outer,
		position::{Folder, Position},
		service::Service,
		standing::Standing,
	},
};
use rand::{rngs::StdRng, SeedableRng};
use std::{
	collections::BTreeMap,
	path::PathBuf,
	sync::{Arc, Mutex},
	time::Duration,
};
use trainyard_proof::bundle::{files, tensors};
use trainyard_protocol::{
	model_file::Layout,
	swarm::{role, Averaging},
	Text,
};
use trainyard_transport::{Location, Node, SecretKey};

impl<B: Board> Peer<B> {
	/// Opens the folder and the data of a peer that is reached at these addresses of its endpoint, and serves.
	pub async fn open(
		board: B,
		(folder, position, key): (Folder, Position, SecretKey),
		(node, location): (Node, &Location),
		mut options: Options,
		report: Reporter,
	) -> Result<Self, PeerError> {
		let view = board.swarm().await?;
		let (template, private) = (view.template, view.plan.private);
		options.roles = roles_in(options.roles, private);
		let works = options.roles & (role::TRAIN | role::MIX) != 0;
		if private && works && options.data.is_empty() {
			return Err(PeerError::NoData(board.swarm_id()));
		}
		let text = location.to_string();
		let location = Text::new(&text).ok_or(PeerError::LongLocation(text))?;
		let learner = Learner::new(&template)?;
		let spec = learner::plain(&template).map_err(LearnError::from)?;
		let layout = Layout::of(&spec);
		let outer = match view.plan.averaging {
			Averaging::Pairs => None,
			Averaging::Outer(_) if options.sharing.is_some() || options.privacy.is_some() => {
				return Err(PeerError::OuterAlone);
			}
			Averaging::Outer(rule) => Some(Outer::open(&folder.path(""), &spec, rule)?),
		};
		let models = Models::open(&folder.path("models"), layout)?;
		let journal = Journal::open(&folder.path("tickets"), board.genesis())?;
		let contact = Contact::new(node, options.patience, Some(&folder.path("")));
		let look_again = options.pause.min(Duration::from_millis(500));
		let service = Service::new(board, models, contact, journal, look_again).await?;
		let service = Arc::new(service);
		let state = match &position.own {
			Some(own) => {
				let bytes = files::read(&folder.state(&own.root), u64::MAX)?;
				Some(Arc::new(tensors::decode(&bytes)?))
			}
			None => None,
		};
		let standing = Standing::new(options.pause, options.fresh);
		let seed = options.seed.unwrap_or_else(rand::random);
		let _server = service.serve();
		let remotes = service.models().roots();
		let mut peer = Self {
			service,
			folder,
			key,
			position,
			state,
			learner,
			outer,
			standing: Arc::new(Mutex::new(standing)),
			options,
			report,
			draw: StdRng::seed_from_u64(seed),
			location,
			totals: BTreeMap::new(),
			remotes,
			refusal: None,
			_server,
		};
		peer.hide(peer.does(role::TRAIN))?;
		peer.service.signed(&peer.position.signed);
		if let Some(outer) = &peer.outer {
			for (step, who) in &outer.position().false_ones {
				let why = format!("its contribution to step {step} is false");
				peer.standing().drop_for(who, &why);
			}
			peer.service.serve_outer(outer.files().clone());
			peer.save_outer()?;
		}
		peer.open_data(private).await?;
		Ok(peer)
	}

	/// Reads its slices, and those that it took from others before.
	async fn open_data(&mut self, private: bool) -> Result<(), PeerError> {
		let serves = self.options.roles & role::DATA != 0 && !private;
		for path in self.options.data.clone() {
			let slice = self.slice_at(path).await?;
			if let Some(privacy) = &self.options.privacy {
				privacy.check(&slice)?;
			}
			if serves {
				self.service.serve_slice(slice.data.clone(), slice.path.clone());
			}
			self.learner.add(slice);
		}
		if self.options.data.is_empty() {
			self.reopen_slices().await?;
		}
		Ok(())
	}

	async fn slice_at(&self, path: PathBuf) -> Result<Slice, PeerError> {
		let (template, me) = (self.learner.template().clone(), *self.me());
		let sharing = self.options.sharing.clone();
		let opening = move || Slice::open(&template, &path, &me)?.shared(sharing.as_ref());
		Ok(tokio::task::spawn_blocking(opening).await??)
	}
}
