"""Operators, layers and states (sections 5 to 7).

Part of a second telling of docs/strict-arithmetic.md in NumPy, which shares no code with the
project; see strict_reference.py.
"""

import hashlib

import numpy as np

from arithmetic import (
    F,
    Stream,
    dot,
    drawn,
    exp,
    fma,
    gelu,
    gelu_grad,
    nano,
    sigmoid,
    silu_grad,
    strict_max,
    strict_sum,
)

# Section 5: operators.


def matmul(a, b):
    """Products of the last two axes."""
    return dot(a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :])


def patches(x, kernel, stride, padding):
    """`[images, windows, channels, kernel, kernel]`, and the windows' extents."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    rows = (x.shape[2] - kernel) // stride + 1
    columns = (x.shape[3] - kernel) // stride + 1
    seen = [
        x[:, :, y * stride : y * stride + kernel, c * stride : c * stride + kernel]
        for y in range(rows)
        for c in range(columns)
    ]
    return np.stack(seen, axis=1), (rows, columns)


def layer_norm_parts(x):
    cols = F(x.shape[-1])
    d = x - (strict_sum(x) / cols)[..., None]
    s = np.sqrt(strict_sum(d * d) / cols + nano(10_000))[..., None]
    return d / s, s


def causal_softmax(scores, factor):
    out = np.zeros_like(scores)
    for i in range(scores.shape[-1]):
        s = factor * scores[..., i, : i + 1]
        e = exp(s - strict_max(s)[..., None])
        out[..., i, : i + 1] = e / strict_sum(e)[..., None]
    return out


def causal_softmax_grad(g, p, factor):
    out = np.zeros_like(p)
    for i in range(p.shape[-1]):
        seen, part = p[..., i, : i + 1], g[..., i, : i + 1]
        d = strict_sum(part * seen)[..., None]
        out[..., i, : i + 1] = factor * (seen * (part - d))
    return out


def sum_rows(g):
    return strict_sum(g.reshape(g.shape[0], -1).T).reshape(g.shape[1:])


# Section 6: layers. Each has `forward(x)` and `backward(g, needed)`; the latter gives g' and
# keeps the parameters' gradients.


class Layer:
    names = ()

    def gradients(self):
        return [(name, self.grad[name]) for name in self.names]


class Linear(Layer):
    def __init__(self, inputs, outputs, prefix=""):
        self.shape = (outputs, inputs)
        self.names = (prefix + "weight", prefix + "bias")

    def begin(self, draw):
        self.p = {self.names[0]: draw(self.shape, self.shape[1]), self.names[1]: zeros(self.shape[0])}

    def forward(self, x, step):
        self.input_shape = x.shape
        # A sequence has its vectors as rows already.
        self.x = x.reshape(-1, self.shape[1])
        weight, bias = (self.p[n] for n in self.names)
        return matmul(self.x, weight.T) + bias

    def backward(self, g, needed):
        weight = self.p[self.names[0]]
        self.grad = {self.names[0]: matmul(g.T, self.x), self.names[1]: sum_rows(g)}
        return matmul(g, weight).reshape(self.input_shape) if needed else None


class Conv(Layer):
    names = ("weight", "bias")

    def __init__(self, channels, filters, kernel, stride, padding):
        self.shape = (filters, channels, kernel, kernel)
        self.window = (kernel, stride, padding)

    def begin(self, draw):
        fan_in = self.shape[1] * self.shape[2] ** 2
        self.p = {"weight": draw(self.shape, fan_in), "bias": zeros(self.shape[0])}

    def forward(self, x, step):
        self.x = x
        seen, (rows, columns) = patches(x, *self.window)
        n, windows = seen.shape[:2]
        filters = self.shape[0]
        flat = seen.reshape(n, 1, windows, -1)
        out = dot(flat, self.p["weight"].reshape(1, filters, 1, -1))
        return out.reshape(n, filters, rows, columns) + self.p["bias"][:, None, None]

    def backward(self, g, needed):
        kernel, stride, padding = self.window
        seen, (rows, columns) = patches(self.x, *self.window)
        filters = self.shape[0]
        by_filter = g.transpose(1, 0, 2, 3).reshape(filters, 1, -1)
        by_tap = seen.reshape(-1, int(np.prod(self.shape[1:]))).T[None]
        self.grad = {
            "weight": dot(by_filter, by_tap).reshape(self.shape),
            "bias": strict_sum(by_filter[:, 0]),
        }
        if not needed:
            return None
        n, channels, height, width = self.x.shape
        out = np.zeros((n, channels, height + 2 * padding, width + 2 * padding), dtype=F)
        for r in range(kernel):
            for s in range(kernel):
                weight = self.p["weight"][:, :, r, s]
                part = dot(g.transpose(0, 2, 3, 1)[:, None], weight.T[None, :, None, None, :])
                ends = (slice(r, r + rows * stride, stride), slice(s, s + columns * stride, stride))
                out[:, :, ends[0], ends[1]] += part
        return out[:, :, padding : padding + height, padding : padding + width]


class Pool(Layer):
    def __init__(self, kind, kernel, stride):
        self.kind, self.kernel, self.stride = kind, kernel, stride

    def begin(self, draw):
        self.p = {}

    def forward(self, x, step):
        self.x = x
        seen, (rows, columns) = patches(x, self.kernel, self.stride, 0)
        flat = seen.transpose(0, 2, 1, 3, 4).reshape(*x.shape[:2], rows, columns, -1)
        if self.kind == "max":
            self.maximum = strict_max(flat)
            return self.maximum
        total = F(0)
        for i in range(flat.shape[-1]):
            total = total + flat[..., i]
        return total / F(self.kernel**2)

    def backward(self, g, needed):
        self.grad = {}
        out = np.zeros(self.x.shape, dtype=F)
        for i, c, y, x in np.ndindex(g.shape):
            taps = [
                (y * self.stride + r, x * self.stride + s)
                for r in range(self.kernel)
                for s in range(self.kernel)
            ]
            if self.kind == "max":
                chosen = [t for t in taps if self.x[i, c][t] == self.maximum[i, c, y, x]][:1]
                part = g[i, c, y, x]
            else:
                chosen, part = taps, g[i, c, y, x] / F(self.kernel**2)
            for t in chosen:
                out[i, c][t] = out[i, c][t] + part
        return out


class Activation(Layer):
    def __init__(self, kind):
        self.kind = kind

    def begin(self, draw):
        self.p = {}

    def forward(self, x, step):
        self.x = x
        if self.kind == "relu":
            return np.where(x > 0, x, F(0))
        return gelu(x) if self.kind == "gelu" else x * sigmoid(x)

    def backward(self, g, needed):
        self.grad = {}
        g = g.reshape(self.x.shape)
        if self.kind == "relu":
            return np.where(self.x > 0, g, F(0))
        return gelu_grad(g, self.x) if self.kind == "gelu" else silu_grad(g, self.x)


class LayerNorm(Layer):
    names = ("weight", "bias")

    def __init__(self, width):
        self.width = width

    def begin(self, draw):
        self.p = {"weight": np.ones(self.width, dtype=F), "bias": zeros(self.width)}

    def forward(self, x, step):
        self.h, self.s = layer_norm_parts(x)
        return fma(self.h, self.p["weight"], self.p["bias"])

    def backward(self, g, needed):
        self.grad = {"weight": sum_rows(g * self.h), "bias": sum_rows(g)}
        cols = F(self.width)
        q = g * self.p["weight"]
        a = (strict_sum(q) / cols)[..., None]
        b = (strict_sum(q * self.h) / cols)[..., None]
        return ((q - a) - self.h * b) / self.s


class Dropout(Layer):
    def __init__(self, rate_nano, number, seed):
        self.rate, self.number, self.seed = rate_nano, number, seed

    def begin(self, draw):
        self.p = {}

    def forward(self, x, step):
        words = Stream(self.seed, "dropout").words(step, x.size, self.number << 32)
        least = (self.rate << 32) // 10**9
        self.kept = np.array([w >= least for w in words]).reshape(x.shape)
        return self.apply(x)

    def apply(self, x):
        k = F(1) / nano(10**9 - self.rate)
        return np.where(self.kept, k * x, F(0))

    def backward(self, g, needed):
        self.grad = {}
        return self.apply(g)


class Embedding(Layer):
    names = ("tokens", "positions")

    def __init__(self, vocabulary, context, width):
        self.shapes = ((vocabulary, width), (context, width))

    def begin(self, draw):
        width = self.shapes[0][1]
        self.p = {name: draw(shape, width) for name, shape in zip(self.names, self.shapes)}

    def forward(self, x, step):
        self.x = x.astype(np.int64)
        out = self.p["tokens"][self.x] + self.p["positions"]
        return out.reshape(-1, self.shapes[0][1])

    def backward(self, g, needed):
        table = np.zeros(self.shapes[0], dtype=F)
        for token, row in zip(self.x.reshape(-1), g):
            table[token] = table[token] + row
        self.grad = {"tokens": table, "positions": sum_rows(g.reshape(-1, *self.shapes[1]))}
        return None


class Attention(Layer):
    def __init__(self, context, width, heads):
        self.context, self.width, self.heads = context, width, heads
        kinds = ("query.", "key.", "value.", "output.")
        self.linear = [Linear(width, width, kind) for kind in kinds]
        self.names = tuple(name for linear in self.linear for name in linear.names)

    def begin(self, draw):
        for linear in self.linear:
            linear.begin(draw)

    @property
    def p(self):
        return {name: value for linear in self.linear for name, value in linear.p.items()}

    def set(self, name, value):
        for linear in self.linear:
            if name in linear.p:
                linear.p[name] = value

    def split(self, x):
        depth = self.width // self.heads
        return x.reshape(-1, self.context, self.heads, depth).transpose(0, 2, 1, 3)

    def merge(self, x):
        return x.transpose(0, 2, 1, 3).reshape(-1, self.width)

    def forward(self, x, step):
        self.q, self.k, self.v = (self.split(l.forward(x, step)) for l in self.linear[:3])
        self.factor = F(1) / np.sqrt(F(self.width // self.heads))
        self.p_ = causal_softmax(matmul(self.q, np.swapaxes(self.k, -1, -2)), self.factor)
        return self.linear[3].forward(self.merge(matmul(self.p_, self.v)), step)

    def backward(self, g, needed):
        m = self.split(self.linear[3].backward(g, True))
        gp = matmul(m, np.swapaxes(self.v, -1, -2))
        gs = causal_softmax_grad(gp, self.p_, self.factor)
        gradients = [
            matmul(gs, self.k),
            matmul(np.swapaxes(gs, -1, -2), self.q),
            matmul(np.swapaxes(self.p_, -1, -2), m),
        ]
        parts = [l.backward(self.merge(g), needed) for l, g in zip(self.linear, gradients)]
        self.grad = {name: grad for l in self.linear for name, grad in l.grad.items()}
        return (parts[0] + parts[1]) + parts[2] if needed else None


class Skip(Layer):
    def __init__(self, back):
        self.back = back

    def begin(self, draw):
        self.p = {}


def zeros(n):
    return np.zeros(n, dtype=F)


class Model:
    def __init__(self, seed, layers):
        self.layers, number = layers, [0]

        def draw(shape, inputs):
            number[0] += 1
            return drawn(seed, number[0] - 1, shape, inputs)

        for layer in layers:
            layer.begin(draw)
        self.weighted = [layer for layer in layers if layer.names]

    def parameters(self):
        return {
            f"layers.{i}.{name}": layer.p[name]
            for i, layer in enumerate(self.weighted)
            for name in layer.names
        }

    def set(self, full, value):
        _, i, name = full.split(".", 2)
        layer = self.weighted[int(i)]
        layer.set(name, value) if isinstance(layer, Attention) else layer.p.update({name: value})

    def forward(self, x, step):
        inputs = []
        for index, layer in enumerate(self.layers):
            inputs.append(x)
            if isinstance(layer, Skip):
                x = x + inputs[index - layer.back]
            else:
                x = layer.forward(x, step)
        return x

    def backward(self, g):
        first = self.layers.index(self.weighted[0])
        pending = {}
        for index in range(len(self.layers) - 1, first - 1, -1):
            layer = self.layers[index]
            if isinstance(layer, Skip):
                layer.grad = {}
                at = index - layer.back
                if at > first:
                    pending[at] = g if at not in pending else pending[at] + g
            else:
                g = layer.backward(g, index > first)
            if index > first and index in pending:
                g = g + pending[index]
        return {
            f"layers.{i}.{name}": layer.grad[name]
            for i, layer in enumerate(self.weighted)
            for name in layer.names
        }


def compact(n):
    return bytes([n << 2]) if n < 64 else (n << 2 | 1).to_bytes(2, "little")


def state_hash(state):
    out = b"trainyard/state/v1" + compact(len(state))
    for name in sorted(state):
        value = state[name].astype("<f4")
        out += compact(len(name)) + name.encode() + b"\0" + compact(value.ndim)
        out += b"".join(extent.to_bytes(4, "little") for extent in value.shape)
        out += hashlib.blake2b(value.tobytes(), digest_size=32).digest()
    return hashlib.blake2b(out, digest_size=32).hexdigest()
