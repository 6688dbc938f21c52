"""Numbers, reductions, functions and random numbers (sections 1 to 4).

Part of a second telling of docs/strict-arithmetic.md in NumPy, which shares no code with the
project; see strict_reference.py.
"""

import hashlib

import numpy as np

F = np.float32
np.seterr(all="ignore")


def bits(*words):
    return [np.uint32(int(w, 16)).view(F) for w in " ".join(words).split()]


# Section 1: numbers.


def fma(a, b, c):
    """`a * b + c` rounded once: exact product, sum rounded to odd, then to binary32."""
    product = np.float64(a) * np.float64(b)
    c = np.float64(c)
    total = product + c
    virtual = total - product
    error = (product - (total - virtual)) + (c - virtual)
    product, total, error = np.broadcast_arrays(product, total, error)
    word = np.array(total, dtype=np.float64).view(np.int64)
    odd = (error != 0) & (word & 1 == 0) & np.isfinite(total)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(odd, word + step, word).view(np.float64).astype(F)


def nano(n):
    return F(np.float64(n) / np.float64(10**9))


# Section 2: reductions, over the last axis.


def dot(a, b):
    """Dot products over the last axis, with broadcasting before it."""
    total = None
    k = a.shape[-1]
    for start in range(0, k, 512):
        acc = F(0)
        for p in range(start, min(start + 512, k)):
            acc = fma(a[..., p], b[..., p], acc)
        total = acc if total is None else total + acc
    return total


def strict_sum(x):
    x = np.asarray(x, dtype=F)
    while True:
        n = x.shape[-1]
        results = []
        for start in range(0, n, 1024):
            block = x[..., start : start + 1024]
            lanes = [np.zeros(x.shape[:-1], dtype=F) for _ in range(16)]
            for i in range(block.shape[-1]):
                lanes[i % 16] = lanes[i % 16] + block[..., i]
            for w in (8, 4, 2, 1):
                for j in range(w):
                    lanes[j] = lanes[j] + lanes[j + w]
            results.append(lanes[0])
        if len(results) == 1:
            return results[0]
        x = np.stack(results, axis=-1)


def strict_max(x):
    return np.max(x, axis=-1) + F(0)


# Section 3: functions.


def horner(x, coefficients):
    p = coefficients[0]
    for c in coefficients[1:]:
        p = fma(p, x, c)
    return p


LOG2_E, LN2_HIGH, LN2_LOW, ROUND = bits("3FB8AA3B 3F317218 B102E308 4B400000")
EXP = bits("3AB511E8 3C091D10 3D2AAC79 3E2AAA49 3EFFFFFE")
LOG = bits("BD9C5AC8 3E02ADB6 BE06C2A0 3E116D0E BE2A3922 3E4CD004 BE800113 3EAAAAAA")


def words_of(x):
    return np.asarray(x, dtype=F).view(np.uint32).astype(np.int64)


def power_of_two(n):
    return ((n + 127) << 23).astype(np.uint32).view(F)


def exp(x):
    x = np.where(x > F(89), F(89), x).astype(F)
    x = np.where(x < F(-104), F(-104), x).astype(F)
    s = fma(x, LOG2_E, ROUND)
    n = s - ROUND
    r = fma(n, -LN2_HIGH, x)
    r = fma(n, -LN2_LOW, r)
    y = fma(r * r, horner(r, EXP), r) + F(1)
    integer = words_of(s) - words_of(ROUND)
    half = integer >> 1
    return (y * power_of_two(half)) * power_of_two(integer - half)


def log(x):
    """Of positive numbers that are not subnormal: no run here takes others."""
    d = words_of(x) - 0x3F3504F3
    e = (d >> 23).astype(F)
    m = ((d & 0x7FFFFF) + 0x3F3504F3).astype(np.uint32).view(F)
    t = m - F(1)
    z = t * t
    y = (horner(t, LOG) * t) * z
    y = fma(e, LN2_LOW, y)
    y = fma(F(-0.5), z, y)
    return fma(e, LN2_HIGH, t + y)


ERF_CENTRE = bits("BA1C585E 3BA37227 BCDB3E4C 3DE70CB5 BEC09370 3E0375D3")
ERF_TAIL = bits("37416652 B9AACC3E 3B6F80E6 BCC2DE43 3DD9A24B 3F229819 3E03BD98")
SQRT_HALF, DENSITY, SQRT_2 = bits("3F3504F3 3ECC422A 3FB504F3")


def erf(x):
    a = np.abs(x)
    centre = fma(a, horner(a * a, ERF_CENTRE), a)
    t = np.where(a > F(4), F(4), a)
    tail = F(1) - exp(-fma(t, horner(t, ERF_TAIL), t))
    return np.copysign(np.where(a > F(475 / 512), tail, centre), x)


def tanh(x):
    a = np.abs(x)
    z = a * a
    p = horner(z, bits("BBBAF0E1 3CA9134C BD5C1E2D 3E088393 BEAAAA99"))
    tail = F(1) - F(2) / (exp(a + a) + F(1))
    return np.copysign(np.where(a > F(0.625), tail, fma(a, z * p, a)), x)


def sigmoid(x):
    e = exp(-np.abs(x))
    return np.where(x < 0, e, F(1)) / (F(1) + e)


def cos_pi(x):
    a = np.abs(x)
    h = a * F(0.5)
    big = F(2**23)
    n = np.where(h < big, (h + big) - big, h)
    q = np.abs(a - (n + n))
    cosine = bits("3E6CEABF BFAAE2F0 4081E0EF C09DE9E6")
    sine = bits("3DA5E12B BF196543 402335DD C0A55DE7 40490FDB")
    e = np.where(q > F(0.75), F(1) - q, q)
    c = fma(e * e, horner(e * e, cosine), F(1))
    d = F(0.5) - q
    return np.where(q > F(0.75), -c, np.where(q > F(0.25), d * horner(d * d, sine), c)).astype(F)


CENTRE = bits("32F16588 34B84B36 B66C7357 B6935AC1 396532DB BAA45408 BB88E4EF 3E7C8F63 3FC02E2F")
TAIL = bits("B951F09B 38D3B56B 3AB0DC72 BB70BDE7 3BBC127B BBF9C5D7 3C1AA57E 3F8036DB 40354F7E")


def inverse_normal(x):
    w = -log(fma(-x, x, F(1)))
    p = np.where(w < F(5), horner(w - F(2.5), CENTRE), horner(np.sqrt(w) - F(3), TAIL))
    return SQRT_2 * (p * x)


def gelu(x):
    return (F(0.5) * x) * (F(1) + erf(x * SQRT_HALF))


def gelu_grad(g, x):
    d = DENSITY * exp(F(-0.5) * (x * x))
    return g * fma(x, d, F(0.5) * (F(1) + erf(x * SQRT_HALF)))


def silu_grad(g, x):
    s = sigmoid(x)
    return g * (s * fma(x, F(1) - s, F(1)))


# Section 4: random numbers.


def philox(c, k):
    c, k = list(c), list(k)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (p1 >> 32) ^ c[1] ^ k[0],
            p1 & 0xFFFFFFFF,
            (p0 >> 32) ^ c[3] ^ k[1],
            p0 & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Stream:
    def __init__(self, seed, name):
        h = hashlib.blake2b(b"trainyard/philox/v1" + seed + name.encode(), digest_size=32).digest()
        self.key = [int.from_bytes(h[:4], "little"), int.from_bytes(h[4:8], "little")]

    def block(self, step, index):
        return philox([index & 0xFFFFFFFF, index >> 32, step, 0], self.key)

    def words(self, step, count, first=0):
        blocks = [self.block(step, first + i) for i in range((count + 3) // 4)]
        return [w for block in blocks for w in block][:count]

    def below(self, step, i, bound):
        block = self.block(step, i // 2)
        low, high = block[:2] if i % 2 == 0 else block[2:]
        return ((high << 32 | low) * bound) >> 64


def symmetric(words):
    n = np.array([w >> 8 for w in words], dtype=np.int64)
    return ((2 * n + 1 - 2**24) / 2**24).astype(F)


def drawn(seed, number, shape, inputs):
    words = Stream(seed, "init").words(number, int(np.prod(shape)))
    s = np.sqrt(F(2) / F(5 * inputs))
    z = inverse_normal(symmetric(words))
    centre = F(2) * s
    sign = np.where(np.array([w & 1 for w in words]) == 1, -centre, centre)
    return fma(s, z, sign).reshape(shape)


def epoch(seed, e, n):
    order, stream = list(range(n)), Stream(seed, "shuffle")
    for i in range(n - 1, 0, -1):
        j = stream.below(e, n - 1 - i, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
