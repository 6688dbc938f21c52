#!/usr/bin/env python3
"""Training steps a second of the models of `trainyard bench gpu` in PyTorch, on the same GPU.

    tools/gpu/torch_steps.py [--seconds 3] [--models mlp,cnn,transformer,gpt]

PyTorch computes in an order that depends on the machine and the release, so its bits are nobody's; this
says what the strict order costs. The models, batches, optimizer (AdamW) and loss are those of
ml-worker/bench/src/train/models.rs; each step copies its rows to the GPU and reads its loss, as ours does.
binary32 is measured with and without TF32 (whose products have 10 bits of mantissa).
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        rows, length, width = x.shape
        split = self.into(x).view(rows, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        x = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(x.transpose(1, 2).reshape(rows, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Transformer(nn.Module):
    def __init__(self, blocks, heads, width, context, tokens):
        super().__init__()
        self.token = nn.Embedding(tokens, width)
        self.place = nn.Parameter(torch.zeros(context, width))
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.token(x) + self.place))).flatten(0, 1)


def mlp():
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return model, torch.randn(64, 784), torch.randint(10, (64,))


def cnn():
    model = nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10),
    )  # fmt: skip
    return model, torch.randn(64, 1, 28, 28), torch.randint(10, (64,))


def transformer(blocks=4, heads=4, width=128, context=64, batch=16):
    model = Transformer(blocks, heads, width, context, 65)
    rows = torch.randint(65, (batch, context))
    return model, rows, torch.randint(65, (batch * context,))


MODELS = {
    "mlp": mlp,
    "cnn": cnn,
    "transformer": transformer,
    "gpt": lambda: transformer(12, 12, 768, 256, 8),
}


def measure(name, seconds):
    model, x, y = MODELS[name]()
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(3):
        step()
    rates, begun = [], time.perf_counter()
    while len(rates) < 3 or time.perf_counter() - begun < seconds:
        turn, steps = time.perf_counter(), 0
        while time.perf_counter() - turn < 0.2:
            step()
            steps += 1
        rates.append(steps / (time.perf_counter() - turn))
    return statistics.median(rates)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--models", default=",".join(MODELS))
    args = parser.parse_args()
    names = args.models.split(",")
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        parser.error(f"there is no model {', '.join(unknown)}; there are {', '.join(MODELS)}")
    if not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU here")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; steps a second")
    for name in names:
        found = []
        for tf32 in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            torch.backends.cudnn.allow_tf32 = tf32
            found.append(measure(name, args.seconds))
        print(f"{name:12} binary32 {found[0]:9.1f}   TF32 {found[1]:9.1f}", flush=True)


if __name__ == "__main__":
    main()
