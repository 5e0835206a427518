// RLX_CHECK_NUMERICS in a call: the first step that makes a number that is not finite.
#pragma once
#include "runtime/numerics.hpp"
#include "runtime/steps.hpp"

#include <rlx/ir/evaluate.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rlx::runtime {

class NumberWatch {
 public:
  using Contents = std::function<HostTensor(int place)>;

  /// Looks at the inputs and constants: infinities that are given are not the program's doing.
  NumberWatch(const Steps& steps, std::string program, Contents contents);

  /// After a step: throws NonFiniteError where it stored something worse than all it was given.
  void check_stored(const Step& s);

 private:
  Numbers& held(int place);

  const Steps& steps_;
  std::string program_;
  Contents contents_;
  std::vector<Numbers> numbers_;  // By place.
};

/// The same of a node that a device that interprets has run: it is the node's own row of the report that is named.
void check_evaluated(const Evaluated& e, const DispatchReport& report, const std::string& program);

/// Whether a constant of the region, or of regions inside it, is infinite.
bool holds_infinity(const Graph& g, RegionId region);

}  // namespace rlx::runtime
