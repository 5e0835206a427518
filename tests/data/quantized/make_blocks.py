#!/usr/bin/env python3
"""Writes blocks.safetensors: of each block format random storage, and the numbers that other implementations give for it.

    pip install gguf==0.19.0 ml_dtypes==0.6.0 safetensors numpy
    python3 make_blocks.py blocks.safetensors

GGUF kinds are those of gguf.quants.dequantize. MX kinds are ml_dtypes' element types (float8_e8m0fnu scales, float4_e2m1fn,
float8_e4m3fn, float8_e5m2) multiplied in float32; MXINT8 elements are 64ths. Where GGUF has the kind too, MXFP4, the
two are compared here.
"""
import sys

import gguf
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Kind
from safetensors.numpy import save_file

ROWS = 2
# Places of the f16 fields in a block. Their exponents are kept below 16, so that no number is infinite.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
SUBNORMAL = 0x0123  # As an f16; of the last block.


def gguf_kind(random, name):
    kind = Kind[name]
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (ROWS, 2, size), dtype=np.uint8)
    for at in HALVES[name]:
        blocks[..., at + 1] &= 0xBF
        blocks[-1, -1, at:at + 2] = SUBNORMAL & 0xFF, SUBNORMAL >> 8
    stored = blocks.reshape(ROWS, 2 * size)
    return stored, gguf.quants.dequantize(stored, kind)


def mx_numbers(blocks, elements):
    scale = blocks[..., :1].view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        return (scale * elements).reshape(ROWS, -1)


def mx_blocks(random, size):
    # Scales of all kinds: the least (subnormal as f32), one, the greatest, and NaN.
    blocks = random.integers(0, 256, (ROWS, 4, size), dtype=np.uint8)
    blocks[..., 0] = [[0, 1, 127, 128], [100, 150, 254, 255]]
    return blocks


def mx_bytes(random, element):
    blocks = mx_blocks(random, 33)
    return blocks.reshape(ROWS, -1), mx_numbers(blocks, element(blocks[..., 1:]))


def mxfp4(random):
    blocks = mx_blocks(random, 17)
    codes = np.concatenate([blocks[..., 1:] & 15, blocks[..., 1:] >> 4], axis=-1)
    numbers = mx_numbers(blocks, codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32))
    stored = blocks.reshape(ROWS, -1)
    known = ~np.isnan(numbers)  # GGUF reads the scale 255 as 2^128.
    assert np.array_equal(gguf.quants.dequantize(stored, Kind.MXFP4)[known], numbers[known])
    return stored, numbers


def main():
    random = np.random.default_rng(3)
    made = {name.lower(): gguf_kind(random, name) for name in HALVES}
    made["mxfp4"] = mxfp4(random)
    made["mxfp8_e4m3"] = mx_bytes(random, lambda x: x.view(ml_dtypes.float8_e4m3fn).astype(np.float32))
    made["mxfp8_e5m2"] = mx_bytes(random, lambda x: x.view(ml_dtypes.float8_e5m2).astype(np.float32))
    made["mxint8"] = mx_bytes(random, lambda x: x.view(np.int8).astype(np.float32) / 64)
    tensors = {}
    for name, (stored, numbers) in made.items():
        tensors[name + ".stored"] = np.ascontiguousarray(stored)
        tensors[name + ".numbers"] = np.ascontiguousarray(numbers, dtype=np.float32)
    save_file(tensors, sys.argv[1])


main()
