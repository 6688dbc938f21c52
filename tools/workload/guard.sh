#!/usr/bin/env bash
# Reads from a program what it has started, a line each, and ends that when the program has gone without saying
# "done": `process PID`, `gone PID`, `netns PREFIX`, `done`. Started by guard.mjs.
trap '' INT TERM HUP
declare -A processes
prefix=''
while read -r what value; do
	case $what in
		process) processes[$value]=1 ;;
		gone) unset "processes[$value]" ;;
		netns) prefix=$value ;;
		done) exit 0 ;;
	esac
done
for pid in "${!processes[@]}"; do kill -KILL "$pid" 2>/dev/null; done
[ -n "$prefix" ] || exit 0
for space in $(ip netns list | awk '{ print $1 }'); do
	case $space in
		"$prefix"-*)
			for pid in $(ip netns pids "$space"); do kill -KILL "$pid" 2>/dev/null; done
			ip netns del "$space"
			;;
	esac
done
