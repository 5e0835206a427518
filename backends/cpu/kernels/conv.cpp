#include "conv.hpp"

#include "../kokkos/host_pool.hpp"
#include "../machine.hpp"
#include "matmul.hpp"

#include <rlx/ops/attributes/contraction.hpp>

#include <algorithm>
#include <cstring>

namespace rlx::cpu {
namespace {

using ops::ConvAttrs;
using Sizes = std::vector<std::int64_t>;

/// input [image, spatial.., channel], kernel [window.., channel of a group, feature], output [image, spatial..,
/// feature]. A row of the product is a position of the output, a column a feature, and the depth runs over a patch.
/// Where an element of a patch is, is a sum of two offsets, one by position and one by place in the window, once the
/// input has its padding and gaps: so it is copied with them when there are any.
struct Convolution {
  std::int64_t images = 0, channels = 0, features = 0, groups = 1;
  Sizes in, window, out;                     ///< Spatial extents.
  Sizes low, gap, stride, dilation, padded;  ///< `gap`: distance of input elements in the padded input.
  bool copies = false;

  std::int64_t group_channels() const { return channels / groups; }
  std::int64_t group_features() const { return features / groups; }
  std::int64_t m() const { return images * product(out); }
  std::int64_t k() const { return product(window) * group_channels(); }
  std::int64_t padded_elements() const { return copies ? images * product(padded) * channels : 0; }
  static std::int64_t product(const Sizes& s) {
    std::int64_t n = 1;
    for (std::int64_t e : s) n *= e;
    return n;
  }
};

std::int64_t entry(const Sizes& list, std::size_t d, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[d];
}

Convolution convolution(const ConvAttrs& a, const Shape& x, const Shape& kernel, const Shape& y) {
  Convolution c;
  c.images = x[0].constant(), c.channels = x.back().constant(), c.features = y.back().constant(), c.groups = a.groups;
  for (std::size_t d = 0; d + 2 < x.size(); ++d) {
    c.in.push_back(x[d + 1].constant());
    c.window.push_back(kernel[d].constant());
    c.out.push_back(y[d + 1].constant());
    c.low.push_back(entry(a.low, d, 0));
    c.gap.push_back(entry(a.input_dilation, d, 1));
    c.stride.push_back(entry(a.stride, d, 1));
    c.dilation.push_back(entry(a.kernel_dilation, d, 1));
    c.padded.push_back((c.in[d] - 1) * c.gap[d] + 1 + c.low[d] + entry(a.high, d, 0));
    c.copies = c.copies || c.padded[d] != c.in[d] || c.low[d] != 0;
  }
  return c;
}

/// Offsets of the positions of a grid of `counts`, `steps` apart in a row-major one of `extents`, times `scale`; the
/// last dimension runs fastest. Appended for each of `bases`.
Sizes grid(Sizes bases, const Sizes& counts, const Sizes& steps, const Sizes& extents, std::int64_t scale) {
  Sizes strides(extents.size(), scale);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  for (std::size_t d = 0; d < counts.size(); ++d) {
    Sizes next;
    next.reserve(bases.size() * static_cast<std::size_t>(counts[d]));
    for (std::int64_t b : bases)
      for (std::int64_t i = 0; i < counts[d]; ++i) next.push_back(b + i * steps[d] * strides[d]);
    bases = std::move(next);
  }
  return bases;
}

Sizes steps(std::int64_t count, std::int64_t stride) { return grid({0}, {count}, {stride}, {count}, 1); }

MatmulProblem problem(const Convolution& c, DType t) {
  const std::int64_t image = Convolution::product(c.padded) * c.channels;
  Sizes depth;
  for (std::int64_t at : grid({0}, c.window, c.dilation, c.padded, c.channels))
    for (std::int64_t i = 0; i < c.group_channels(); ++i) depth.push_back(at + i);
  return {.in = t,
          .out = t,
          .a_batch = steps(c.groups, c.group_channels()),
          .a_rows = grid(steps(c.images, image), c.out, c.stride, c.padded, c.channels),
          .a_depth = std::move(depth),
          .b_batch = steps(c.groups, c.group_features()),
          .b_columns = steps(c.group_features(), 1),
          .b_depth = steps(c.k(), c.features),
          .c_row = c.features,
          .c_batch = c.group_features()};
}

/// The input with zeros before, after and between its elements; negative padding leaves elements out.
void pad(const Convolution& c, const std::byte* from, std::int64_t bytes, std::byte* to) {
  struct Padding {
    const Convolution& c;
    const std::byte* from;
    std::int64_t bytes;  ///< Of the channels of one position.
    std::byte* to;
    void rows(std::size_t d, std::int64_t source, std::int64_t target, bool inside) const {
      if (d + 1 == c.in.size() && c.gap[d] == 1) return line(d, source, target, inside);
      if (d < c.in.size()) {
        for (std::int64_t i = 0; i < c.padded[d]; ++i) row(d, i, source, target, inside);
        return;
      }
      copy(source, target, inside ? 1 : 0, 1);
    }
    /// `count` positions, zeros from `held` on.
    void copy(std::int64_t source, std::int64_t target, std::int64_t held, std::int64_t count) const {
      if (held > 0) std::memcpy(to + target * bytes, from + source * bytes, static_cast<std::size_t>(held * bytes));
      if (count > held) std::memset(to + (target + held) * bytes, 0, static_cast<std::size_t>((count - held) * bytes));
    }
    /// The last dimension, where its elements stay neighbours.
    void line(std::size_t d, std::int64_t source, std::int64_t target, bool inside) const {
      const std::int64_t all = c.padded[d], before = std::clamp<std::int64_t>(inside ? c.low[d] : all, 0, all),
                         skipped = std::max<std::int64_t>(0, -c.low[d]);
      copy(0, target * all, 0, before);
      copy(source * c.in[d] + skipped, target * all + before,
           std::clamp<std::int64_t>(c.in[d] - skipped, 0, all - before), all - before);
    }
    /// Position `i` of dimension d.
    void row(std::size_t d, std::int64_t i, std::int64_t source, std::int64_t target, bool inside) const {
      const std::int64_t at = i - c.low[d], span = (c.in[d] - 1) * c.gap[d] + 1;
      const bool holds = inside && at >= 0 && at < span && at % c.gap[d] == 0;
      rows(d + 1, source * c.in[d] + (holds ? at / c.gap[d] : 0), target * c.padded[d] + i, holds);
    }
  };
  const std::int64_t rows = c.padded[0];
  Kokkos::parallel_for("cpu.conv.pad", Kokkos::RangePolicy<HostPool>(0, c.images * rows, Kokkos::ChunkSize(4)),
                       [=, padding = Padding{c, from, bytes, to}](std::int64_t i) {
                         padding.row(0, i % rows, i / rows, i / rows, true);
                       });
}

std::int64_t padded_bytes(const Convolution& c, DType t) { return (byte_size(t, c.padded_elements()) + 63) / 64 * 64; }

}  // namespace

Answer accepts_conv(const Instance& i) {
  const auto& a = i.attrs->as<ConvAttrs>();
  const DType t = i.signature.dtype(0), sums = default_accumulator(t);
  if (a.accumulate != DType::boolean && a.accumulate != sums)
    return Answer::no("accumulates in " + std::string(name(a.accumulate)) + ", here sums of " + std::string(name(t)) +
                      " are " + std::string(name(sums)));
  for (std::size_t o = 0; o < 2; ++o) {
    if (i.signature.tensor(o).layout || i.signature.tensor(o).quantization)
      return Answer::no("operand is not row-major or is quantized");
    if (!is_constant(i.signature.types[o])) return true;  // asked again when the sizes are known
  }
  const Convolution c =
      convolution(a, i.signature.shape(0), i.signature.shape(1), std::get<TensorType>(i.results[0]).shape);
  if (c.in.size() > 3) return Answer::no(std::to_string(c.in.size()) + " spatial dimensions, here at most 3");
  constexpr std::int64_t least = 4096;
  if (c.m() < 4 || c.group_features() < 4 || c.k() < 4)
    return Answer::no("fewer than 4 positions, features of a group or elements of a patch: packing costs more");
  if (const std::int64_t work = c.m() * c.group_features() * c.k(); work < least)
    return Answer::no(std::to_string(work) + " multiplications a group are fewer than " + std::to_string(least));
  return true;
}

std::int64_t conv_workspace(const Instance& i) {
  const DType t = i.signature.dtype(0);
  const Convolution c = convolution(i.attrs->as<ConvAttrs>(), i.signature.shape(0), i.signature.shape(1),
                                    std::get<TensorType>(i.results[0]).shape);
  return padded_bytes(c, t) + matmul_workspace(machine_of(*i.target), t, t, c.groups, c.m(), c.group_features(), c.k());
}

void launch_conv(const LaunchCall& call) {
  const DType t = call.in[0].type.dtype;
  const Convolution c = convolution(call.instance.attrs->as<ConvAttrs>(), call.in[0].type.shape, call.in[1].type.shape,
                                    call.out[0].type.shape);
  auto* workspace = static_cast<std::byte*>(call.workspace.data);
  const std::int64_t padded = padded_bytes(c, t);
  if (c.copies) pad(c, static_cast<const std::byte*>(call.in[0].data), byte_size(t, c.channels), workspace);
  matmul_in(workspace + padded, call.workspace.type.shape.at(0).constant() - padded, machine_of(*call.instance.target),
            problem(c, t), c.copies ? workspace : call.in[0].data, call.in[1].data, call.out[0].data,
            {.epilogue = c.groups == 1 ? call.epilogue : nullptr});
  if (c.groups == 1 || !call.epilogue) return;
  constexpr std::int64_t block = 256;
  Kokkos::parallel_for("cpu.conv.epilogue",
                       Kokkos::RangePolicy<HostPool>(0, (c.m() + block - 1) / block, Kokkos::ChunkSize(1)),
                       [&](std::int64_t i) {
                         const std::int64_t begin = i * block, end = std::min(c.m(), begin + block);
                         (*call.epilogue)(begin* c.features, end* c.features);
                       });
}

}  // namespace rlx::cpu
