// conv in common form: one reduction over the kernel window and the channels of a group for each result element.
#include "compile/lower/lower.hpp"
#include "compile/lower/positions.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

void lower_conv(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::ConvAttrs>();
  const auto in = l.shape(n.operands[0]), kernel = l.shape(n.operands[1]), out = l.shape(n.results[0]);
  const std::size_t spatial = in.size() - 2;
  const DType t = l.mir().tensor_type(n.operands[0]).dtype, out_type = l.mir().tensor_type(n.results[0]).dtype;
  const DType accumulate = a.accumulate == DType::boolean ? default_accumulator(t) : a.accumulate;
  const auto at = [](const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
    return list.empty() ? otherwise : list[i];
  };
  const std::int64_t group_in = kernel[spatial], group_out = kernel[spatial + 1] / a.groups;
  const std::vector<std::int64_t> window(kernel.begin(), kernel.begin() + static_cast<std::ptrdiff_t>(spatial) + 1);
  const std::int64_t terms = element_count(window);
  const Value result = l.allocate(n.results[0]);
  if (element_count(out) == 0) return;

  l.kernel(n, out, n.operands, {result}, [&](KernelBody& k) {
    Elements& e = k.elements;
    const Value zero = ops::constant(k.b, HostTensor(accumulate, {}));
    const Index group = e.index().divide(k.position.back(), group_out);
    const Value sum = emit_reduction(
        e, 0, terms, zero,
        [&](const Index& i) {
          const Coordinates w = e.index().coordinates(i, window);
          Coordinates from(in.size()), weight = w;
          Inside inside(e);
          from[0] = k.position[0];
          for (std::size_t d = 0; d < spatial; ++d) {
            Index p =
                k.position[d + 1] * at(a.stride, d, 1) + w[d] * at(a.kernel_dilation, d, 1) + Index(-at(a.low, d, 0));
            const std::int64_t step = at(a.input_dilation, d, 1), span = (in[d + 1] - 1) * step + 1;
            p = inside.limited(p, span);
            if (step > 1) {
              inside.require(
                  ops::compare(e.index().emit(e.index().remainder(p, step)), e.index().number(0), ops::Direction::eq));
              p = e.index().divide(p, step);
            }
            from[d + 1] = p;
          }
          from.back() = group * group_in + w[spatial];
          weight.push_back(k.position.back());
          if (element_count(in) == 0) return zero;
          const Value x = ops::convert(k.load(n.operands[0], from), accumulate),
                      y = ops::convert(k.load(n.operands[1], weight), accumulate);
          return inside.choose(k.b.emit1("mul", {x, y}), zero);
        },
        "add", terms);
    k.store(0, e.index().linear(k.position, out), ops::convert(sum, out_type));
  });
}

}  // namespace rlx::compile
