// Where in a user's program an error lies.
#pragma once
#include <rlx/ir/error.hpp>

namespace rlx {

/// A line of the user's source and a node by its first result ("%17"). What is not known is empty.
struct ErrorSite {
  std::string file{};
  std::uint64_t line = 0;  ///< From 1; 0 where it is not known.
  std::string node{};
};

/// Base of the errors below, for those who catch any Error and ask where it lies.
class RLX_API Located {
 public:
  explicit Located(ErrorSite site) : site_(std::move(site)) {}
  virtual ~Located();
  const ErrorSite& site() const noexcept { return site_; }

 protected:
  Located(const Located&) = default;
  Located& operator=(const Located&) = default;

 private:
  ErrorSite site_;
};

class RLX_API LocatedVerifyError : public VerifyError, public Located {
 public:
  LocatedVerifyError(std::string op, std::string constraint, const std::string& message, ErrorSite site)
      : VerifyError(std::move(op), std::move(constraint), message), Located(std::move(site)) {}
  ~LocatedVerifyError() override;
};

/// A value that should be finite is not.
class RLX_API NonFiniteError : public NumericalError, public Located {
 public:
  NonFiniteError(std::string op, const std::string& message, ErrorSite site)
      : NumericalError(std::move(op), 0, message), Located(std::move(site)) {}
  ~NonFiniteError() override;
};

}  // namespace rlx
