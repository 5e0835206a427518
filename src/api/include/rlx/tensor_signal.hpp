// Fourier transforms, convolutions, windows and cumulative combinations over Tensor. An axis may be negative, which
// counts from the last. What does not fit is a VerifyError or an ArgumentError at the call.
#pragma once
#include <rlx/tensor.hpp>

#include <cstdint>

namespace rlx {

// --- Discrete Fourier transforms along one dimension of n >= 1: y[k] = sum over j of x[j] exp(-2 pi i j k / n); the
// inverse has the other sign and divides by n. Any n costs n log n. f32 and c64 give c64, f64 and c128 give c128; other
// dtypes are an ArgumentError. Norms of errors are some ulp times the root of log n of the norm of the result.
RLX_API Tensor fft(const Tensor& x, int axis = -1, RLX_HERE);
RLX_API Tensor ifft(const Tensor& x, int axis = -1, RLX_HERE);
/// x real: entries 0 .. n / 2, of which the others are conjugates.
RLX_API Tensor rfft(const Tensor& x, int axis = -1, RLX_HERE);
/// Back from entries 0 .. length / 2 (-1: of the even length that has as many) to `length` real numbers; the imaginary
/// part of entry 0, and of entry length / 2 where length is even, counts as 0.
RLX_API Tensor irfft(const Tensor& x, std::int64_t length = -1, int axis = -1, RLX_HERE);
/// Along several dimensions; {}: all.
RLX_API Tensor fftn(const Tensor& x, Axes axes = {}, RLX_HERE);
RLX_API Tensor ifftn(const Tensor& x, Axes axes = {}, RLX_HERE);

// --- Convolutions and windows. Images are [N, spatial..., C], channels last.
/// input [N, spatial..., C], kernel [spatial..., C / groups, F] of one dtype -> [N, spatial..., F], not flipped:
/// y[p] = sum of input[p * stride + w - low] kernel[w]. Strides, padding, dilations (an input dilation is a transposed
/// convolution), groups and the type of sums: ops::ConvAttrs. Up to three spatial dimensions.
RLX_API Tensor conv(const Tensor& input, const Tensor& kernel, ops::ConvAttrs attrs = {}, RLX_HERE);
/// x of any rank: each window combined by add, mul, min or max; padding counts as the neutral element.
RLX_API Tensor reduce_window(const Tensor& x, ops::ReduceWindowAttrs attrs, RLX_HERE);
/// Size, step and padding of pooling windows, one entry a spatial dimension.
struct Pool {
  Extents window;
  Extents stride{};       ///< Empty: the window, so that windows do not overlap.
  Extents low{}, high{};  ///< Empty: none.
};
/// x [N, spatial..., C] -> [N, spatial..., C]: the greatest element of each window; padding is never it. Several share
/// a cotangent.
RLX_API Tensor max_pool(const Tensor& x, const Pool& pool, RLX_HERE);
/// The mean of each window of a floating or complex x, with zeros as its padding, or without padding.
RLX_API Tensor avg_pool(const Tensor& x, const Pool& pool, bool count_padding = true, RLX_HERE);

// --- Cumulative along one dimension: y[i] combines x[0] .. x[i]; `reverse`: x[i] .. x[n - 1]; `exclusive`: without
// x[i] itself, so that the first is 0 or 1. Sums and products of f16, bf16 and fp8 are formed in f32.
RLX_API Tensor cumsum(const Tensor& x, int axis, bool reverse, bool exclusive = false, RLX_HERE);
RLX_API Tensor cumprod(const Tensor& x, int axis = 0, bool reverse = false, bool exclusive = false, RLX_HERE);
RLX_API Tensor cummax(const Tensor& x, int axis = 0, bool reverse = false, RLX_HERE);
RLX_API Tensor cummin(const Tensor& x, int axis = 0, bool reverse = false, RLX_HERE);

}  // namespace rlx
