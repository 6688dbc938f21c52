//! Reports how much memory this process takes, as the system counts it: pages that are resident.

/// Returns the bytes that are resident now; `None` if the system does not say (on systems other
/// than Linux).
pub fn resident() -> Option<u64> {
	of_status("VmRSS")
}

/// Returns the most bytes that were ever resident; `None` as for [`resident`].
pub fn peak() -> Option<u64> {
	of_status("VmHWM")
}

/// Returns an entry of Linux's `/proc/self/status`.
fn of_status(name: &str) -> Option<u64> {
	if !cfg!(target_os = "linux") {
		return None;
	}
	entry(&std::fs::read_to_string("/proc/self/status").ok()?, name)
}

/// Returns the bytes of the entry `name:  N kB`.
fn entry(status: &str, name: &str) -> Option<u64> {
	let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
	let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
	kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn entries_are_read() {
		let status = "Name:\tx\nVmHWM:\t   13104 kB\nVmRSS:\t 12 kB\nVmSwap: 3 MB\n";
		assert_eq!(entry(status, "VmHWM"), Some(13_104 * 1_024));
		assert_eq!(entry(status, "VmRSS"), Some(12 * 1_024));
		for missing in ["VmPeak", "Vm", "Name", "VmSwap"] {
			assert_eq!(entry(status, missing), None, "{missing}");
		}
	}

	#[cfg(target_os = "linux")]
	#[test]
	fn what_was_written_to_counts() {
		const LEN: usize = 64 << 20;
		drop(std::hint::black_box(vec![1u8; LEN]));
		assert!(peak().unwrap() >= LEN as u64);
		assert!(resident().unwrap() > 0);
	}
}
