#include "api/conformance/rungs.hpp"

#include <array>
#include <string>

namespace rlx::conformance {

namespace {

constexpr std::string_view launch = "launch", elementwise = "elementwise", moving = "broadcast and slices",
                           reduction = "reduction", contraction = "dot_general", indexed = "gather and scatter",
                           ordered = "sort and scan", random = "random numbers", control = "control flow",
                           linalg = "linalg family", nn = "nn family", splat = "splat family", comm = "collectives",
                           other = "other";
constexpr std::array all{memory_rung, launch,  elementwise, moving, reduction, contraction, indexed, ordered,
                         random,      control, linalg,      nn,     splat,     comm,        other};

struct Row {
  std::string_view op, rung;
};
constexpr Row rows[] = {{"arg_reduce", reduction},
                        {"associative_scan", ordered},
                        {"barrier", control},
                        {"checkpoint", control},
                        {"conv", contraction},
                        {"dequantize", moving},
                        {"dot_general", contraction},
                        {"dynamic_slice", indexed},
                        {"dynamic_update_slice", indexed},
                        {"fft", contraction},
                        {"gather", indexed},
                        {"if", control},
                        {"layer_norm", reduction},
                        {"log_softmax", reduction},
                        {"logsumexp", reduction},
                        {"mean", reduction},
                        {"ragged_dot", contraction},
                        {"reduce", reduction},
                        {"reduce_window", reduction},
                        {"scan", control},
                        {"scatter", indexed},
                        {"segment_reduce", reduction},
                        {"softmax", reduction},
                        {"stop_gradient", moving},
                        {"sort", ordered},
                        {"top_k", ordered},
                        {"var", reduction},
                        {"while", control}};
constexpr Row families[] = {{"linalg.", linalg}, {"nn.", nn},         {"splat.", splat},
                            {"comm.", comm},     {"sparse.", moving}, {"rng_", random}};

}  // namespace

std::span<const std::string_view> ladder() { return all; }

std::string_view rung_of(const Op& op) {
  for (const Row& r : families)
    if (op.name().starts_with(r.op)) return r.rung;
  for (const Row& r : rows)
    if (op.name() == r.op) return r.rung;
  if (op.has_trait(Trait::constant) || op.operands().empty()) return launch;
  if (op.has_trait(Trait::elementwise)) return elementwise;
  return op.has_trait(Trait::indexing) ? moving : other;
}

}  // namespace rlx::conformance
