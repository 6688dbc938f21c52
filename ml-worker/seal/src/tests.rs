//! Sealing, opening, and everything that must not open.

use super::*;
use proptest::prelude::*;
use std::io::{Cursor, ErrorKind, Read};

/// Lengths at which something ends or begins.
const LENGTHS: [usize; 9] = [0, 1, 16, 65_535, 65_536, 65_537, 131_072, 131_073, 200_000];

fn key(byte: u8) -> SecretKey {
	SecretKey::from_bytes(&[byte; 32])
}

fn bytes(length: usize) -> Vec<u8> {
	(0..length).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}

fn sealed(plain: &[u8], key: &SecretKey) -> Vec<u8> {
	let sealer = Sealer::of(plain, key.public()).unwrap();
	let mut out = Vec::new();
	sealer.reader(plain).read_to_end(&mut out).unwrap();
	assert_eq!((sealer.plain_len(), sealer.sealed_len()), (plain.len() as u64, out.len() as u64));
	out
}

fn opened(sealed: &[u8], key: &SecretKey) -> Result<Vec<u8>, OpenError> {
	let mut out = Vec::new();
	let length = open(sealed, key, &mut out)?;
	assert_eq!(length, out.len() as u64);
	Ok(out)
}

/// Returns where piece `index` of a sealed file is.
fn place(sealed: &[u8], index: usize) -> std::ops::Range<usize> {
	let begin = HEADER_BYTES as usize + index * SEALED_PIECE as usize;
	begin..(begin + SEALED_PIECE as usize).min(sealed.len())
}

/// Computed by `packages/polkadot-js/src/seal.js`, which shares no code with this crate.
#[test]
fn sealed_files_are_those_of_another_program() {
	let secret: [u8; 32] = std::array::from_fn(|i| i as u8);
	let key = SecretKey::from_bytes(&secret);
	assert_eq!(key.public().to_string(), include_str!("vectors/public.txt").trim());
	for line in include_str!("vectors/sealed.txt").lines() {
		let (length, hash) = line.split_once(' ').unwrap();
		let made = sealed(&bytes(length.parse().unwrap()), &key);
		assert_eq!(blake3::hash(&made).to_hex().as_str(), hash, "{length} bytes");
	}
}

/// X25519 and ChaCha20-Poly1305 are those of RFC 7748 (5.2) and RFC 8439 (2.8.2).
#[test]
fn the_primitives_are_those_of_the_rfcs() {
	use chacha20poly1305::{aead::AeadInPlace, ChaCha20Poly1305, KeyInit};
	let of = |text: &str| <[u8; 32]>::try_from(hex::decode(text).unwrap()).unwrap();
	let secret = of("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
	let point = of("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
	assert_eq!(
		x25519_dalek::x25519(secret, point),
		of("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
	);
	let key: [u8; 32] = std::array::from_fn(|i| 0x80 + i as u8);
	let nonce: [u8; 12] = hex::decode("070000004041424344454647").unwrap().try_into().unwrap();
	let mut text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
		for the future, sunscreen would be it."
		.to_vec();
	let aad = hex::decode("50515253c0c1c2c3c4c5c6c7").unwrap();
	let cipher = ChaCha20Poly1305::new((&key).into());
	let tag = cipher.encrypt_in_place_detached((&nonce).into(), &aad, &mut text).unwrap();
	assert_eq!(hex::encode(tag), "1ae10b594f09e26a7e902ecbd0600691");
	assert!(hex::encode(text).starts_with("d31a8d34648e60db7b86afbc53ef7ec2"));
}

#[test]
fn what_is_sealed_opens_at_every_length() {
	for length in LENGTHS {
		let plain = bytes(length);
		let made = sealed(&plain, &key(7));
		assert_eq!(sealed_len(length as u64), Some(made.len() as u64));
		assert_eq!(plain_len(made.len() as u64), Some(length as u64));
		assert_eq!(opened(&made, &key(7)).unwrap(), plain);
	}
}

#[test]
fn lengths_that_no_sealed_file_has() {
	assert_eq!(plain_len(0), None);
	assert_eq!(plain_len(HEADER_BYTES), None);
	assert_eq!(plain_len(HEADER_BYTES + 15), None);
	assert_eq!(plain_len(HEADER_BYTES + 16), Some(0));
	// A piece after a full one has a byte at least.
	assert_eq!(plain_len(HEADER_BYTES + SEALED_PIECE), Some(PIECE_BYTES));
	for more in 1..=16 {
		assert_eq!(plain_len(HEADER_BYTES + SEALED_PIECE + more), None, "{more}");
	}
	assert_eq!(plain_len(HEADER_BYTES + SEALED_PIECE + 17), Some(PIECE_BYTES + 1));
	assert_eq!((sealed_len(u64::MAX), plain_len(u64::MAX - 100).is_some()), (None, true));
}

#[test]
fn the_same_bytes_and_key_make_the_same_file_and_others_make_others() {
	let plain = bytes(100_000);
	let made = sealed(&plain, &key(1));
	assert_eq!(made, sealed(&plain, &key(1)));
	let (other, mut changed) = (sealed(&plain, &key(2)), plain.clone());
	changed[99_999] ^= 1;
	let changed = sealed(&changed, &key(1));
	// Another ephemeral key, and nothing of the pieces in common.
	for other in [other, changed] {
		assert_ne!(other[16..48], made[16..48]);
		let same = made[48..].iter().zip(&other[48..]).filter(|(a, b)| a == b).count();
		assert!(same < 1_000, "{same} of 100,000 bytes, where 390 are so by chance");
	}
}

#[test]
fn another_key_opens_nothing() {
	for length in LENGTHS {
		let made = sealed(&bytes(length), &key(1));
		assert!(matches!(opened(&made, &key(2)), Err(OpenError::OtherKey)));
	}
}

#[test]
fn every_changed_byte_is_found() {
	let made = sealed(&bytes(70), &key(1));
	for at in 0..made.len() {
		for bit in [1, 0x80] {
			let mut wrong = made.clone();
			wrong[at] ^= bit;
			let found = opened(&wrong, &key(1)).unwrap_err();
			match at {
				0..16 => assert!(matches!(found, OpenError::NotSealed), "{at}: {found}"),
				_ => assert!(matches!(found, OpenError::OtherKey), "{at}: {found}"),
			}
		}
	}
	let mut made = sealed(&bytes(200_000), &key(1));
	let at = place(&made, 2).start + 5;
	made[at] ^= 1;
	assert!(matches!(opened(&made, &key(1)), Err(OpenError::Damaged { piece: 2 })));
}

#[test]
fn what_is_cut_or_longer_does_not_open() {
	let made = sealed(&bytes(131_073), &key(1));
	for cut in [0, 1, 47, 48, 49, 63, 64, 65, 65_599, 65_600, 65_601, 131_152, made.len() - 1] {
		assert!(opened(&made[..cut], &key(1)).is_err(), "{cut}");
	}
	for more in [1, 16, 17, 70_000] {
		let longer = [&made[..], &vec![0; more]].concat();
		assert!(opened(&longer, &key(1)).is_err(), "{more}");
	}
	// What ends with a full piece, too.
	let made = sealed(&bytes(131_072), &key(1));
	assert!(opened(&made[..place(&made, 0).end], &key(1)).is_err());
	assert!(opened(&[&made[..], &[0; 16]].concat(), &key(1)).is_err());
}

#[test]
fn pieces_that_change_places_or_files_do_not_open() {
	let made = sealed(&bytes(200_000), &key(1));
	let piece = |of: &[u8], index| of[place(of, index)].to_vec();
	let head = made[..48].to_vec();
	let put = |pieces: &[Vec<u8>]| [head.clone(), pieces.concat()].concat();
	let all: Vec<Vec<u8>> = (0..4).map(|index| piece(&made, index)).collect();
	assert!(opened(&put(&all), &key(1)).is_ok());
	let of = |order: &[usize]| order.iter().map(|at| all[*at].clone()).collect::<Vec<_>>();
	for order in [&[1, 0, 2, 3][..], &[0, 2, 1, 3], &[0, 1, 3], &[0, 0, 1, 2, 3], &[0, 1, 2], &[3]]
	{
		assert!(opened(&put(&of(order)), &key(1)).is_err(), "{order:?}");
	}
	let mut other = bytes(200_000);
	other[0] ^= 1;
	let other = sealed(&other, &key(1));
	let mixed = [all[0].clone(), piece(&other, 1), all[2].clone(), all[3].clone()];
	assert!(matches!(opened(&put(&mixed), &key(1)), Err(OpenError::Damaged { piece: 1 })));
}

/// A file has one sealed form for each key: none by another ephemeral secret, and none with an empty
/// piece at its end.
#[test]
fn other_forms_of_the_same_file_are_refused() {
	let (plain, recipient) = (bytes(PIECE_BYTES as usize), key(1));
	let forge = |secret: x25519_dalek::StaticSecret, cuts: &[&[u8]]| {
		let public = x25519_dalek::PublicKey::from(&secret).to_bytes();
		let shared = secret.diffie_hellman(&(*recipient.public().bytes()).into());
		let pieces = derive::Pieces::new(&shared, &public, recipient.public()).unwrap();
		let mut made = [&MAGIC[..], &public].concat();
		for (index, cut) in cuts.iter().enumerate() {
			let mut piece = cut.to_vec();
			let last = index + 1 == cuts.len();
			let tag = pieces.seal(index as u64, last, &mut piece).unwrap();
			made.extend([&piece[..], &tag].concat());
		}
		made
	};
	let mut fingerprint = derive::Fingerprint::new();
	fingerprint.update(&plain);
	let right = || derive::ephemeral(&fingerprint.finish(), recipient.public());
	assert_eq!(forge(right(), &[&plain]), sealed(&plain, &recipient));
	let other = forge(x25519_dalek::StaticSecret::from([9; 32]), &[&plain]);
	assert!(matches!(opened(&other, &recipient), Err(OpenError::OtherForm)));
	let empty = forge(right(), &[&plain, &[]]);
	assert!(matches!(opened(&empty, &recipient), Err(OpenError::Damaged { piece: 1 })));
	let uneven = forge(right(), &[&plain[..100], &plain[100..]]);
	assert!(opened(&uneven, &recipient).is_err());
}

/// Points of low order, and the other ways to write points.
#[test]
fn weak_keys_are_refused() {
	let mut weak = vec![[0; 32], [0; 32]];
	weak[1][0] = 1;
	for text in [
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		// 9, and 9 + 2^255 - 19 and 9 with the highest bit.
		"f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0900000000000000000000000000000000000000000000000000000000000080",
	] {
		weak.push(hex::decode(text).unwrap().try_into().unwrap());
	}
	for bytes in weak {
		let found = PublicKey::from_bytes(bytes);
		assert!(matches!(found, Err(KeyError::Weak)), "{}", hex::encode(bytes));
	}
	let mut nine = [0; 32];
	nine[0] = 9;
	assert!(PublicKey::from_bytes(nine).is_ok());
	// A stranger's header with a point of low order.
	let mut made = sealed(&bytes(10), &key(1));
	made[16..48].fill(0);
	assert!(matches!(opened(&made, &key(1)), Err(OpenError::OtherForm)));
}

#[test]
fn any_part_is_that_of_the_stream() {
	for length in LENGTHS {
		let plain = bytes(length);
		let made = sealed(&plain, &key(3));
		let sealer = Sealer::of(&plain[..], key(3).public()).unwrap();
		let size = made.len();
		let ends = [0, 1, 47, 48, 49, 64, 65_599, 65_600, 65_601, 131_152, size / 2, size];
		let ends: Vec<usize> = ends.into_iter().filter(|at| *at <= size).collect();
		for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to))) {
			if from <= to {
				let mut part = vec![0; to - from];
				sealer.read_at(&mut Cursor::new(&plain), from as u64, &mut part).unwrap();
				assert!(part == made[from..to], "{length}: {from}..{to}");
			}
		}
		let past = sealer.read_at(&mut Cursor::new(&plain), size as u64, &mut [0]);
		assert_eq!(past.unwrap_err().kind(), ErrorKind::InvalidData);
	}
}

/// Of a file that changed the last piece is not given out: two files under one key would show where
/// they differ.
#[test]
fn a_file_that_changes_is_not_sealed() {
	let plain = bytes(100_000);
	let sealer = Sealer::of(&plain[..], key(1).public()).unwrap();
	let mut changed = plain.clone();
	changed[3] ^= 1;
	for other in [&changed[..], &plain[..99_999], &[&plain[..], &[0]].concat()] {
		let mut out = Vec::new();
		let error = sealer.reader(other).read_to_end(&mut out).unwrap_err();
		assert_eq!(error.kind(), ErrorKind::InvalidData);
		assert!(out.len() as u64 <= HEADER_BYTES + SEALED_PIECE);
	}
	let short = sealer.read_at(&mut Cursor::new(&plain[..99_999]), 90_000, &mut [0; 10]);
	assert_eq!(short.unwrap_err().kind(), ErrorKind::InvalidData);
}

#[test]
fn keys_as_text() {
	let public = *key(5).public();
	assert_eq!(public.to_string().parse::<PublicKey>().unwrap(), public);
	let text = public.to_string();
	assert_eq!(text.len(), 5 + 72);
	let upper = format!("seal-{}", text[5..].to_uppercase());
	assert_eq!(upper.parse::<PublicKey>().unwrap(), public);
	for at in 5..text.len() {
		let mut wrong = text.clone().into_bytes();
		wrong[at] = if wrong[at] == b'0' { b'1' } else { b'0' };
		let wrong = String::from_utf8(wrong).unwrap().parse::<PublicKey>();
		assert!(matches!(wrong, Err(KeyError::Mistyped)), "{at}");
	}
	for wrong in ["", "seal-", "seal-12", &text[5..], &text[..76], "seal-zz"] {
		assert!(matches!(wrong.parse::<PublicKey>(), Err(KeyError::NotPublic)), "{wrong}");
	}
	assert_eq!(format!("{:?}", key(5)), format!("the secret key of {public}"));
}

#[test]
fn keys_in_files() {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("key");
	let made = SecretKey::generate().unwrap();
	assert_ne!(made.public(), SecretKey::generate().unwrap().public());
	made.write_new(&path).unwrap();
	assert_eq!(SecretKey::read(&path).unwrap().public(), made.public());
	// What it wrote is no public key, and is not repeated.
	let written = std::fs::read_to_string(&path).unwrap();
	let secret = written.lines().last().unwrap();
	assert!(matches!(secret.parse::<PublicKey>(), Err(KeyError::SecretGiven)));
	assert!(written.contains(&made.public().to_string()));
	// It is not written over.
	let again = key(1).write_new(&path).unwrap_err();
	assert!(matches!(again, KeyError::Exists { .. }), "{again}");
	assert_eq!(std::fs::read_to_string(&path).unwrap(), written);

	let other = folder.path().join("other");
	let refused = |content: &str| {
		let _ = std::fs::remove_file(&other);
		key(1).write_new(&other).unwrap();
		std::fs::write(&other, content).unwrap();
		SecretKey::read(&other).unwrap_err()
	};
	let digits = secret.strip_prefix("seal-secret-").unwrap();
	for content in
		["", "# nothing", digits, &format!("{secret}\n{secret}"), &format!("{secret}0"), "seal-12"]
	{
		let error = refused(content);
		assert!(matches!(error, KeyError::NotSecret { .. }), "{content}: {error}");
		assert!(!error.to_string().contains(digits), "{error}");
	}
	let first = if secret.ends_with('0') { "1" } else { "0" };
	let wrong = format!("{}{first}", &secret[..secret.len() - 1]);
	assert!(matches!(refused(&wrong), KeyError::Mistyped));
	let nowhere = SecretKey::read(&folder.path().join("nowhere")).unwrap_err();
	assert!(nowhere.to_string().contains("nowhere"), "{nowhere}");
}

#[cfg(unix)]
#[test]
fn a_key_that_everybody_may_read_is_refused() {
	use std::{fs::Permissions, os::unix::fs::PermissionsExt};
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("key");
	key(1).write_new(&path).unwrap();
	assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
	std::fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
	let error = SecretKey::read(&path).unwrap_err();
	assert!(error.to_string().contains("chmod 600"), "{error}");
}

proptest! {
	#![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

	#[test]
	fn whatever_is_sealed_opens(plain in proptest::collection::vec(any::<u8>(), 0..150_000), seed: [u8; 32]) {
		let key = SecretKey::from_bytes(&seed);
		prop_assert!(opened(&sealed(&plain, &key), &key).unwrap() == plain);
	}

	#[test]
	fn strangers_bytes_open_to_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..3_000), headed: bool) {
		let bytes = if headed { [&MAGIC[..], &bytes].concat() } else { bytes };
		prop_assert!(opened(&bytes, &key(1)).is_err());
	}

	#[test]
	fn lengths_are_each_others_inverse(plain in 0..u64::MAX / 2) {
		prop_assert_eq!(sealed_len(plain).and_then(plain_len), Some(plain));
	}

	#[test]
	fn a_length_is_that_of_one_file(sealed: u64) {
		if let Some(plain) = plain_len(sealed) {
			prop_assert_eq!(sealed_len(plain), Some(sealed));
		}
	}
}
