// Checked mode in the cases that the references run.
#pragma once
#include "api/conformance/checks.hpp"

namespace rlx::conformance {

/// Whether the instance, on these operands, looks at no index out of range: samples of what is clamped or dropped do.
bool stays_in_range(const Instance& i, const HostValues& in, const Registry& registry);

/// Evaluates a graph that was made of an instance's: a derivative, a batched form. Where `checked`, which is to say
/// that the instance stays in range, an index out of range is an ArgumentError: users run what is made of their graphs
/// in checked mode too.
HostValues evaluate_made(const Graph& g, const HostValues& in, bool checked, const Registry& registry);

}  // namespace rlx::conformance
