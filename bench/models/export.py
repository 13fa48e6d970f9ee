#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks of many kinds as ONNX files, exported by PyTorch with random weights.

usage: export.py FOLDER [NAME...] [--opset N] [--judge]

Each net becomes FOLDER/NAME.onnx and FOLDER/expected/NAME.npz with its inputs
(`in:INPUT`) and what ONNX Runtime computes of them (`out:OUTPUT`); that is what
tests/onnx/models.py reads.  Weights are drawn from one seed, and statistics of
batch norms too, so that they matter.  Needs the packages of
requirements-export.txt.  --judge computes the outputs of models that are there.
"""
import argparse
import os
import sys
import warnings

import numpy as np
import torch
from torch import nn

warnings.filterwarnings("ignore")
SEED = 7
OPSET = 20


def vision(name, size=224, **options):
    import torchvision
    net = getattr(torchvision.models, name)(weights=None, **options)
    return net, {"x": torch.rand(1, 3, size, size)}


def segmentation(name, size=128):
    import torchvision
    net = getattr(torchvision.models.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=21)

    class Out(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(x)["out"]
    return Out(), {"x": torch.rand(1, 3, size, size)}


def tokens(n, vocabulary, batch=1):
    return torch.randint(0, vocabulary, (batch, n))


class First(nn.Module):
    """The first result of a net whose arguments have names."""

    def __init__(self, net, names, **options):
        super().__init__()
        self.net, self.names, self.options = net, names, options

    def forward(self, *values):
        return self.net(**dict(zip(self.names, values)), return_dict=False,
                        **self.options)[0]


def language(kind, inputs, cache=True, **options):
    import transformers
    config = getattr(transformers, kind[0])(**options)
    net = getattr(transformers, kind[1])(config)
    extra = {"use_cache": False} if cache else {}
    return First(net, list(inputs), **extra), inputs


def ids(n, vocabulary, mask=True):
    inputs = {"input_ids": tokens(n, vocabulary)}
    if mask:
        inputs["attention_mask"] = torch.ones(1, n, dtype=torch.int64)
        inputs["attention_mask"][:, -3:] = 0
    return inputs


class Recurrent(nn.Module):
    def __init__(self, cell, layers=2, both=True):
        super().__init__()
        self.embed = nn.Embedding(1000, 64)
        self.cell = cell(64, 96, layers, batch_first=True, bidirectional=both)
        self.head = nn.Linear(96 * (2 if both else 1), 10)

    def forward(self, x):
        return self.head(self.cell(self.embed(x))[0])


class Rnn(Recurrent):
    def __init__(self):
        super().__init__(nn.RNN, both=False)


class SuperResolution(nn.Module):
    def __init__(self, factor=3):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(),
            nn.Conv2d(64, 64, 3, padding=1), nn.PReLU(64),
            nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, factor * factor, 3, padding=1),
            nn.PixelShuffle(factor))

    def forward(self, x):
        return self.body(x) + nn.functional.interpolate(
            x, scale_factor=3, mode="bicubic", align_corners=False)


class Detector(nn.Module):
    """A feature pyramid and a head without anchors: the best of all places."""

    def __init__(self, most=100):
        super().__init__()
        self.most = most

        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, 2, 1, bias=False),
                                 nn.BatchNorm2d(b), nn.SiLU())
        self.one, self.two = block(3, 32), block(32, 64)
        self.three, self.four = block(64, 128), block(128, 128)
        self.heads = nn.ModuleList(nn.Conv2d(128, 4 + 20, 1) for _ in "ab")

    def forward(self, x):
        three = self.three(self.two(self.one(x)))
        four = self.four(three)
        three = three + nn.functional.interpolate(four, scale_factor=2.0)
        parts, steps = [], (8.0, 16.0)
        for head, step, level in zip(self.heads, steps, (three, four)):
            y = head(level).flatten(2).transpose(1, 2)
            h, w = level.shape[2:]
            at = torch.stack(torch.meshgrid(
                torch.arange(h), torch.arange(w), indexing="ij"), -1)
            middle = (at.reshape(1, h * w, 2).float() + 0.5) * step
            size = torch.exp(y[..., 2:4].clamp(max=4.0)) * step
            corner = middle + y[..., :2] * step
            parts.append(torch.cat([corner - size / 2, corner + size / 2,
                                    y[..., 4:].sigmoid()], -1))
        y = torch.cat(parts, 1)
        scores, classes = y[..., 4:].max(-1)
        best, where = torch.topk(scores, self.most, dim=1)
        boxes = torch.gather(y[..., :4], 1, where.unsqueeze(-1).expand(
            -1, -1, 4))
        return boxes, best, torch.gather(classes, 1, where)


class Suppressed(nn.Module):
    """A detector whose boxes are suppressed by better ones near them."""

    def __init__(self):
        super().__init__()
        self.net = Detector(60)

    def forward(self, x):
        import torchvision
        boxes, scores, classes = self.net(x)
        keep = torchvision.ops.nms(boxes[0], scores[0], 0.5)[:20]
        return boxes[0][keep], scores[0][keep], classes[0][keep]


class UNet3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1),
                                  nn.InstanceNorm3d(8, affine=True),
                                  nn.LeakyReLU(0.01))
        self.pool = nn.MaxPool3d(2)
        self.low = nn.Sequential(nn.Conv3d(8, 16, 3, padding=1),
                                 nn.GroupNorm(4, 16), nn.ELU())
        self.up = nn.ConvTranspose3d(16, 8, 2, 2)
        self.out = nn.Conv3d(16, 3, 1)

    def forward(self, x):
        high = self.down(x)
        return self.out(torch.cat([high, self.up(self.low(self.pool(high)))],
                                  1)).softmax(1)


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 32, 1)
        self.parts = nn.ModuleList(
            nn.Conv1d(32, 64, 2, dilation=2 ** k) for k in range(6))
        self.out = nn.Conv1d(32, 16, 1)

    def forward(self, x):
        x = self.first(x)
        for k, part in enumerate(self.parts):
            y = part(nn.functional.pad(x, (2 ** k, 0)))
            a, b = y.chunk(2, 1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return self.out(torch.relu(x)).log_softmax(1)


class Graph(nn.Module):
    """A graph network: messages along edges are summed where they end."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(16, 32), nn.Linear(32, 32)

    def forward(self, x, source, target):
        y = self.one(x)
        sums = torch.zeros_like(y).scatter_add(
            0, target.unsqueeze(1).expand(-1, y.shape[1]), y[source])
        return self.two(torch.relu(sums + y)).mean(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        layers, sizes = [], [64, 128, 64, 32, 3]
        for k, (a, b) in enumerate(zip(sizes, sizes[1:])):
            layers += [nn.ConvTranspose2d(a, b, 4, 2 if k else 1,
                                          1 if k else 0, bias=False)]
            layers += [nn.BatchNorm2d(b), nn.ReLU()] if b != 3 else []
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return torch.tanh(self.net(x))


class Style(nn.Module):
    """Style transfer: reflected borders and instance norms."""

    def __init__(self):
        super().__init__()

        def conv(a, b, k, s=1):
            return [nn.ReflectionPad2d(k // 2), nn.Conv2d(a, b, k, s),
                    nn.InstanceNorm2d(b, affine=True), nn.ReLU()]
        self.net = nn.Sequential(
            *conv(3, 16, 9), *conv(16, 32, 3, 2), *conv(32, 32, 3),
            nn.Upsample(scale_factor=2, mode="nearest"), *conv(32, 16, 3),
            nn.ReflectionPad2d(4), nn.Conv2d(16, 3, 9))

    def forward(self, x):
        return self.net(x)


class Cumulative(nn.Module):
    """Attention of linear length: sums over all earlier keys."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(48, 144), nn.Linear(48, 48)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
        both = torch.einsum("bnd,bne->bnde", k, v).cumsum(1)
        below = 1 / torch.einsum("bnd,bnd->bn", q, k.cumsum(1))
        return self.out(torch.einsum("bnd,bnde,bn->bne", q, both, below))


def transformer():
    net = nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
    return net, {"src": torch.rand(1, 20, 64), "tgt": torch.rand(1, 12, 64)}


def t5():
    return language(("T5Config", "T5ForConditionalGeneration"), {
        "input_ids": tokens(20, 2000),
        "attention_mask": torch.ones(1, 20, dtype=torch.int64),
        "decoder_input_ids": tokens(12, 2000)}, vocab_size=2000, d_model=128,
        d_kv=32, d_ff=256, num_layers=3, num_heads=4)


def whisper():
    return language(("WhisperConfig", "WhisperForConditionalGeneration"), {
        "input_features": torch.rand(1, 80, 400),
        "decoder_input_ids": tokens(8, 3000)}, vocab_size=3000, d_model=128,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256,
        max_source_positions=200, max_target_positions=64)


def bart():
    return language(("BartConfig", "BartModel"), {
        "input_ids": tokens(16, 2000), "decoder_input_ids": tokens(10, 2000)},
        vocab_size=2000, d_model=128, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=256, decoder_ffn_dim=256, max_position_embeddings=64)


def clip():
    import transformers
    small = {"hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 2, "num_attention_heads": 4}
    net = transformers.CLIPModel(transformers.CLIPConfig(
        text_config={**small, "vocab_size": 1000},
        vision_config={**small, "image_size": 64, "patch_size": 16},
        projection_dim=32))
    return First(net, ["input_ids", "pixel_values", "attention_mask"]), {
        "input_ids": tokens(12, 990), "pixel_values": torch.rand(1, 3, 64, 64),
        "attention_mask": torch.ones(1, 12, dtype=torch.int64)}


def encoder(kind, vocabulary=2000, n=24, **options):
    return language(kind, ids(n, vocabulary), cache=False,
                    vocab_size=vocabulary, **options)


SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 256}
NETS = {
    **{n: (lambda n=n: vision(n)) for n in [
        "resnet18", "mobilenet_v3_small", "mobilenet_v3_large", "swin_t",
        "swin_v2_t", "convnext_tiny", "shufflenet_v2_x1_0", "resnext50_32x4d",
        "mnasnet0_5", "regnet_y_400mf", "alexnet", "vgg11_bn",
        "efficientnet_v2_s", "maxvit_t", "vit_b_32"]},
    "inception_v3": lambda: vision("inception_v3", 299, init_weights=False,
                                   aux_logits=False),
    "googlenet": lambda: vision("googlenet", init_weights=False,
                                aux_logits=False),
    "deeplabv3": lambda: segmentation("deeplabv3_mobilenet_v3_large"),
    "lraspp": lambda: segmentation("lraspp_mobilenet_v3_large"),
    "llama": lambda: language(
        ("LlamaConfig", "LlamaForCausalLM"), ids(24, 2000), vocab_size=2000,
        num_key_value_heads=2, max_position_embeddings=64, **SMALL),
    "t5": t5, "whisper": whisper, "bart": bart, "clip": clip,
    "transformer": transformer,
    "gpt_neox": lambda: language(
        ("GPTNeoXConfig", "GPTNeoXForCausalLM"), ids(24, 2000),
        vocab_size=2000, max_position_embeddings=64, **SMALL),
    "opt": lambda: language(
        ("OPTConfig", "OPTForCausalLM"), ids(24, 2000), vocab_size=2000,
        hidden_size=128, num_hidden_layers=2, num_attention_heads=4,
        ffn_dim=256, word_embed_proj_dim=128, max_position_embeddings=64),
    "bloom": lambda: language(
        ("BloomConfig", "BloomForCausalLM"), ids(24, 2000), vocab_size=2000,
        hidden_size=128, n_layer=2, n_head=4),
    "distilbert": lambda: encoder(
        ("DistilBertConfig", "DistilBertModel"), dim=128, n_layers=2,
        n_heads=4, hidden_dim=256),
    "albert": lambda: encoder(("AlbertConfig", "AlbertModel"),
                              embedding_size=64, **SMALL),
    "deberta": lambda: encoder(
        ("DebertaConfig", "DebertaModel"), relative_attention=True,
        max_relative_positions=32, pos_att_type=["c2p", "p2c"], **SMALL),
    "mobilebert": lambda: encoder(
        ("MobileBertConfig", "MobileBertModel"), **{
            **SMALL, "intra_bottleneck_size": 32, "embedding_size": 64}),
    "segformer": lambda: language(
        ("SegformerConfig", "SegformerForSemanticSegmentation"),
        {"pixel_values": torch.rand(1, 3, 128, 128)}, cache=False),
    "wav2vec2": lambda: language(
        ("Wav2Vec2Config", "Wav2Vec2Model"),
        {"input_values": torch.rand(1, 8000)}, cache=False,
        conv_dim=[64] * 7, num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4, **SMALL),
    "gru": lambda: (Recurrent(nn.GRU), {"x": tokens(50, 1000)}),
    "lstm_long": lambda: (Recurrent(nn.LSTM), {"x": tokens(200, 1000)}),
    "rnn": lambda: (Rnn(), {"x": tokens(30, 1000)}),
    "super_resolution": lambda: (SuperResolution(), {
        "x": torch.rand(1, 1, 56, 56)}),
    "detector": lambda: (Detector(), {"x": torch.rand(1, 3, 128, 128)}),
    "detector_nms": lambda: (Suppressed(), {"x": torch.rand(1, 3, 128, 128)}),
    "unet3d": lambda: (UNet3d(), {"x": torch.rand(1, 1, 16, 16, 16)}),
    "wavenet": lambda: (WaveNet(), {"x": torch.rand(2, 1, 256)}),
    "graph": lambda: (Graph(), {
        "x": torch.rand(40, 16), "source": tokens(100, 40)[0],
        "target": tokens(100, 40)[0]}),
    "generator": lambda: (Generator(), {"x": torch.rand(1, 64, 1, 1)}),
    "style": lambda: (Style(), {"x": torch.rand(1, 3, 64, 64)}),
    "cumulative": lambda: (Cumulative(), {"x": torch.rand(1, 64, 48)}),
}


def with_statistics(net):
    for part in net.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return net.eval()


def export(folder, name, opset):
    torch.manual_seed(SEED)
    net, inputs = NETS[name]()
    with torch.no_grad():
        torch.onnx.export(
            with_statistics(net), tuple(inputs.values()),
            os.path.join(folder, name + ".onnx"), opset_version=opset,
            input_names=list(inputs))
    return {k: v.numpy() for k, v in inputs.items()}


def judge(folder, name, inputs):
    """What ONNX Runtime computes, kept beside the inputs."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    peer = onnxruntime.InferenceSession(
        os.path.join(folder, name + ".onnx"), options,
        providers=["CPUExecutionProvider"])
    wanted = [o.name for o in peer.get_outputs()]
    used = {i.name for i in peer.get_inputs()}
    inputs = {k: v for k, v in inputs.items() if k in used}
    arrays = {"in:" + k: v for k, v in inputs.items()}
    for key, value in zip(wanted, peer.run(wanted, inputs)):
        arrays["out:" + key] = value
        arrays["step:" + key] = np.array([1])
    np.savez(os.path.join(folder, "expected", name + ".npz"), **arrays)


def known_inputs(folder, name):
    found = np.load(os.path.join(folder, "expected", name + ".npz"))
    return {k[3:]: found[k] for k in found.files if k.startswith("in:")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--opset", type=int, default=OPSET)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    os.makedirs(os.path.join(options.folder, "expected"), exist_ok=True)
    for name in options.names or NETS:
        try:
            inputs = (known_inputs(options.folder, name) if options.judge else
                      export(options.folder, name, options.opset))
            judge(options.folder, name, inputs)
            print(f"{name}: written", flush=True)
        except Exception as error:  # noqa: BLE001, whatever an exporter says
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}",
                  file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
