use super::*;
use crate::roles::fetch::{
	tests::{among, answering, breaking, file, quick, raw, redirecting, told},
	Content, FetchError, Fetcher, LocationError, Locations, Wanted,
};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use trainyard_proof::hash;
use trainyard_protocol::H256;

fn place(url: &str) -> Place {
	Place::parse(url).unwrap().unwrap_or_else(|why| panic!("{url}: {why}"))
}

/// Stores at `base`, a URL of a test's server, whatever path that has.
fn at(base: &str) -> Stores {
	let base = Url::parse(base).unwrap().join("/").unwrap();
	let base: Base = base.as_str().parse().unwrap();
	Stores { s3: Some(base.clone()), gs: Some(base.clone()), hub: Some(base), ..Stores::default() }
}

fn credentials() -> Credentials {
	let keys = |id: &str| Keys { id: id.into(), secret: "secret".into(), token: None };
	let s3 = Keys { token: Some("lent".into()), ..keys("of-s3") };
	Credentials { s3: Some(s3), gs: Some(keys("of-gs")), hub: Some("of-hub".into()) }
}

fn own(begin: &str) -> Own {
	begin.parse().unwrap_or_else(|why| panic!("{begin}: {why}"))
}

const ONE_OF_EACH: [&str; 3] = [
	"s3://bucket/folder/file",
	"gs://bucket/folder/file",
	"hf://datasets/owner/name@v1/folder/file",
];

#[test]
fn places_become_urls_of_their_stores() {
	let of = |stores: &Stores, url: &str, region: Option<&str>| {
		stores.request(url, &place(url), region).unwrap().url.to_string()
	};
	let plain = Stores::default();
	let regional = Stores { region: Some("eu-west-1".into()), ..Stores::default() };
	let mine = at("http://store.example:9000/");
	for (stores, url, expected) in [
		(&plain, "s3://bucket/a/b.csv", "https://bucket.s3.amazonaws.com/a/b.csv"),
		(&regional, "s3://bucket/a", "https://bucket.s3.eu-west-1.amazonaws.com/a"),
		(&plain, "s3://my.bucket/a", "https://s3.us-east-1.amazonaws.com/my.bucket/a"),
		(&regional, "s3://my.bucket/a", "https://s3.eu-west-1.amazonaws.com/my.bucket/a"),
		(&mine, "s3://bucket/a", "http://store.example:9000/bucket/a"),
		(&plain, "gs://bucket_1/a", "https://storage.googleapis.com/bucket_1/a"),
		(&mine, "gs://bucket/a", "http://store.example:9000/bucket/a"),
		(
			&plain,
			"hf://datasets/o/n@v1/a.csv",
			"https://huggingface.co/datasets/o/n/resolve/v1/a.csv",
		),
		(
			&plain,
			"hf://o/n/model.safetensors",
			"https://huggingface.co/o/n/resolve/main/model.safetensors",
		),
		(&plain, "hf://o/n@refs%2Fpr%2F1/a", "https://huggingface.co/o/n/resolve/refs%2Fpr%2F1/a"),
		(&mine, "hf://datasets/o/n/a", "http://store.example:9000/datasets/o/n/resolve/main/a"),
		// What means something in a URL means nothing in a key.
		(
			&plain,
			"s3://bucket/a b?c=d#e%2e",
			"https://bucket.s3.amazonaws.com/a%20b%3Fc%3Dd%23e%252e",
		),
		(&plain, "gs://bucket/\u{e4}@x:y", "https://storage.googleapis.com/bucket/%C3%A4%40x%3Ay"),
	] {
		assert_eq!(of(stores, url, None), expected, "{url}");
	}
	assert_eq!(
		of(&regional, "s3://bucket/a", Some("us-west-2")),
		"https://bucket.s3.us-west-2.amazonaws.com/a"
	);
}

#[test]
fn no_place_names_a_host_or_leaves_its_bucket() {
	for url in [
		"s3://bucket",
		"s3://bucket/",
		"s3:///key",
		"s3://user@evil.example/key",
		"s3://evil.example:80/key",
		"s3://evil.example#/key",
		"s3://evil.example?/key",
		"s3://Bucket/key",
		"s3://a_b/key",
		"s3://ab/key",
		"s3://-ab/key",
		"s3://ab./key",
		"s3://a..b/key",
		"s3://bucket/../other/key",
		"s3://bucket/a//b",
		"s3://bucket/a/./b",
		"s3://bucket/a\nb",
		"gs://bucket%2f/key",
		"hf://name/file",
		"hf://datasets/name/file",
		"hf://datasets/owner/name",
		"hf://datasets/owner/name@/file",
		"hf://owner/name@a/../../x",
		"hf://owner/name@../file",
		"hf://owner/name@..%2F..%2Fapi/file",
		"hf://../name/file",
		"hf://spaces/owner/name/file",
		"hf://api/owner/file",
		"hf://owner/na me/file",
	] {
		let why = Place::parse(url).unwrap().unwrap_err();
		let error = Locations::Any.check(url).unwrap_err();
		assert_eq!(error, LocationError::NotAPlace { url: url.into(), why });
	}
	for url in ["http://bucket/key", "S3://bucket/key", "s3:/bucket/key", "bucket/key", ""] {
		assert_eq!(Place::parse(url), None, "{url}");
	}
}

#[test]
fn only_a_commit_stays_what_it_is() {
	let commit = "0123456789abcdef0123456789abcdef01234567";
	assert!(!place(&format!("hf://datasets/o/n@{commit}/a")).may_move());
	for url in ["hf://datasets/o/n/a", "hf://o/n@main/a", "hf://o/n@v1.0/a", "hf://o/n@0123456/a"] {
		assert!(place(url).may_move(), "{url}");
	}
	assert!(!place("s3://bucket/key").may_move(), "whoever owns a bucket says nothing about it");
}

#[test]
fn servers_of_stores_are_urls_of_http() {
	for good in ["http://127.0.0.1:9000", "https://store.example/", "https://store.example/path/"] {
		let base: Base = good.parse().unwrap();
		assert_eq!(base.to_string(), good.trim_end_matches('/'));
	}
	for bad in ["store.example", "ftp://a", "https://a/?x", "https://a/#x", "https://user:x@a", ""]
	{
		assert!(bad.parse::<Base>().is_err(), "{bad}");
	}
	assert!(parse_region("eu-west-1").is_ok());
	for bad in ["", "evil.example/", "a.b", "A", &"a".repeat(41)] {
		assert!(parse_region(bad).is_err(), "{bad}");
	}
}

/// A stranger's location gets nothing of this machine's credentials, also beside one that does.
#[test]
fn credentials_are_used_for_what_was_allowed_alone() {
	let begins = ["s3://bucket/folder", "gs://bucket", "hf://datasets/owner/name"].map(own);
	let stores = at("http://store.example").with_credentials(begins.to_vec(), credentials());
	let headers = |url: &str| stores.request(url, &place(url), None).unwrap().headers;
	for (url, whose) in ONE_OF_EACH.into_iter().zip(["of-s3", "of-gs", "Bearer of-hub"]) {
		let found = headers(url)["authorization"].to_str().unwrap().to_owned();
		assert!(found.contains(whose), "{url}: {found}");
	}
	assert_eq!(headers("s3://bucket/folder/file")["x-amz-security-token"], "lent");
	for stranger in [
		"s3://bucket/file",
		"s3://bucket/folder2/file",
		"s3://other/folder/file",
		"gs://bucket2/file",
		"gs://buckets/file",
		"hf://owner/name/file",
		"hf://datasets/owner/name2/file",
		"hf://datasets/owner/other@main/file",
	] {
		let found = headers(stranger);
		assert!(!found.contains_key("authorization"), "{stranger}");
		assert!(!found.contains_key("x-amz-security-token"), "{stranger}");
	}
	// Credentials alone are used for nothing.
	let stores = at("http://store.example").with_credentials(Vec::new(), credentials());
	for url in ONE_OF_EACH {
		let asked = stores.request(url, &place(url), None).unwrap();
		assert!(!asked.headers.contains_key("authorization"), "{url}");
	}
	assert!(!format!("{stores:?}").contains("secret"), "{stores:?}");
}

#[test]
fn what_is_allowed_is_a_bucket_or_a_repository_at_least() {
	for bad in [
		"s3://",
		"s3:",
		"gs:///",
		"hf://",
		"hf://owner",
		"hf://owner/name/file",
		"http://a/b",
		"*",
		"",
	] {
		assert!(bad.parse::<Own>().is_err(), "{bad}");
	}
	assert!(own("hf://owner/name").has("hf://owner/name@v1/file"));
	assert!(own("hf://owner/name@v1").has("hf://owner/name@v1/file"));
	assert!(!own("hf://owner/name@v1").has("hf://owner/name@v12/file"));
	assert!(own("s3://bucket/").has("s3://bucket/key"));
	assert!(!own("s3://bucket").has("s3://bucket@/key"));
}

#[test]
fn amazon_says_where_a_bucket_is() {
	let said = |region: &'static str| {
		HeaderMap::from_iter([(
			"x-amz-bucket-region".parse().unwrap(),
			HeaderValue::from_static(region),
		)])
	};
	let stores = Stores::default();
	let s3 = place("s3://bucket/key");
	assert_eq!(stores.other_region(&s3, &said("eu-west-1")).as_deref(), Some("eu-west-1"));
	assert_eq!(stores.other_region(&s3, &HeaderMap::new()), None);
	for bad in ["evil.example/", "", "a b"] {
		assert_eq!(stores.other_region(&s3, &said(bad)), None, "{bad}");
	}
	assert_eq!(stores.other_region(&place("gs://bucket/key"), &said("eu-west-1")), None);
	assert_eq!(at("http://a").other_region(&s3, &said("eu-west-1")), None, "not Amazon's");
}

#[tokio::test]
async fn files_in_stores_arrive_and_broken_transfers_go_on() {
	let bytes: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
	let content = file(hash::blake2_256(&bytes), 100_000);
	for url in ONE_OF_EACH {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("data");
		let (server, log) = breaking(bytes.clone(), 60_000).await;
		let once = Fetcher { tries: 1, ..quick() }.with_stores(at(&server));
		let wanted = Wanted { url, path: &path, content };
		let error = once.fetch(&wanted).await.unwrap_err();
		assert!(error.may_pass() && error.to_string().starts_with(url), "{error}");
		assert_eq!(std::fs::read(content.part(&path, url)).unwrap(), bytes[..60_000]);
		// As after a kill: another fetcher, which knows nothing of the first.
		quick().with_stores(at(&server)).fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), bytes);
		assert_eq!(told(log), [None, Some(60_000)], "{url}");
		assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no part is left");
	}
}

#[tokio::test]
async fn other_files_and_longer_ones_are_refused() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	for url in ONE_OF_EACH {
		let fetch = |fetcher: Fetcher, content| {
			let path = &path;
			async move { fetcher.fetch(&Wanted { url, path, content }).await.unwrap_err() }
		};
		let server = answering("200 OK", vec![9; 5_000]).await;
		let fetcher = || quick().with_stores(at(&server));
		let error = fetch(fetcher(), file(H256::zero(), 5_000)).await;
		assert!(matches!(error, FetchError::WrongHash { .. }), "{error}");
		// No length is announced, and too much comes.
		let error = fetch(fetcher(), file(H256::zero(), 4_000)).await;
		assert!(matches!(error, FetchError::TooLarge { limit: 4_000, .. }), "{error}");
		let longer = answering("200 OK\r\ncontent-length: 5000", vec![]).await;
		let error = fetch(quick().with_stores(at(&longer)), file(H256::zero(), 4_000)).await;
		assert!(matches!(error, FetchError::WrongLength { found: 5_000, .. }), "{error}");
		let gone = answering("404 Not Found", vec![]).await;
		let error = fetch(quick().with_stores(at(&gone)), file(H256::zero(), 4_000)).await;
		assert!(matches!(error, FetchError::Status { .. }) && !error.may_pass(), "{error}");
		assert!(error.to_string().starts_with(url), "{error}");
		assert!(!path.exists());
	}
}

/// The owner may have a store in a network of its own. Strangers do not reach it by naming buckets.
#[tokio::test]
async fn stores_at_private_addresses_are_refused() {
	let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
	listener.set_nonblocking(true).unwrap();
	let port = listener.local_addr().unwrap().port();
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	for host in ["127.0.0.1", "localhost"] {
		for url in ONE_OF_EACH {
			let stores = at(&format!("http://{host}:{port}/"));
			let fetcher = among(Locations::Public).with_stores(stores);
			let wanted = Wanted { url, path: &path, content: Content::Any { limit: 9 } };
			let error = fetcher.fetch(&wanted).await.unwrap_err();
			assert!(matches!(error, FetchError::Refused { .. }) && !error.may_pass(), "{error}");
			assert!(error.to_string().starts_with(url), "{error}");
			assert!(error.to_string().contains("--allow-private-locations"), "{error}");
			let error = fetcher.get(url, 9).await.unwrap_err();
			assert!(matches!(error, FetchError::Refused { .. }), "{error}");
		}
	}
	assert!(listener.accept().is_err(), "nobody knocked");
}

/// A server that keeps what it was asked, and answers with `answer`.
async fn keeping(answer: String) -> (String, Arc<Mutex<Vec<String>>>) {
	let kept = Arc::new(Mutex::new(Vec::new()));
	let into = kept.clone();
	let url = raw(move |request, mut stream| {
		into.lock().unwrap().push(request);
		let answer = answer.clone();
		async move {
			let _ = stream.write_all(answer.as_bytes()).await;
		}
	})
	.await;
	(url, kept)
}

#[tokio::test]
async fn a_stranger_gets_no_credentials_of_this_machine() {
	let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
	let (server, kept) = keeping(answer.into()).await;
	let begins = ["s3://mine", "gs://mine", "hf://me/mine"].map(own).to_vec();
	let fetcher = quick().with_stores(at(&server).with_credentials(begins, credentials()));
	for url in ONE_OF_EACH {
		assert_eq!(fetcher.get(url, 9).await.unwrap(), b"ok");
	}
	for asked in std::mem::take(&mut *kept.lock().unwrap()) {
		for word in ["authorization", "x-amz-", "of-s3", "of-gs", "of-hub", "lent", "secret"] {
			assert!(!asked.contains(word), "{asked}");
		}
	}
	for url in ["s3://mine/file", "gs://mine/file", "hf://me/mine/file"] {
		assert_eq!(fetcher.get(url, 9).await.unwrap(), b"ok");
	}
	let kept = std::mem::take(&mut *kept.lock().unwrap());
	assert_eq!(kept.len(), 3);
	assert!(kept.iter().all(|asked| asked.contains("authorization: ")), "{kept:?}");
	assert!(!kept.iter().any(|asked| asked.contains("secret")), "a secret is never sent");
}

/// A signature is for one host: whoever is asked cannot send it on. The token of a hub, whose files lie at other
/// hosts, stays behind.
#[tokio::test]
async fn no_answer_leads_credentials_elsewhere() {
	let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
	let (elsewhere, kept) = keeping(answer.into()).await;
	let server = redirecting(elsewhere).await;
	let begins = ["s3://mine", "gs://mine", "hf://me/mine"].map(own).to_vec();
	let fetcher = quick().with_stores(at(&server).with_credentials(begins, credentials()));
	for url in ["s3://mine/file", "gs://mine/file"] {
		let error = fetcher.get(url, 9).await.unwrap_err();
		assert!(matches!(error, FetchError::Status { .. }), "{error}");
	}
	assert!(kept.lock().unwrap().is_empty(), "nobody was led there");
	assert_eq!(fetcher.get("hf://me/mine/file", 9).await.unwrap(), b"ok");
	assert_eq!(
		fetcher.get("s3://other/file", 9).await.unwrap(),
		b"ok",
		"without them it may be led"
	);
	for asked in kept.lock().unwrap().iter() {
		assert!(!asked.contains("authorization") && !asked.contains("of-hub"), "{asked}");
	}
	assert_eq!(kept.lock().unwrap().len(), 2);
}
