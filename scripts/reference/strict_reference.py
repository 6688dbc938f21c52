#!/usr/bin/env python3
"""A second telling of docs/strict-arithmetic.md in NumPy; it shares no code with the project.

Reproduces the vectors of the page: functions, operators, and, in the lines `train ...`, state
hashes and losses of short runs of an MLP (SGD, AdamW, all options of the training), a convolutional
network and a transformer.

Usage: strict_reference.py [PAGE]; exits with 0 where every line agrees. Needs NumPy.
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True
from arithmetic import (
    F,
    Stream,
    bits,
    cos_pi,
    dot,
    drawn,
    epoch,
    erf,
    exp,
    fma,
    gelu,
    gelu_grad,
    inverse_normal,
    log,
    nano,
    philox,
    sigmoid,
    silu_grad,
    strict_max,
    strict_sum,
    symmetric,
    tanh,
    words_of,
)
from layers import (
    Activation,
    Attention,
    Conv,
    Dropout,
    Embedding,
    LayerNorm,
    Linear,
    Model,
    Pool,
    Skip,
    causal_softmax,
    causal_softmax_grad,
    state_hash,
)

PAGE = "docs/strict-arithmetic.md"

# Section 8: the runs.


def x_of(i):
    return F(F((37 * i + 11) % 101 - 50) / F(64))


def token(n):
    return (n * n + n // 3) % 3


SEED = bytes([7] * 32)


def run(name, steps):
    seed, batch, rows, total = SEED, 4, 10, 50
    inputs = lambda row: [x_of(5 * row + j) for j in range(5)]
    labels = lambda row: [row % 3]
    optimizer, options = "adamw", name == "options"
    if name in ("sgd", "adamw", "options"):
        activation = Activation("silu" if options else "relu")
        layers = [Linear(5, 6), activation, Linear(6, 3)]
        optimizer = "adamw" if name == "adamw" else "sgd"
    elif name == "cnn":
        optimizer = "adam"
        inputs = lambda row: [x_of(36 * row + j) for j in range(36)]
        layers = [
            Conv(1, 4, 3, 1, 1),
            Activation("relu"),
            Pool("max", 2, 2),
            Conv(4, 3, 3, 2, 1),
            Activation("relu"),
            Pool("avg", 2, 1),
            Linear(3, 3),
        ]
    elif name == "transformer":
        inputs = lambda row: [F(token(6 * row + j)) for j in range(6)]
        labels = lambda row: [token(6 * row + j + 1) for j in range(6)]
        drop = lambda number: Dropout(100_000_000, number, seed)
        layers = [
            Embedding(3, 6, 8),
            drop(0),
            LayerNorm(8),
            Attention(6, 8, 2),
            drop(1),
            Skip(3),
            LayerNorm(8),
            Linear(8, 16),
            Activation("gelu"),
            Linear(16, 8),
            drop(2),
            Skip(5),
            LayerNorm(8),
            Linear(8, 3),
        ]
    else:
        raise SystemExit(f"no run is called {name}")
    model = Model(seed, layers)
    kept = {}
    for full, value in model.parameters().items():
        for kind in ("velocity",) if optimizer == "sgd" else ("m", "v"):
            kept[f"optimizer.{kind}.{full}"] = np.zeros_like(value)
    if optimizer != "sgd":
        kept["optimizer.beta1_power"] = np.ones(1, dtype=F)
        kept["optimizer.beta2_power"] = np.ones(1, dtype=F)
    loss = None
    for step in range(steps):
        per_epoch = rows // batch
        order, place = epoch(seed, step // per_epoch, rows), step % per_epoch
        chosen = order[place * batch : (place + 1) * batch]
        x = np.array([inputs(row) for row in chosen], dtype=F)
        y = np.array([label for row in chosen for label in labels(row)])
        if options:
            words = Stream(seed, "noise").words(step, x.size)
            x = fma(nano(10_000_000), inverse_normal(symmetric(words)).reshape(x.shape), x)
        if name == "cnn":
            x = x.reshape(batch, 1, 6, 6)
        out = model.forward(x, step)
        hot = np.zeros_like(out)
        hot[np.arange(len(y)), y] = F(1)
        if options:
            d = out - hot
            losses = strict_sum(d * d) / F(3)
            g = (d + d) / F(len(y) * 3)
        else:
            shifted = out - strict_max(out)[:, None]
            log_p = shifted - log(strict_sum(exp(shifted)))[:, None]
            losses = -log_p[np.arange(len(y)), y]
            g = (exp(log_p) - hot) / F(len(y))
        loss = strict_sum(losses) / F(len(y))
        gradients = model.backward(g)
        if options:
            squares = None
            for value in gradients.values():
                part = strict_sum((value * value).reshape(-1))
                squares = part if squares is None else squares + part
            n, largest = np.sqrt(squares), nano(300_000_000)
            factor = largest / n if n > largest else F(1)
            gradients = {full: factor * value for full, value in gradients.items()}
        constant = nano(20_000_000)
        now = rate(20_000_000, 1_000_000, 5, total, step) if options else constant
        update(model, kept, gradients, optimizer, now, options)
    text = state_hash({**model.parameters(), **kept})
    return text if loss is None else f"{text} {words_of(loss).item():08X}"


def update(model, kept, gradients, optimizer, rate, nesterov):
    if optimizer != "sgd":
        b1, b2 = nano(900_000_000), nano(999_000_000)
        kept["optimizer.beta1_power"] = b1 * kept["optimizer.beta1_power"]
        kept["optimizer.beta2_power"] = b2 * kept["optimizer.beta2_power"]
    decay = nano(10_000_000)
    for full, x in model.parameters().items():
        g = gradients[full].reshape(x.shape)
        if optimizer == "adam":
            g = fma(decay, x, g)
        else:
            x = fma(-rate, decay, F(1)) * x
        if optimizer == "sgd":
            momentum, key = nano(900_000_000), f"optimizer.velocity.{full}"
            kept[key] = fma(momentum, kept[key], g)
            ahead = fma(momentum, kept[key], g) if nesterov else kept[key]
            model.set(full, fma(-rate, ahead, x))
            continue
        m, v = f"optimizer.m.{full}", f"optimizer.v.{full}"
        kept[m] = fma(b1, kept[m], nano(100_000_000) * g)
        kept[v] = fma(b2, kept[v], nano(1_000_000) * (g * g))
        rest1 = F(1) - kept["optimizer.beta1_power"]
        rest2 = F(1) - kept["optimizer.beta2_power"]
        ratio = (kept[m] / rest1) / (np.sqrt(kept[v] / rest2) + nano(10))
        model.set(full, fma(-rate, ratio, x))


def xs(n):
    return np.array([x_of(i) for i in range(n)], dtype=F)


def ys(n):
    return np.array([F((53 * i + 29) % 97 - 48) / F(3) for i in range(n)], dtype=F)


FUNCTIONS = {
    "exp": exp,
    "sqrt": np.sqrt,
    "inverse_normal": inverse_normal,
    "erf": erf,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "cos_pi": cos_pi,
    "gelu": gelu,
    "silu": lambda x: x * sigmoid(x),
    "gelu_grad": lambda x: gelu_grad(F(1), x),
    "silu_grad": lambda x: silu_grad(F(1), x),
}


def image_vector(name):
    if name.startswith("conv2d"):
        conv = Conv(60, 3, 3, 2, 1)
        conv.p = {"weight": ys(3 * 540).reshape(3, 60, 3, 3), "bias": np.zeros(3, dtype=F)}
        out = conv.forward(xs(2 * 60 * 20).reshape(2, 60, 5, 4), 0)
        if name != "conv2d":
            by_input = conv.backward(ys(out.size).reshape(out.shape), True)
            out = by_input if name == "conv2d_input_grad" else conv.grad["weight"]
        out = out.reshape(-1)
        return np.concatenate([out[:3], out[-3:]])
    pool = Pool(name[:3], 2, 1)
    out = pool.forward((xs if name.startswith("max") else ys)(12).reshape(1, 1, 3, 4), 0)
    return pool.backward(ys(6).reshape(out.shape), True) if name.endswith("grad") else out


def row_vector(name, rows, cols):
    x, g = xs(rows * cols).reshape(rows, cols), ys(rows * cols).reshape(rows, cols)
    norm = LayerNorm(cols)
    norm.p = {"weight": xs(cols), "bias": ys(cols)}
    out = norm.forward(x, 0)
    if name == "layer_norm":
        return out
    by_input = norm.backward(g, True)
    return norm.grad["weight"] if name == "layer_norm_weight_grad" else by_input


def softmax_vector(name, size):
    factor = F(1) / np.sqrt(F(3))
    p = causal_softmax(xs(size * size).reshape(size, size), factor)
    if name == "causal_softmax":
        return p
    return causal_softmax_grad(ys(size * size).reshape(size, size), p, factor)


def random_vector(name, seed, step, number, share, count):
    seed, n = bytes([int(seed, 16)] * 32), round(float(share) * 10**9)
    if name == "dropout":
        return Dropout(n, int(number), seed).forward(ys(int(count)), int(step))
    z = inverse_normal(symmetric(Stream(seed, "noise").words(int(step), int(count))))
    return fma(nano(n), z, ys(int(count)))


def rate(peak, final, warmup, steps, step):
    """Binary32 of the cosine schedule; rates are counts of 10^-9."""
    if step < warmup:
        return nano(peak * (step + 1) // warmup)
    c = cos_pi(F(np.float64(step - warmup) / np.float64(steps - warmup)) * F(0.5))
    return fma(nano(peak) - nano(final), c * c, nano(final))


def answer(name, arguments):
    """What the page should say behind the `=`; `None` for kinds that are not told again."""
    if name == "train":
        return run(arguments[0], int(arguments[1]))
    if name in FUNCTIONS:
        value = FUNCTIONS[name](bits(arguments[0])[0])
    elif name == "fma":
        value = fma(*bits(" ".join(arguments)))
    elif name in ("dot", "sum"):
        n = int(arguments[0])
        value = dot(xs(n), ys(n)) if name == "dot" and n else strict_sum(ys(n)) if n else F(0)
    elif name in ("max_pool", "max_pool_grad", "avg_pool", "avg_pool_grad") or name[:4] == "conv":
        value = image_vector(name)
    elif name.startswith("layer_norm"):
        value = row_vector(name, *map(int, arguments))
    elif name.startswith("causal_softmax"):
        value = softmax_vector(name, int(arguments[0]))
    elif name in ("dropout", "noise"):
        value = random_vector(name, *arguments)
    elif name == "rate":
        peak, final = (round(float(a) * 10**9) for a in arguments[:2])
        value = rate(peak, final, *map(int, arguments[2:]))
    elif name == "philox":
        words = [int(a, 16) for a in arguments]
        return " ".join(f"{w:08X}" for w in philox(words[:4], words[4:]))
    elif name == "weights":
        seed, number, inputs = bytes([int(arguments[0], 16)] * 32), *map(int, arguments[1:])
        value = drawn(seed, number, (4,), inputs)
    elif name == "epoch":
        seed = bytes([int(arguments[0], 16)] * 32)
        return " ".join(map(str, epoch(seed, *map(int, arguments[1:]))))
    else:
        return None
    return " ".join(f"{w:08X}" for w in words_of(np.reshape(value, -1)))


def main():
    here = pathlib.Path(__file__).resolve()
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2] / PAGE
    block = page.read_text().split("```vectors\n")[1].split("```")[0]
    good = wrong = 0
    for line in block.splitlines():
        question, expected = (part.strip() for part in line.split("="))
        name, *arguments = question.split()
        found = answer(name, arguments)
        if found is None:
            continue
        good, wrong = good + (found == expected), wrong + (found != expected)
        if found != expected or name == "train":
            print("ok   " if found == expected else "WRONG", question, "=", found)
    print(f"{good} vectors agree, {wrong} do not")
    sys.exit(1 if wrong or not good else 0)


if __name__ == "__main__":
    main()
