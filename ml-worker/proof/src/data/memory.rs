//! Says how much memory the decoded rows of data may take.

use super::DataError;

/// Environment variable with the memory for the decoded rows of data, in MiB. Larger ones are kept
/// in a temporary file; with 0, all are.
pub const MEMORY_VARIABLE: &str = "TRAINYARD_DATA_MEMORY";

const MIB: u64 = 1 << 20;
/// Memory that is assumed where the system does not report it.
const UNKNOWN: u64 = 4096 * MIB;
/// One part in this many of the available memory is for data.
const SHARE: u64 = 4;

/// Returns the bytes of memory for the decoded rows of data: what [`MEMORY_VARIABLE`] says,
/// otherwise a quarter of what is available now.
pub(super) fn for_data() -> Result<u64, DataError> {
	let Some(value) = std::env::var_os(MEMORY_VARIABLE) else {
		return Ok(available().unwrap_or(UNKNOWN) / SHARE);
	};
	let mib = value.to_str().and_then(|text| text.parse::<u64>().ok());
	match mib {
		Some(mib) => Ok(mib.saturating_mul(MIB)),
		None => Err(DataError::Memory { value: value.to_string_lossy().into_owned() }),
	}
}

/// Returns the bytes of memory that this process can get now, by Linux and the limit of its
/// container (cgroup v2).
pub fn available() -> Option<u64> {
	let read = |path: &str| std::fs::read_to_string(path).ok();
	let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
	let system = available_of(&read("/proc/meminfo")?)?;
	let limit = number("/sys/fs/cgroup/memory.max");
	// The cache of files that were read lately is given up when memory is needed.
	let given_up = read("/sys/fs/cgroup/memory.stat").and_then(|text| inactive_of(&text));
	let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
	let used = used.saturating_sub(given_up.unwrap_or(0));
	Some(limit.map_or(system, |limit| system.min(limit.saturating_sub(used))))
}

/// Returns `inactive_file` of a cgroup's `memory.stat`, in bytes.
fn inactive_of(text: &str) -> Option<u64> {
	text.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse().ok()
}

/// Returns `MemAvailable` of a `/proc/meminfo`, in bytes.
fn available_of(text: &str) -> Option<u64> {
	let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
	let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
	Some(kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn what_the_system_reports() {
		let text = "MemTotal:  8000 kB\nMemAvailable:    4000 kB\n";
		assert_eq!(available_of(text), Some(4_096_000));
		assert_eq!(available_of("MemTotal: 8000 kB\n"), None);
		assert_eq!(inactive_of("anon 5\ninactive_file 4096\nactive_file 7\n"), Some(4096));
		assert_eq!(inactive_of("anon 5\n"), None);
		#[cfg(target_os = "linux")]
		assert!(available().is_some_and(|bytes| bytes > 0));
	}
}
