#!/usr/bin/env python3
"""Carries frames between pairs of network interfaces, later than they came and not all of them.

    wan.py --delay MS [--jitter MS] [--loss PERCENT] NEAR:FAR [NEAR:FAR ...]

What NEAR receives leaves by FAR after the delay, plus up to the jitter, in the order in which it came;
that share of it is lost. What FAR receives leaves by NEAR at once. So between two machines with such a
pair each, every frame is delayed once each way. It stands for netem where the kernel has none. Linux, as
root; frames may be longer than the MTU of a wire, since the kernel cuts them up and checks them later
(PACKET_VNET_HDR).

It prints "ready" when it carries frames, and ends by SIGTERM, or when the interfaces go.
"""

import argparse
import collections
import random
import selectors
import socket
import sys
import time

SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
ETH_P_ALL = 0x0003
# The longest frame with the longest headers before it.
MOST = 1 << 17
# Bytes that a sender may have on their way; more are lost, as by a router that is full.
QUEUE = 64 << 20


def opened(name):
    """A socket that receives what comes in by an interface, and sends by it."""
    it = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    it.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    it.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    for which in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        it.setsockopt(socket.SOL_SOCKET, which, 8 << 20)
    it.bind((name, 0))
    it.setblocking(False)
    return it


class Way:
    """Frames from one interface to another."""

    def __init__(self, source, target, delay, jitter, loss):
        self.source, self.target = source, target
        self.delay, self.jitter, self.loss = delay, jitter, loss
        self.waiting, self.bytes, self.last = collections.deque(), 0, 0.0

    def take(self):
        """Takes what has come in."""
        for _ in range(256):
            try:
                frame = self.source.recv(MOST)
            except (BlockingIOError, InterruptedError):
                return
            if self.loss and random.random() < self.loss or self.bytes > QUEUE:
                continue
            if not self.delay:
                self.send(frame)
                continue
            # Never before the frame that came before it: a wire keeps the order.
            self.last = max(self.last, time.monotonic() + self.delay + self.jitter * random.random())
            self.waiting.append((self.last, frame))
            self.bytes += len(frame)

    def pass_on(self, now):
        """Sends what is due. Returns when the next is."""
        while self.waiting and self.waiting[0][0] <= now:
            _, frame = self.waiting.popleft()
            self.bytes -= len(frame)
            self.send(frame)
        return self.waiting[0][0] if self.waiting else None

    def send(self, frame):
        try:
            self.target.send(frame)
        except (BlockingIOError, InterruptedError):
            pass  # A full queue loses frames, as a router does.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, required=True, help="milliseconds")
    parser.add_argument("--jitter", type=float, default=0.0, help="milliseconds more, at most")
    parser.add_argument("--loss", type=float, default=0.0, help="per cent")
    parser.add_argument("pairs", nargs="+", metavar="NEAR:FAR")
    args = parser.parse_args()
    if args.delay < 0 or args.jitter < 0 or not 0 <= args.loss < 100:
        parser.error("--delay and --jitter are not negative, and --loss is from 0 to below 100")
    selector, ways = selectors.DefaultSelector(), []
    for pair in args.pairs:
        near, colon, far = pair.partition(":")
        if not (near and colon and far):
            parser.error(f"{pair!r} is not NEAR:FAR")
        near, far = opened(near), opened(far)
        out = Way(near, far, args.delay / 1e3, args.jitter / 1e3, args.loss / 100)
        back = Way(far, near, 0.0, 0.0, 0.0)
        for way in (out, back):
            ways.append(way)
            selector.register(way.source, selectors.EVENT_READ, way)
    print("ready", flush=True)
    due = None
    while True:
        wait = None if due is None else max(0.0, due - time.monotonic())
        for key, _ in selector.select(wait):
            key.data.take()
        now = time.monotonic()
        times = [way.pass_on(now) for way in ways]
        due = min((at for at in times if at is not None), default=None)


if __name__ == "__main__":
    try:
        main()
    except PermissionError:
        sys.exit("error: raw sockets need root")
    except OSError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        pass
