"""Models with the size of their training: parameters and multiply-adds of a forward pass for one example, counted layer
by layer from the shapes that their papers name. Pooling, activations and normalisation are left out of the count of
work (below 2 % in each of these), and normalisation's weights are counted as parameters."""

from dataclasses import dataclass


class Count:
    """Counts the layers of one model, from an image of `channels` x `side` x `side` on."""

    def __init__(self, channels=0, side=0):
        self.channels, self.side, self.parameters, self.multiply_adds = channels, side, 0, 0

    def linear(self, inputs, outputs):
        self.parameters += inputs * outputs + outputs
        self.multiply_adds += inputs * outputs
        return self

    def conv(self, filters, kernel, stride=1, padding=None, bias=True, inputs=None, side=None):
        """A convolution; without `inputs` and `side` it reads what the last one wrote."""
        padding = kernel // 2 if padding is None else padding
        inputs, side = inputs or self.channels, side or self.side
        self.side = (side + 2 * padding - kernel) // stride + 1
        self.channels = filters
        weights = inputs * filters * kernel * kernel
        self.parameters += weights + (filters if bias else 2 * filters)  # a batch norm has two for each filter
        self.multiply_adds += weights * self.side * self.side
        return self

    def pool(self, stride):
        self.side //= stride
        return self


def logistic():
    return Count().linear(784, 10)


def lenet5():
    count = Count(1, 28).conv(6, 5, padding=2).pool(2).conv(16, 5, padding=0).pool(2)
    return count.linear(400, 120).linear(120, 84).linear(84, 10)


def cnn_1m():
    """Two convolutions of 5 x 5 and two fully connected layers: what `trainyard bench` calls cnn."""
    count = Count(1, 28).conv(32, 5, padding=0).pool(2).conv(64, 5, padding=0).pool(2)
    return count.linear(1_024, 1_024).linear(1_024, 10)


def resnet(blocks, bottleneck):
    """He and others, Deep Residual Learning for Image Recognition (2015), table 1, on images of 224 x 224."""
    count = Count(3, 224).conv(64, 7, 2, bias=False)
    count.side = 56
    inputs = 64
    for stage, repeats in enumerate(blocks):
        width = 64 << stage
        for repeat in range(repeats):
            stride = 2 if stage > 0 and repeat == 0 else 1
            side, outputs = count.side, width * (4 if bottleneck else 1)
            if bottleneck:
                count.conv(width, 1, bias=False).conv(width, 3, stride, bias=False).conv(outputs, 1, bias=False)
            else:
                count.conv(width, 3, stride, bias=False).conv(width, 3, bias=False)
            if inputs != outputs:
                count.conv(outputs, 1, stride, bias=False, inputs=inputs, side=side)
            inputs = outputs
    return count.linear(inputs, 1_000)


def resnet18():
    return resnet([2, 2, 2, 2], bottleneck=False)


def resnet50():
    return resnet([3, 4, 6, 3], bottleneck=True)


def gpt2(context=1_024, width=768, blocks=12, vocabulary=50_257):
    """Radford and others, Language Models are Unsupervised Multitask Learners (2019): one sequence is an example. The
    embedding is the head's weight as well, so it is one matrix of parameters; a look-up is no work."""
    count = Count()
    for _ in range(blocks):
        for inputs, outputs in [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]:
            count.parameters += inputs * outputs + outputs
            count.multiply_adds += context * inputs * outputs
        count.multiply_adds += context * (context + 1) * width  # scores and sums of a causal attention
        count.parameters += 4 * width  # two layer norms
    count.parameters += 2 * width + (vocabulary + context) * width
    count.multiply_adds += context * width * vocabulary
    return count


@dataclass
class Training:
    """A model with the training that is usual for it."""

    name: str
    count: Count
    examples: int  # of an epoch
    epochs: float
    bytes: int  # of the data, as they are fetched
    batch: int
    what: str

    @property
    def flop(self):
        """A multiply-add is two; the backward pass is twice the forward pass."""
        return 6 * self.count.multiply_adds * self.examples * self.epochs


MIB, GIB = 1 << 20, 1 << 30
ALL = [
    Training("logistic regression", logistic(), 60_000, 20, 11 * MIB, 64, "MNIST, 20 epochs"),
    Training("LeNet-5", lenet5(), 60_000, 20, 11 * MIB, 64, "MNIST, 20 epochs"),
    Training("CNN, 1.1 M", cnn_1m(), 60_000, 20, 11 * MIB, 64, "MNIST, 20 epochs"),
    Training("ResNet-18", resnet18(), 1_281_167, 90, 138 * GIB, 256, "ImageNet, 90 epochs"),
    Training("ResNet-50", resnet50(), 1_281_167, 90, 138 * GIB, 256, "ImageNet, 90 epochs"),
    Training("GPT-2 small", gpt2(), 2_480_000_000 // 1_024, 1, 5 * GIB, 64, "2.5 x 10^9 tokens, 20 a parameter"),
]
