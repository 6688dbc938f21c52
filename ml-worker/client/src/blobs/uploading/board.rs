//! The chain as an uploader sees it, and the file that it reads.

use crate::{
	blobs::{downloading, in_file, BlobError, Outline},
	calls, BlobView, Chain, ChainError, Form, Head, Refusal, Transactor, TxError,
};
use std::{
	collections::BTreeSet,
	fs::File,
	future::Future,
	io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom},
	path::{Path, PathBuf},
	sync::Arc,
};
use tokio::sync::Mutex;
use trainyard_protocol::H256;
use trainyard_seal::{PublicKey, SealError, Sealer};

/// A file that is to be stored.
pub struct Source {
	path: PathBuf,
	outline: Outline,
	base: Option<Base>,
	/// Seals what is read, where the file is stored sealed.
	sealer: Option<Arc<Sealer>>,
}

/// Another blob, and the chunks that are the same there.
struct Base {
	root: H256,
	same: BTreeSet<u32>,
}

/// What is sent of a chunk.
pub(super) enum Parcel {
	/// Its bytes.
	Bytes(Vec<u8>),
	/// The root of the blob that has it at the same place.
	SameAs(H256),
}

impl Source {
	/// Reads the file at `path` once, to know its root. It must not change until it is stored.
	///
	/// # Errors
	///
	/// Fails where it cannot be read, and with [`BlobError::Empty`].
	pub async fn open(path: &Path) -> Result<Self, BlobError> {
		let outline = in_file(path, |path| {
			let file = File::open(path)?;
			let size = file.metadata()?.len();
			match size {
				0 => Ok(None),
				size => Outline::of(BufReader::with_capacity(1 << 20, file), size).map(Some),
			}
		})
		.await?;
		let outline = outline.ok_or(BlobError::Empty)?;
		Ok(Self { path: path.to_owned(), outline, base: None, sealer: None })
	}

	/// Has the chunks taken over that the blob `root`, which is on chain as a whole, has at the same
	/// place: their bytes are not sent. A node says what that blob has, which is checked by its root.
	///
	/// # Errors
	///
	/// Fails where the node cannot be asked, or lacks that blob or a part of it.
	pub async fn take_over(&mut self, chain: &Arc<Chain>, root: H256) -> Result<(), BlobError> {
		let nodes = [chain.clone()];
		let other = downloading::outline(&nodes, root, &|_| {}).await?;
		self.base = Some(Base { root, same: self.outline.same_chunks(&other) });
		Ok(())
	}

	/// Returns the chunks whose bytes need not be sent.
	pub fn same(&self) -> BTreeSet<u32> {
		self.base.as_ref().map(|base| base.same.clone()).unwrap_or_default()
	}

	/// Returns what is sent of a chunk: a name where it is `light`.
	pub(super) async fn parcel(&self, index: u32, light: bool) -> Result<Parcel, BlobError> {
		match self.base.as_ref().filter(|base| light && base.same.contains(&index)) {
			Some(base) => Ok(Parcel::SameAs(base.root)),
			None => self.chunk(index).await.map(Parcel::Bytes),
		}
	}

	/// Reads the file at `path` twice, to know the root of what it is when it is sealed for
	/// `recipient`: that is what is stored, and it is computed as it is sent. It must not change until
	/// it is stored.
	///
	/// # Errors
	///
	/// Fails where it cannot be read, or changes while it is.
	pub async fn open_sealed(path: &Path, recipient: &PublicKey) -> Result<Self, BlobError> {
		let recipient = *recipient;
		let (outline, sealer) = in_file(path, move |path| {
			let sealer = Sealer::of(File::open(path)?, &recipient).map_err(|e| match e {
				SealError::Read(e) => e,
				other => io::Error::new(ErrorKind::InvalidInput, other),
			})?;
			let sealed = sealer.reader(File::open(path)?);
			Ok((Outline::of(sealed, sealer.sealed_len())?, sealer))
		})
		.await?;
		Ok(Self { path: path.to_owned(), outline, base: None, sealer: Some(Arc::new(sealer)) })
	}

	/// Returns the length of the file in bytes, which is not sealed.
	pub fn plain_len(&self) -> u64 {
		self.sealer.as_ref().map_or(self.outline.size(), |sealer| sealer.plain_len())
	}

	/// Returns the outline of the blob.
	pub fn outline(&self) -> &Outline {
		&self.outline
	}

	/// Reads chunk `index`. Fails where the file is not any more what it was.
	pub(super) async fn chunk(&self, index: u32) -> Result<Vec<u8>, BlobError> {
		let (begin, length) = self.outline.place(index).unwrap_or_default();
		let sealer = self.sealer.clone();
		let chunk = in_file(&self.path, move |path| {
			let mut file = File::open(path)?;
			let mut bytes = vec![0; length as usize];
			let read = match sealer {
				Some(sealer) => sealer.read_at(&mut file, begin, &mut bytes),
				None => file.seek(SeekFrom::Start(begin)).and_then(|_| file.read_exact(&mut bytes)),
			};
			match read {
				// It is shorter.
				Err(e) if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {
					Ok(Vec::new())
				}
				read => read.map(|()| bytes),
			}
		})
		.await?;
		match self.outline.is_chunk(index, &chunk) {
			true => Ok(chunk),
			false => Err(BlobError::Changed { path: self.path.clone() }),
		}
	}
}

/// Nonces of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Account {
	/// The least that no block has used.
	pub(super) used: u64,
	/// The least that neither a block has used nor the pool has.
	pub(super) next: u64,
}

/// What the chain shows at one block.
#[derive(Clone, Debug)]
pub(super) struct Look {
	pub(super) head: Head,
	pub(super) blob: Option<BlobView>,
	/// Of each sender.
	pub(super) accounts: Vec<Account>,
}

/// The chain as an uploader of one blob sees it.
pub(super) trait Board: Sync {
	/// Returns what the chain shows at its best block.
	fn look(&self) -> impl Future<Output = Result<Look, ChainError>> + Send;

	/// Returns whether the highest final block has all chunks.
	fn is_final(&self) -> impl Future<Output = Result<bool, ChainError>> + Send;

	/// Registers the blob.
	fn register(&self) -> impl Future<Output = Result<(), TxError>> + Send;

	/// Goes on with the removal of what stands in its place.
	fn remove(&self) -> impl Future<Output = Result<(), TxError>> + Send;

	/// Puts an upload of a chunk, or the call that takes it over, into the pool, signed by one of the senders.
	fn send(
		&self,
		sender: usize,
		nonce: u64,
		index: u32,
		proof: &[H256],
		parcel: &Parcel,
	) -> impl Future<Output = Result<(), Refusal>> + Send;
}

/// Returns the call that registers a blob.
pub(super) fn registration(
	outline: &Outline,
	period: Option<u32>,
	parent: Option<H256>,
) -> calls::Call {
	let (size, content) = (outline.size(), outline.content());
	match parent {
		Some(parent) => calls::register_version(size, &content, period, &parent),
		None => calls::register_blob_for(size, &content, period),
	}
}

/// A node, and those who sign.
pub(super) struct Desk<'a> {
	senders: &'a [Arc<Transactor>],
	outline: &'a Outline,
	period: Option<u32>,
	parent: Option<H256>,
	/// By which transactions are signed since the last look that showed another block.
	form: Mutex<Option<(Head, Arc<Form>)>>,
	head: Mutex<Option<Head>>,
}

impl<'a> Desk<'a> {
	pub(super) fn new(
		senders: &'a [Arc<Transactor>],
		source: &'a Source,
		period: Option<u32>,
		parent: Option<H256>,
	) -> Self {
		let (form, head) = Default::default();
		Self { senders, outline: source.outline(), period, parent, form, head }
	}

	fn first(&self) -> Result<&Transactor, ChainError> {
		self.senders.first().map(Arc::as_ref).ok_or_else(|| ChainError::Unreadable {
			method: "upload".into(),
			reason: "nobody is there who sends".into(),
		})
	}

	/// Returns by what transactions are signed now.
	async fn form(&self, sender: &Transactor) -> Result<Arc<Form>, ChainError> {
		let head = *self.head.lock().await;
		let mut slot = self.form.lock().await;
		if let Some((at, form)) = slot.as_ref().filter(|(at, _)| Some(*at) == head) {
			let _ = at;
			return Ok(form.clone());
		}
		let form = Arc::new(sender.form().await?);
		*slot = head.map(|head| (head, form.clone()));
		Ok(form)
	}
}

impl Board for Desk<'_> {
	async fn look(&self) -> Result<Look, ChainError> {
		let chain = self.first()?.chain();
		let head = chain.head().await?;
		let blob = chain.blob_at(self.outline.root(), head.hash).await?;
		let mut accounts = Vec::with_capacity(self.senders.len());
		for sender in self.senders {
			let used = sender.used_nonce(head.hash).await?;
			let next = sender.next_nonce().await?.max(used);
			accounts.push(Account { used, next });
		}
		*self.head.lock().await = Some(head);
		Ok(Look { head, blob, accounts })
	}

	async fn is_final(&self) -> Result<bool, ChainError> {
		let chain = self.first()?.chain();
		let blob = chain.blob_at(self.outline.root(), chain.finalized().await?.hash).await?;
		Ok(blob.is_some_and(|view| view.missing.is_empty() && !view.removing))
	}

	async fn register(&self) -> Result<(), TxError> {
		let call = registration(self.outline, self.period, self.parent);
		self.first()?.run(&call).await.map(drop)
	}

	async fn remove(&self) -> Result<(), TxError> {
		self.first()?.run(&calls::remove_blob(&self.outline.root())).await.map(drop)
	}

	async fn send(
		&self,
		sender: usize,
		nonce: u64,
		index: u32,
		proof: &[H256],
		parcel: &Parcel,
	) -> Result<(), Refusal> {
		let root = self.outline.root();
		let call = match parcel {
			Parcel::Bytes(chunk) => calls::upload_chunk(&root, index, proof, chunk),
			Parcel::SameAs(from) => calls::reuse_chunk(&root, index, from, proof),
		};
		let Some(sender) = self.senders.get(sender) else { return Ok(()) };
		let form = self.form(sender).await.map_err(|e| Refusal::Other(e.into()));
		match sender.offer(&*form?, &call, nonce).await {
			// A form is of one connection, which may be gone.
			Err(refusal @ Refusal::Other(_)) => {
				*self.form.lock().await = None;
				Err(refusal)
			}
			result => result,
		}
	}
}
