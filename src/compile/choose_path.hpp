// Which lowering an operator instance gets: native, rewritten by a preferred rule, common, rewritten; and why not the
// earlier ones.
#pragma once
#include "compile/dispatch.hpp"

#include <vector>

namespace rlx::compile {

struct Choice {
  Path path = Path::unresolved;
  const KernelRecord* record = nullptr;
  const RewriteRule* rule = nullptr;
  std::vector<Refusal> refusals{};
};

class Chooser {
 public:
  /// All outlive it.
  Chooser(const Target& target, std::span<const KernelRecord> records, const CompileOptions& options)
      : target_(target), records_(records), options_(options) {}

  /// `depth`: how many rules and decompositions the instance is inside of; what a policy says of the user's operators
  /// holds at 0.
  Choice operator()(const Instance& i, int depth) const;

 private:
  Preference preference(std::string_view op) const;
  /// Records, cheapest first; then generated code for primitives.
  bool native(const Instance& i, Preference want, Choice& c) const;
  Answer accepts(const KernelRecord& r, const Instance& i) const;

  const Target& target_;
  std::span<const KernelRecord> records_;
  const CompileOptions& options_;
};

}  // namespace rlx::compile
