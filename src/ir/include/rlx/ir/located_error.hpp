// A VerifyError that knows where the node stands, for programs that show more than its message.
#pragma once
#include <rlx/ir/error.hpp>

namespace rlx {

/// As far as it is known; the message of the error says it too.
struct NodePlace {
  std::string file{};      ///< The text that was parsed, or the source that built the node.
  std::uint64_t line = 0;  ///< From 1; 0 where it is not known.
  std::string node{};      ///< Its results as the text shows them: "%17".
};

class RLX_API LocatedVerifyError : public VerifyError {
 public:
  LocatedVerifyError(std::string op, std::string constraint, const std::string& message, NodePlace place)
      : VerifyError(std::move(op), std::move(constraint), message), place_(std::move(place)) {}
  ~LocatedVerifyError() override;
  const NodePlace& place() const noexcept { return place_; }

 private:
  NodePlace place_;
};

}  // namespace rlx
