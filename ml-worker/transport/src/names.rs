//! Looks up the names of relays, for endpoints that go to public addresses alone.

use iroh::dns::{BoxIter, DnsError, DnsResolver, Resolver, TxtRecordData};
use std::{
	future::Future,
	net::{IpAddr, Ipv4Addr, Ipv6Addr},
	pin::Pin,
	time::Duration,
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Decides which addresses are gone to.
pub(crate) type Allowed = fn(IpAddr) -> bool;

/// Leaves out the addresses of names that are not allowed: a stranger's relay could have a name with the
/// address of something in this machine's own network.
#[derive(Debug)]
pub(crate) struct Filtered {
	inner: DnsResolver,
	allowed: Allowed,
}

/// Makes a resolver that asks the name servers of this system, and no others where these do not answer.
pub(crate) fn system() -> DnsResolver {
	DnsResolver::builder().with_system_defaults().disable_fallback().build()
}

impl Filtered {
	pub(crate) fn new(allowed: Allowed) -> Self {
		Self { inner: system(), allowed }
	}
}

type Answer<T> = Pin<Box<dyn Future<Output = Result<BoxIter<T>, DnsError>> + Send>>;

fn boxed<T: Send + 'static>(found: Vec<T>) -> BoxIter<T> {
	Box::new(found.into_iter())
}

impl Resolver for Filtered {
	fn lookup_ipv4(&self, host: String) -> Answer<Ipv4Addr> {
		let (inner, allowed) = (self.inner.clone(), self.allowed);
		Box::pin(async move {
			let found = inner.lookup_ipv4(host, PATIENCE).await?;
			let v4 = found.filter_map(|address| match address {
				IpAddr::V4(v4) if allowed(address) => Some(v4),
				_ => None,
			});
			Ok(boxed(v4.collect()))
		})
	}

	fn lookup_ipv6(&self, host: String) -> Answer<Ipv6Addr> {
		let (inner, allowed) = (self.inner.clone(), self.allowed);
		Box::pin(async move {
			let found = inner.lookup_ipv6(host, PATIENCE).await?;
			let v6 = found.filter_map(|address| match address {
				IpAddr::V6(v6) if allowed(address) => Some(v6),
				_ => None,
			});
			Ok(boxed(v6.collect()))
		})
	}

	fn lookup_txt(&self, host: String) -> Answer<TxtRecordData> {
		let inner = self.inner.clone();
		Box::pin(async move { Ok(boxed(inner.lookup_txt(host, PATIENCE).await?.collect())) })
	}

	fn clear_cache(&self) {
		self.inner.clear_cache();
	}

	fn reset(&self) -> Box<dyn Resolver> {
		self.inner.reset();
		Box::new(Self { inner: self.inner.clone(), allowed: self.allowed })
	}
}
