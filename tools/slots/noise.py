"""How much of a product noise on its inputs changes, and what a cheat that keeps results saves without and with it.

    python3 tools/slots/noise.py

Inputs are rounded to a precision after the noise was added, products and sums are exact, and each output is rounded to the
same precision. So a figure is of the precision alone, not of the order of a sum: strict arithmetic (binary32) rounds once
more for each fma, which hides less than it changes. Products of 256 inputs with 64 outputs, weights as training begins with
them (variance 2 / inputs), 256 rows. Everything is drawn from a fixed seed.
"""

import pathlib

import numpy as np

from markdown import percent, table

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "ml-worker" / "examples" / "data" / "digits.csv"
FEATURES, OUTPUTS, ROWS = 256, 64, 256
# Bits of a significand, the leading one among them; of whole numbers the steps on each side of zero.
PRECISIONS = {
    "binary32 (strict)": 24,
    "TF32, binary16": 11,
    "bfloat16": 8,
    "FP8 (E4M3)": 4,
    "8-bit integers": "int8",
}
AMPLITUDES = (0.001, 0.01, 0.1, 1.0)


def significand(x, bits):
    """`x` rounded to so many bits, ties to even. The range of exponents is not bounded."""
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


def rounded(x, precision):
    """`x` in a precision; integers have one scale for all, by the largest."""
    if precision != "int8":
        return significand(x, precision)
    scale = np.abs(x).max() / 127
    return np.rint(x / scale) * scale if scale > 0 else x


def bits_changed(before, after, precision):
    """How many of the low bits of each output are others: log2 of the distance in units of the last place, upwards."""
    if precision == "int8":
        unit = np.full(before.shape, max(np.abs(before).max(), np.abs(after).max(), 1e-300) / 127)
    else:
        largest = np.maximum(np.maximum(np.abs(before), np.abs(after)), 1e-300)
        unit = np.ldexp(1.0, np.frexp(largest)[1] - precision)
    distance = np.rint(np.abs(before - after) / unit)
    return np.where(distance > 0, np.floor(np.log2(np.maximum(distance, 1))) + 1, 0)


def outputs(inputs, weights, precision):
    return rounded(rounded(inputs, precision) @ rounded(weights, precision), precision)


def inputs_of(name, rng, rows=ROWS, features=FEATURES):
    """Inputs of which a cheat would like to reuse results."""
    if name == "standard normal":
        return rng.standard_normal((rows, features))
    if name == "two values, 0 and 1":
        return rng.integers(0, 2, (rows, features)).astype(float)
    return np.full((rows, features), float(name.replace(",", "")))


INPUTS = ("0", "1", "two values, 0 and 1", "standard normal", "255", "65,536")


def least_bits(name, precision, amplitude):
    """What changes of 99 outputs of 100 at least, for inputs with noise of this deviation."""
    rng = np.random.default_rng(1)
    x = inputs_of(name, rng)
    weights = rng.standard_normal((FEATURES, OUTPUTS)) * np.sqrt(2 / FEATURES)
    noise = amplitude * rng.standard_normal(x.shape)
    before, after = outputs(x, weights, precision), outputs(x + noise, weights, precision)
    return int(np.quantile(bits_changed(before, after, precision), 0.01, method="lower"))


def bits_table(amplitude=0.001):
    """Bits of the outputs that noise of this amplitude changes, by inputs and precision."""
    columns = ["inputs", *PRECISIONS]
    rows = [
        [name, *(str(least_bits(name, p, amplitude)) for p in PRECISIONS.values())] for name in INPUTS
    ]
    return table(columns, rows)


def wanted(precision):
    """Bits that are to change: a third of those that an output has."""
    return (8 if precision == "int8" else precision) // 3


def least_amplitude(precision):
    """The least power of two, of the inputs' magnitude, at which noise changes as many bits as are wanted; for the inputs
    that are all the same, which hide most: whatever their magnitude is, only the proportion counts."""
    for power in range(-24, 3):
        if least_bits("1", precision, 2.0**power) >= wanted(precision):
            return power
    return None


def amplitude_table():
    """The least noise by precision, and the largest inputs for which each amplitude is enough."""
    columns = ["precision", "bits to change", "least noise, of the inputs' magnitude"]
    columns += [f"with {amplitude:g}: inputs up to" for amplitude in AMPLITUDES]
    rows = []
    for name, precision in PRECISIONS.items():
        power = least_amplitude(precision)
        if power is None:
            rows.append([name, str(wanted(precision)), "none"] + ["-"] * len(AMPLITUDES))
            continue
        most = [f"{amplitude / 2.0**power:,.4g}" for amplitude in AMPLITUDES]
        rows.append([name, str(wanted(precision)), f"2^{power}", *most])
    return table(columns, rows)


def digits():
    """Rows of the digits, without their labels, as a job reads them: divided by 16."""
    return np.loadtxt(DIGITS, delimiter=",", skiprows=1)[:, :-1] / 16


def saved_by_zeros(x):
    """Part of the fma that are none, since one factor is zero."""
    return float((x == 0).mean())


def saved_by_prefixes(x):
    """Part of the fma of a chain over the features that a row shares with another that begins with the same values, or
    that are with zero: what a cheat leaves out that computes each beginning once."""
    x = np.ascontiguousarray(x)
    computed = 0
    group = np.zeros(len(x), dtype=np.int64)
    for column in x.T:
        # Rows with equal beginnings are in one group.
        pairs = np.stack([group, column.view(np.int64)], axis=1)
        _, first, group = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        computed += int((column[first] != 0).sum())
    return 1 - computed / x.size


def saved_by_keeping(x, noise, again, precision):
    """Part of the fma of a second epoch, the weights being the same, that are in a beginning which a row has again."""
    first, second = (rounded(x + n, precision) for n in (noise, again))
    same = np.cumprod(first == second, axis=1)
    return float(same.mean())


def cheats_table():
    """What each way to reuse results saves of the first product of the digits."""
    rng = np.random.default_rng(2)
    x = digits()
    columns = ["inputs", "noise", "precision", "zeros left out", "equal beginnings computed once", "kept from the last epoch"]
    rows = []
    for name, of, precision, amplitude in [
        ("digits", x, 24, 0.0),
        ("digits", x, 24, 0.001),
        ("digits + 1, x 1,024", (x + 1) * 1_024, 24, 0.001),
        ("digits + 1, x 65,536", (x + 1) * 65_536, 24, 0.001),
        ("digits", x, 8, 0.001),
        ("digits", x, 8, 0.1),
        ("digits", x, "int8", 0.001),
        ("digits", x, "int8", 0.1),
        ("all zero", 0 * x, 24, 0.0),
        ("all zero", 0 * x, 24, 0.001),
    ]:
        noise, again = (amplitude * rng.standard_normal(of.shape) for _ in range(2))
        seen = rounded(of + noise, precision)
        saved = [saved_by_zeros(seen), saved_by_prefixes(seen), saved_by_keeping(of, noise, again, precision)]
        words = next(word for word, bits in PRECISIONS.items() if bits == precision)
        rows.append([name, f"{amplitude:g}", words, *(percent(part) for part in saved)])
    return table(columns, rows)


def main():
    print(bits_table())
    print(amplitude_table())
    print(cheats_table())


if __name__ == "__main__":
    main()
