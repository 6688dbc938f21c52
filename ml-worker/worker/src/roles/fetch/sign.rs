//! Signs requests to object stores: version 4 of Amazon's signatures, in headers, which Google's stores and
//! all of S3's kind take as well.

use reqwest::{header::HeaderMap, Method, Url};
use std::time::SystemTime;

/// The keys of an account of an object store.
#[derive(Clone)]
pub struct Keys {
	/// Which key it is.
	pub id: String,
	/// The key.
	pub secret: String,
	/// What shows that keys lent for a time are valid.
	pub token: Option<String>,
}

impl std::fmt::Debug for Keys {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		f.write_str("Keys(..)")
	}
}

/// The SHA-256 of an empty body, in hex.
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What a request does.
#[derive(Clone, Debug)]
pub(super) struct Action {
	/// Its method.
	pub method: Method,
	/// The SHA-256 of its body, in hex.
	pub body: String,
	/// What is said of a file that is put: names begin with `x-amz-`, and are those of headers.
	pub about: Vec<(&'static str, String)>,
}

impl Action {
	/// Returns a request without a body.
	pub fn of(method: Method) -> Self {
		Self { method, body: NOTHING.into(), about: Vec::new() }
	}
}

/// Returns the headers that make a request to `url` one of whoever has the `keys`, in a `region`, at a time. `None`
/// where a key cannot stand in a header, or the URL has no host.
#[cfg(feature = "object-stores")]
pub(super) fn headers(
	action: &Action,
	url: &Url,
	keys: &Keys,
	region: &str,
	now: SystemTime,
) -> Option<HeaderMap> {
	use reqwest::header::{HeaderName, HeaderValue};
	use ring::{digest, hmac};

	let (date, time) = stamp(now)?;
	let host = match url.port() {
		Some(port) => format!("{}:{port}", url.host_str()?),
		None => url.host_str()?.to_owned(),
	};
	let mut signed = vec![
		("host", host),
		("x-amz-content-sha256", action.body.clone()),
		("x-amz-date", time.clone()),
	];
	if let Some(token) = &keys.token {
		signed.push(("x-amz-security-token", token.clone()));
	}
	signed.extend(action.about.iter().cloned());
	signed.sort_unstable();
	let names: Vec<_> = signed.iter().map(|(name, _)| *name).collect();
	let names = names.join(";");
	let lines: String = signed.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
	let Action { method, body, .. } = action;
	let request = format!("{method}\n{}\n\n{lines}\n{names}\n{body}", url.path());
	let hash = hex::encode(digest::digest(&digest::SHA256, request.as_bytes()));
	let scope = format!("{date}/{region}/s3/aws4_request");
	let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
	let mac = |key: &[u8], text: &str| {
		hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
	};
	let mut key = format!("AWS4{}", keys.secret).into_bytes();
	for part in [date.as_str(), region, "s3", "aws4_request"] {
		key = mac(&key, part);
	}
	let signature = hex::encode(mac(&key, &text));
	let authorization = format!(
		"AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
		keys.id
	);
	let mut headers = HeaderMap::new();
	// The client writes the host.
	let others = signed.into_iter().filter(|(name, _)| *name != "host");
	let others = others.chain([("authorization", authorization)]);
	for (name, value) in others {
		let mut value = HeaderValue::from_str(&value).ok()?;
		value.set_sensitive(matches!(name, "authorization" | "x-amz-security-token"));
		headers.insert(HeaderName::from_static(name), value);
	}
	Some(headers)
}

/// Without the feature nothing is signed; nobody asks for it, since locations of stores are none then.
#[cfg(not(feature = "object-stores"))]
pub(super) fn headers(_: &Action, _: &Url, _: &Keys, _: &str, _: SystemTime) -> Option<HeaderMap> {
	None
}

/// Returns a time as `YYYYMMDD` and `YYYYMMDDTHHMMSSZ`. `None` before 1970.
#[cfg(feature = "object-stores")]
fn stamp(now: SystemTime) -> Option<(String, String)> {
	let seconds = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
	let (days, second) = (seconds / 86_400, seconds % 86_400);
	// Days are counted from 1 March of the year 0 in eras of 400 years, which are alike (Hinnant's algorithm).
	let days = days + 719_468;
	let (era, day) = (days / 146_097, days % 146_097);
	let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
	let of_year = day - (365 * year + year / 4 - year / 100);
	let months = (5 * of_year + 2) / 153;
	let day = of_year - (153 * months + 2) / 5 + 1;
	let month = if months < 10 { months + 3 } else { months - 9 };
	let year = era * 400 + year + u64::from(month <= 2);
	let date = format!("{year:04}{month:02}{day:02}");
	let time = format!("{date}T{:02}{:02}{:02}Z", second / 3_600, second / 60 % 60, second % 60);
	Some((date, time))
}

#[cfg(all(test, feature = "object-stores"))]
mod tests {
	use super::*;
	use std::time::Duration;

	#[test]
	fn dates_are_those_of_the_calendar() {
		let at = |seconds| stamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
		for (seconds, time) in [
			(0, "19700101T000000Z"),
			(951_782_399, "20000228T235959Z"),
			(951_782_400, "20000229T000000Z"),
			(951_868_800, "20000301T000000Z"),
			(1_369_353_600, "20130524T000000Z"),
			(1_735_689_599, "20241231T235959Z"),
			(4_107_542_400, "21000301T000000Z"),
		] {
			let found = at(seconds);
			assert_eq!((found.0.as_str(), found.1.as_str()), (&time[..8], time));
		}
	}

	/// Keys and request are those of an example of Amazon's documentation, without the range that it signs as
	/// well; the signatures were computed with Python's `hmac` and `hashlib`. A server of a package checks
	/// others in `tools/end-to-end/stores.test.mjs`.
	#[test]
	fn signatures_are_those_of_another_program() {
		let keys = |token: Option<&str>| Keys {
			id: "AKIAIOSFODNN7EXAMPLE".into(),
			secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
			token: token.map(str::to_owned),
		};
		let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
		let sign = |url: &str, token| {
			let url = Url::parse(url).unwrap();
			let get = Action::of(Method::GET);
			let headers = headers(&get, &url, &keys(token), "us-east-1", now).unwrap();
			let text = headers["authorization"].to_str().unwrap().to_owned();
			assert!(headers["authorization"].is_sensitive());
			assert_eq!(headers["x-amz-date"], "20130524T000000Z");
			text.rsplit_once("Signature=").unwrap().1.to_owned()
		};
		assert_eq!(sign("https://examplebucket.s3.amazonaws.com/test.txt", None), PLAIN);
		assert_eq!(sign("http://127.0.0.1:9000/bucket/a%20b/%C3%A4", Some("lent")), LENT);
	}

	/// A file that is put, with what is said of it between the other headers, which are sorted.
	#[test]
	fn what_is_put_is_signed_with_what_is_said_of_it() {
		let keys = Keys {
			id: "AKIAIOSFODNN7EXAMPLE".into(),
			secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
			token: Some("lent".into()),
		};
		let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
		let url = Url::parse("http://127.0.0.1:9000/bucket/model").unwrap();
		let about = vec![("x-amz-meta-trainyard-root", "ab".repeat(32))];
		let put = Action { method: Method::PUT, body: "cd".repeat(32), about };
		let headers = headers(&put, &url, &keys, "eu-west-1", now).unwrap();
		assert_eq!(headers["x-amz-meta-trainyard-root"], "ab".repeat(32));
		assert_eq!(headers["x-amz-content-sha256"], "cd".repeat(32));
		let text = headers["authorization"].to_str().unwrap();
		assert!(
			text.contains(
				"SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-meta-trainyard-root;x-amz-security-token,"
			),
			"{text}"
		);
		assert_eq!(text.rsplit_once("Signature=").unwrap().1, PUT);
	}

	const PUT: &str = "a96dd3cea7909371d9ce0b29de414899d75e409129ec7f1ff1253676249462e3";
	const PLAIN: &str = "df548e2ce037944d03f3e68682813b093763996d597cf890ca3d9037fd231eb4";
	const LENT: &str = "adf06d4d14e96914ae39a4ce90fca7c1aeb73aa201ef9b1648a3fb7f95c86105";

	#[test]
	fn secrets_are_not_shown() {
		let keys = Keys { id: "id".into(), secret: "hidden".into(), token: Some("hidden".into()) };
		assert!(!format!("{keys:?}").contains("hidden"));
		let url = Url::parse("https://a.example/b").unwrap();
		let get = Action::of(Method::GET);
		let headers = headers(&get, &url, &keys, "auto", SystemTime::now()).unwrap();
		assert!(!format!("{headers:?}").contains("hidden"), "{headers:?}");
	}
}
