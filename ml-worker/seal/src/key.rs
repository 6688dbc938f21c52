//! Keys, as text and in files.

use rand::{rngs::OsRng, TryRngCore};
use std::{
	fmt,
	fs::{File, OpenOptions},
	io::{self, Read, Write},
	path::Path,
	str::FromStr,
};
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

/// What the text of a public key begins with.
const PUBLIC: &str = "seal-";
/// What the text of a secret key begins with.
const SECRET: &str = "seal-secret-";
/// Bytes of the checksum in the text of a key.
const CHECK: usize = 4;
/// Longest file of a key that is read, in bytes.
const MAX_FILE: u64 = 4096;

/// Says why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
	/// The text is no public key.
	#[error(
		"this is no public key for sealing. It is `seal-` and 72 hex digits; `trainyard seal public \
		 KEYFILE` prints it"
	)]
	NotPublic,
	/// A secret key was given where a public one is wanted. The error does not repeat it.
	#[error(
		"this is a secret key, and a public one is wanted: `trainyard seal public KEYFILE` prints \
		 it. Think of the secret as known if others saw this command"
	)]
	SecretGiven,
	/// The checksum of the text is wrong.
	#[error("the checksum of this key for sealing is wrong: a digit is mistyped or missing")]
	Mistyped,
	/// The bytes are no key that can be sealed for.
	#[error("this key cannot be sealed for: everybody could open it")]
	Weak,
	/// The file has no secret key. The error does not repeat what it has.
	#[error("{path} has no secret key for sealing, as `trainyard seal keygen` writes it")]
	NotSecret {
		/// The file.
		path: String,
	},
	/// Everybody on the machine can read the file.
	#[error(
		"everybody on this machine may read or write {path}, which holds a secret (its mode is \
		 {mode:o}). Make it yours alone by chmod 600, and think of the key as known if others were \
		 here"
	)]
	Open {
		/// The file.
		path: String,
		/// Its mode.
		mode: u32,
	},
	/// There is such a file already.
	#[error("{path} is there already, and a key that is overwritten is lost: name another file")]
	Exists {
		/// The file.
		path: String,
	},
	/// The file cannot be read or written.
	#[error("cannot read or write {path}: {source}")]
	File {
		/// The file.
		path: String,
		/// Why.
		source: io::Error,
	},
	/// The system gives no random bytes.
	#[error("this system gives no random bytes for a key: {reason}")]
	NoRandomness {
		/// Why.
		reason: String,
	},
}

/// A public key: what a file is sealed for. As text it is `seal-`, 64 hex digits, and 8 of a checksum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
	/// Makes a key of the bytes of its point. Fails with [`KeyError::Weak`] where these are not the
	/// one way to write a point, or the point is of low order: whatever is sealed for it, everybody
	/// opens, or nobody.
	pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, KeyError> {
		// Less than 2^255 - 19, lowest byte first.
		let [low, middle @ .., high] = &bytes;
		let is_reduced = match (*high, middle.iter().all(|byte| *byte == 0xff)) {
			(0x80.., _) => false,
			(0x7f, true) => *low < 0xed,
			_ => true,
		};
		// Any secret shows a point of low order.
		let shared = StaticSecret::from([1; 32]).diffie_hellman(&bytes.into());
		match is_reduced && shared.was_contributory() {
			true => Ok(Self(bytes)),
			false => Err(KeyError::Weak),
		}
	}

	/// Returns the bytes of its point.
	pub fn bytes(&self) -> &[u8; 32] {
		&self.0
	}
}

impl fmt::Display for PublicKey {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(PUBLIC)?;
		f.write_str(&text(&self.0))
	}
}

impl fmt::Debug for PublicKey {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		fmt::Display::fmt(self, f)
	}
}

impl FromStr for PublicKey {
	type Err = KeyError;

	fn from_str(written: &str) -> Result<Self, KeyError> {
		if written.starts_with(SECRET) {
			return Err(KeyError::SecretGiven);
		}
		let digits = written.strip_prefix(PUBLIC).ok_or(KeyError::NotPublic)?;
		let bytes = parsed(digits).ok_or(KeyError::NotPublic)?.ok_or(KeyError::Mistyped)?;
		Self::from_bytes(*bytes)
	}
}

/// A secret key: opens what was sealed for its public key. It is wiped from memory when it is dropped.
pub struct SecretKey {
	secret: StaticSecret,
	public: PublicKey,
}

impl fmt::Debug for SecretKey {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "the secret key of {}", self.public)
	}
}

impl SecretKey {
	/// Makes a key of random bytes of the system.
	pub fn generate() -> Result<Self, KeyError> {
		let mut bytes = Zeroizing::new([0; 32]);
		OsRng
			.try_fill_bytes(&mut bytes[..])
			.map_err(|e| KeyError::NoRandomness { reason: e.to_string() })?;
		Ok(Self::from_bytes(&bytes))
	}

	/// Makes a key of 32 secret bytes.
	pub fn from_bytes(bytes: &[u8; 32]) -> Self {
		let secret = StaticSecret::from(*bytes);
		let public = PublicKey(x25519_dalek::PublicKey::from(&secret).to_bytes());
		Self { secret, public }
	}

	/// Returns its public key.
	pub fn public(&self) -> &PublicKey {
		&self.public
	}

	pub(crate) fn shared(&self, ephemeral: &[u8; 32]) -> x25519_dalek::SharedSecret {
		self.secret.diffie_hellman(&(*ephemeral).into())
	}

	/// Reads the key from the file at `path`. A file that everybody may read is refused, as ssh
	/// refuses keys.
	pub fn read(path: &Path) -> Result<Self, KeyError> {
		let failed = |source| KeyError::File { path: path.display().to_string(), source };
		let file = File::open(path).map_err(failed)?;
		#[cfg(unix)]
		{
			use std::os::unix::fs::PermissionsExt;
			// Of the file that is read, not of whatever has its name by now.
			let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
			if mode & 0o007 != 0 {
				return Err(KeyError::Open { path: path.display().to_string(), mode });
			}
		}
		// As long as it can become, so that no copy is left where it grew.
		let mut read = Zeroizing::new(Vec::with_capacity(MAX_FILE as usize + 1));
		file.take(MAX_FILE).read_to_end(&mut read).map_err(failed)?;
		let none = || KeyError::NotSecret { path: path.display().to_string() };
		let lines = std::str::from_utf8(&read).map_err(|_| none())?.lines().map(str::trim);
		let mut keys = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
		let digits = keys.next().and_then(|line| line.strip_prefix(SECRET)).ok_or_else(none)?;
		if keys.next().is_some() {
			return Err(none());
		}
		let bytes = parsed(digits).ok_or_else(none)?.ok_or(KeyError::Mistyped)?;
		Ok(Self::from_bytes(&bytes))
	}

	/// Writes the key into a new file at `path` that its owner alone may read. Fails with
	/// [`KeyError::Exists`] where something is there.
	pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
		let mut options = OpenOptions::new();
		options.write(true).create_new(true);
		#[cfg(unix)]
		std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
		let written = Zeroizing::new(format!(
			"# Opens what is sealed for {}\n{SECRET}{}\n",
			self.public,
			&*text(&Zeroizing::new(self.secret.to_bytes())),
		));
		let write = || {
			let mut file = options.open(path)?;
			file.write_all(written.as_bytes())?;
			file.sync_all()
		};
		write().map_err(|source| match source.kind() {
			io::ErrorKind::AlreadyExists => KeyError::Exists { path: path.display().to_string() },
			_ => KeyError::File { path: path.display().to_string(), source },
		})
	}
}

fn checksum(bytes: &[u8; 32]) -> [u8; CHECK] {
	let hash = blake3::derive_key("trainyard seal/1: checksum of a key", bytes);
	let mut check = [0; CHECK];
	check.copy_from_slice(&hash[..CHECK]);
	check
}

/// Returns the digits of 32 bytes and of their checksum.
fn text(bytes: &[u8; 32]) -> Zeroizing<String> {
	let mut all = Zeroizing::new([0; 32 + CHECK]);
	all[..32].copy_from_slice(bytes);
	all[32..].copy_from_slice(&checksum(bytes));
	Zeroizing::new(hex::encode(&all[..]))
}

/// Returns the 32 bytes of these digits; outside `None` where they are no digits of a key, inside where
/// the checksum is wrong.
fn parsed(digits: &str) -> Option<Option<Zeroizing<[u8; 32]>>> {
	let mut all = Zeroizing::new([0; 32 + CHECK]);
	hex::decode_to_slice(digits, &mut all[..]).ok()?;
	let mut bytes = Zeroizing::new([0; 32]);
	bytes.copy_from_slice(&all[..32]);
	Some((checksum(&bytes) == all[32..]).then_some(bytes))
}
