//! Reads keys: from a secret URI, or from an encrypted key file of polkadot.js.

use super::AccountId32;
use std::{
	io::Read,
	path::{Path, PathBuf},
	str::FromStr,
};
pub use subxt_signer::sr25519::Keypair;

use subxt_signer::{polkadot_js_compat::decrypt_json, SecretUri};

/// Environment variable that holds the password of a key file.
pub const PASSWORD_VARIABLE: &str = "TRAINYARD_KEY_PASSWORD";

/// Longest file of a secret URI that is read, in bytes.
const MAX_SURI: u64 = 4096;

/// Says where to find the key that signs. A key file goes before the file of a secret URI, and this
/// before a secret URI.
#[derive(Clone, Debug, Default)]
pub struct KeySource {
	/// Secret URI of the account: a development account like //Alice, a mnemonic, or a
	/// 0x-prefixed seed, with derivations.
	pub suri: Option<String>,
	/// File that holds such a URI. Nobody else may be allowed to read it.
	pub suri_file: Option<PathBuf>,
	/// Encrypted sr25519 key file (JSON) as exported by polkadot.js.
	pub key_file: Option<PathBuf>,
	/// File with the password of the key file; without it [`PASSWORD_VARIABLE`] holds it.
	pub password_file: Option<PathBuf>,
}

/// Says why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
	/// Neither a URI nor a key file was given.
	#[error(
		"whose account? Give --suri-file FILE (a mnemonic or seed), --key-file FILE, or --suri //Alice"
	)]
	Missing,
	/// Everybody on the machine can read the file of a secret URI.
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
	/// The URI is not a secret URI. The error does not repeat it, because it may be a secret.
	#[error(
		"the secret URI is not valid ({reason}). It is a mnemonic, a 0x-prefixed seed of 64 hex \
		 digits, or nothing, followed by derivations: //Alice"
	)]
	BadUri {
		/// Why.
		reason: String,
	},
	/// A file cannot be read.
	#[error("cannot read {path}: {reason}")]
	Unreadable {
		/// The file.
		path: String,
		/// Why.
		reason: String,
	},
	/// There is no password.
	#[error("the key file {path} is encrypted: put its password in {PASSWORD_VARIABLE}, or in a file named by --password-file")]
	NoPassword {
		/// The key file.
		path: String,
	},
	/// The file does not decrypt.
	#[error("cannot decrypt {path} ({reason}). Is the password right, and is it an sr25519 key exported by polkadot.js?")]
	Undecryptable {
		/// The key file.
		path: String,
		/// Why.
		reason: String,
	},
}

impl KeySource {
	/// Returns the key.
	pub fn keypair(&self) -> Result<Keypair, KeyError> {
		// A key file was named on purpose; a URI may come from the environment.
		let Some(path) = self.key_file.as_ref() else {
			return match &self.suri_file {
				Some(file) => from_uri(&read_uri(file)?),
				None => from_uri(self.suri.as_ref().ok_or(KeyError::Missing)?),
			};
		};
		let unreadable = |path: &PathBuf, e: std::io::Error| KeyError::Unreadable {
			path: path.display().to_string(),
			reason: e.to_string(),
		};
		let json = std::fs::read_to_string(path).map_err(|e| unreadable(path, e))?;
		let password = match &self.password_file {
			Some(file) => {
				let text = std::fs::read_to_string(file).map_err(|e| unreadable(file, e))?;
				text.trim_end_matches(['\r', '\n']).to_string()
			}
			None => std::env::var(PASSWORD_VARIABLE)
				.map_err(|_| KeyError::NoPassword { path: path.display().to_string() })?,
		};
		// A file that is cut short makes the library index past its end, so refuse it first.
		let shape: Option<String> = serde_json::from_str::<serde_json::Value>(&json)
			.ok()
			.and_then(|v| v.get("encoded")?.as_str().map(str::to_string));
		let undecryptable =
			|reason: String| KeyError::Undecryptable { path: path.display().to_string(), reason };
		match shape {
			// 68 bytes of parameters, 16 of authentication, 117 of key, in base64.
			Some(encoded) if encoded.len() >= (68 + 16 + 117) * 4 / 3 => {
				decrypt_json(&json, &password).map_err(|e| undecryptable(e.to_string()))
			}
			Some(_) => Err(undecryptable("`encoded` is too short".into())),
			None => Err(undecryptable("it is not JSON with a field `encoded`".into())),
		}
	}
}

/// Returns the secret URI in the file at `path`, without spaces and line ends around it. A file that
/// everybody may read is refused, as ssh refuses keys: a warning of a daemon comes when nobody looks.
/// Its group may read it, which is how systemd hands secrets to a service.
fn read_uri(path: &Path) -> Result<String, KeyError> {
	let unreadable = |e: std::io::Error| KeyError::Unreadable {
		path: path.display().to_string(),
		reason: e.to_string(),
	};
	let file = std::fs::File::open(path).map_err(unreadable)?;
	#[cfg(unix)]
	{
		use std::os::unix::fs::PermissionsExt;
		// Of the file that is read, not of whatever has its name by now.
		let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o7777;
		if mode & 0o007 != 0 {
			return Err(KeyError::Open { path: path.display().to_string(), mode });
		}
	}
	let mut text = String::new();
	file.take(MAX_SURI).read_to_string(&mut text).map_err(unreadable)?;
	Ok(text.trim().to_owned())
}

/// Returns the key of a secret URI.
pub fn from_uri(uri: &str) -> Result<Keypair, KeyError> {
	let secret =
		SecretUri::from_str(uri).map_err(|e| KeyError::BadUri { reason: e.to_string() })?;
	Keypair::from_uri(&secret).map_err(|e| KeyError::BadUri { reason: e.to_string() })
}

/// Returns the account of a key.
pub fn account(key: &Keypair) -> AccountId32 {
	AccountId32(key.public_key().0)
}

/// Reads an account: an SS58 address, 64 hex digits, or a development account like //Alice.
pub fn parse_account(text: &str) -> Result<AccountId32, String> {
	if text.starts_with("//") {
		return from_uri(text).map(|key| account(&key)).map_err(|e| e.to_string());
	}
	if let Ok(bytes) = hex::decode(text.trim_start_matches("0x")) {
		if let Ok(bytes) = <[u8; 32]>::try_from(bytes) {
			return Ok(AccountId32(bytes));
		}
	}
	AccountId32::from_str(text)
		.map_err(|e| format!("`{text}` is neither an SS58 address ({e}) nor 64 hex digits"))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::VrfKey;

	/// The development account that everyone knows.
	const ALICE: &str = "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY";

	#[test]
	fn development_accounts_are_the_known_ones() {
		let key = from_uri("//Alice").unwrap();
		assert_eq!(account(&key).to_string(), ALICE);
		let phrase = "bottom drive obey lake curtain smoke basket hold race lonely fit walk//Alice";
		assert_eq!(account(&from_uri(phrase).unwrap()).to_string(), ALICE);
	}

	#[test]
	fn a_seed_is_a_key() {
		// Seed of //Alice, as `subkey inspect //Alice` shows it.
		let seed = "0xe5be9a5092b81bca64be81d212e7f2f9eba183bb7a90954f7b76361f6edb5c0a";
		assert_eq!(account(&from_uri(seed).unwrap()).to_string(), ALICE);
	}

	#[test]
	fn a_bad_secret_is_refused_without_repeating_it() {
		for bad in ["correct horse battery staple", "0x1234", "//"] {
			let error = from_uri(bad).unwrap_err().to_string();
			assert!(error.contains("secret URI"), "{error}");
			assert!(!error.contains("horse"), "{error}");
		}
	}

	#[test]
	fn accounts_are_read_in_three_forms() {
		let alice = parse_account(ALICE).unwrap();
		assert_eq!(parse_account("//Alice").unwrap(), alice);
		assert_eq!(parse_account(&hex::encode(alice.0)).unwrap(), alice);
		assert_eq!(parse_account(&format!("0x{}", hex::encode(alice.0))).unwrap(), alice);
		let mut wrong = ALICE.to_string();
		wrong.replace_range(5..6, "A");
		assert!(parse_account(&wrong).unwrap_err().contains("SS58"));
	}

	#[test]
	fn nothing_given_says_what_to_give() {
		assert!(matches!(KeySource::default().keypair(), Err(KeyError::Missing)));
	}

	#[test]
	fn a_uri_is_read_from_a_file_that_is_its_owners() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("suri");
		let phrase = "bottom drive obey lake curtain smoke basket hold race lonely fit walk//Alice";
		std::fs::write(&path, format!("{phrase}\n")).unwrap();
		let of = |path: &Path| KeySource {
			// The one that the environment may have does not count then.
			suri: Some("//Bob".into()),
			suri_file: Some(path.to_owned()),
			..KeySource::default()
		};
		#[cfg(unix)]
		{
			use std::os::unix::fs::PermissionsExt;
			let mode = |mode| {
				std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
				of(&path).keypair()
			};
			for open in [0o644, 0o604, 0o602] {
				let error = mode(open).unwrap_err().to_string();
				assert!(
					error.contains(&format!("{open:o}")) && error.contains("chmod 600"),
					"{error}"
				);
				assert!(!error.contains("curtain"), "{error}");
			}
			for private in [0o440, 0o400, 0o600] {
				assert!(mode(private).is_ok(), "{private:o}");
			}
		}
		assert_eq!(account(&of(&path).keypair().unwrap()).to_string(), ALICE);
		let error = of(&dir.path().join("nothing")).keypair().unwrap_err();
		assert!(matches!(error, KeyError::Unreadable { .. }), "{error}");
		std::fs::write(&path, "correct horse\n").unwrap();
		let error = of(&path).keypair().unwrap_err().to_string();
		assert!(error.contains("secret URI") && !error.contains("horse"), "{error}");
	}

	#[test]
	fn key_files_need_their_password() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("key.json");
		// The development account //Alice, encrypted with the password `whoisalice`.
		let json = r#"{
			"encoded": "DumgApKCTqoCty1OZW/8WS+sgo6RdpHhCwAkA2IoDBMAgAAAAQAAAAgAAAB6IG/q24EeVf0JqWqcBd5m2tKq5BlyY84IQ8oamLn9DZe9Ouhgunr7i36J1XxUnTI801axqL/ym1gil0U8440Qvj0lFVKwGuxq38zuifgoj0B3Yru0CI6QKEvQPU5xxj4MpyxdSxP+2PnTzYao0HDH0fulaGvlAYXfqtU89xrx2/z9z7IjSwS3oDFPXRQ9kAdDebtyCVreZ9Otw9v3",
			"encoding": {
				"content": ["pkcs8", "sr25519"],
				"type": ["scrypt", "xsalsa20-poly1305"],
				"version": "3"
			},
			"address": "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY",
			"meta": { "name": "Alice" }
		}"#;
		std::fs::write(&path, json).unwrap();
		let password = dir.path().join("password");
		std::fs::write(&password, "whoisalice\n").unwrap();
		let args = KeySource {
			suri: None,
			suri_file: None,
			key_file: Some(path.clone()),
			password_file: Some(password.clone()),
		};
		let key = args.keypair().unwrap();
		assert_eq!(account(&key).to_string(), ALICE);
		// What is derived from it is what is derived from the URI.
		let public = |key| VrfKey::of(key).public();
		assert_eq!(public(&key), public(&from_uri("//Alice").unwrap()));

		std::fs::write(&password, "whoisbob\n").unwrap();
		assert!(matches!(args.keypair().unwrap_err(), KeyError::Undecryptable { .. }));
		std::fs::write(&path, "{\"encoded\":\"AAAA\"}").unwrap();
		assert!(args.keypair().unwrap_err().to_string().contains("too short"));
		std::fs::write(&path, "nonsense").unwrap();
		assert!(args.keypair().unwrap_err().to_string().contains("not JSON"));
	}
}
