"""What keeping bytes on chain costs all nodes, and what the chain asks for it: the figures of docs/protocol.md. Run it:
`python3 -B tools/power/storage.py`. Money in TRY where it is not said otherwise."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parents[2]
MARKET = (HERE / "runtime/src/configs/market.rs").read_text()
SESSION = (HERE / "runtime/src/configs/session.rs").read_text()
TRY = 10**12
USD = 0.01  # a TRY, as in docs/price-of-power.md
DAY = 14_400  # blocks
MONTH = 30 * DAY
MIB = 1 << 20
# A GB of disk for a month on a rented server, in USD: 1 TB for 20 a month.
DISK = 0.02


def constant(text, name):
    return int(re.search(rf"const {name}: \w+ = ([\d_]+);", text)[1].replace("_", ""))


RENT = constant(MARKET, "BlobRent")  # units of 10^-12 for a KiB and a block
NODES = 100  # authorities of a session at most: runtime/src/configs/session.rs
assert "MaxAuthorities: u32 = 100" in SESSION
BASE = 4 * 0.01 + 400 * 0.0001  # runtime/src/configs/money.rs: state_deposit(4, 400)
BYTE = 1e-6  # BlobDepositPerByte
FEE = 0.18  # a MiB of chunks: bytes and hashing, docs/protocol.md


def cost(mib, months):
    """What the disks of all nodes cost."""
    return NODES * DISK * mib * MIB / 1e9 * months / USD


def rent(size, blocks):
    """By the rule of primitives/protocol/src/retention.rs."""
    return RENT * -(-size // 1024) * blocks / TRY


def table():
    rows = [("bytes", "deposit, returned", "rent of a day", "of a month", "of a year", "upload, once")]
    for name, size in [("26 KB", 26_680), ("1 MiB", MIB), ("45 MiB", 45 * MIB), ("500 MB", 500_000_000), ("4 GiB", 1 << 32)]:
        values = [BASE + BYTE * size, rent(size, DAY), rent(size, MONTH), rent(size, 365 * DAY), FEE * size / MIB]
        rows.append((name, *(f"{value:.4g}" if value < 1000 else f"{value:,.0f}" for value in values)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths)))


if __name__ == "__main__":
    mine, theirs = rent(MIB, MONTH), cost(1, 1)
    print(f"a MiB for a month: {mine:.4f} TRY asked, {theirs:.4f} TRY on {NODES} disks at {DISK} USD a GB and month")
    # Whoever stores pays for the disks of all authorities, and not much more.
    assert 0.9 < mine / theirs < 1.1, "BlobRent no longer follows from what disks cost"
    held = BASE + BYTE * MIB
    print(f"its deposit pays for {held / mine:.1f} months where a job keeps it and its owner has nothing else")
    # Filling the disks: 3 chunks of a MiB a block is what blocks carry.
    day = 3 * DAY
    print(f"filling all blocks for a day: {day / 1024:.0f} GiB, {FEE * day:,.0f} TRY of fees before they rise, "
          f"{BYTE * MIB * day:,.0f} TRY of deposits, {mine * day:,.0f} TRY a month of rent")
    table()
