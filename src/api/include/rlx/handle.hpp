// What Tensor and Csr have in common: a value that is either here (concrete) or a value of a computation that is being
// traced. Traced ones live only inside the function that is traced.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_value.hpp>

#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rlx {

/// A traced value was used where only its type is known (to steer C++ control flow, to read elements), or outside the
/// function in whose trace it was made.
class RLX_API TraceError : public Error {
 public:
  explicit TraceError(const std::string& message) : Error("TraceError", message) {}
  ~TraceError() override;
};

namespace detail {
class Frame;
struct Traced {
  std::shared_ptr<Frame> frame;
  ValueId id = -1;
};
/// Left where a value was: `to` says which argument of what took its memory.
struct Donated {
  std::string to;
};
}  // namespace detail

/// Copies share: values are immutable.
class RLX_API Handle {
 public:
  Handle() = default;
  explicit Handle(HostValue v) : held_(std::move(v)) {}
  explicit Handle(detail::Traced t) : held_(std::move(t)) {}
  explicit Handle(detail::Donated d) : held_(std::move(d)) {}

  /// False where it was never given a value, or has donated it.
  bool defined() const { return std::holds_alternative<HostValue>(held_) || is_traced(); }
  bool is_traced() const { return std::holds_alternative<detail::Traced>(held_); }
  /// Throws ArgumentError unless it is defined.
  Type type() const;
  /// The value itself; throws TraceError for a traced one.
  const HostValue& host() const;
  const detail::Traced& traced() const { return std::get<detail::Traced>(held_); }
  /// Throws ArgumentError that says why, unless it is defined; `use` completes "a tensor ... <use>".
  void require_defined(const std::string& use) const;

 private:
  std::variant<std::monostate, HostValue, detail::Traced, detail::Donated> held_;
};
using Handles = std::vector<Handle>;

/// The line of a user's program that a function over tensors was called from: their last argument, which the compiler
/// fills in. What they emit is located there, and what is refused of it. Within a function that is traced without a
/// location, as a library's own are, nothing has one.
class Here {
 public:
  Here(const std::source_location& at) : at_(at) {}  // NOLINT: Here here = std::source_location::current()
  /// Of a library's call, which is no line of the user's.
  static Here nowhere() { return std::source_location(); }
  Location location() const { return {at_.file_name(), at_.line()}; }

 private:
  std::source_location at_;
};

/// The last argument of a function over tensors, in its declaration. (So none of them is passed by its address; wrap it
/// in a lambda.)
#define RLX_HERE ::rlx::Here here = std::source_location::current()

/// What errors say of who builds: the name of the function over tensors, and where it was called.
struct Caller {
  std::string_view function{};
  Here here = Here::nowhere();
};

/// The results of `emit`, which writes nodes over `operands`: into the computation that is being traced, else compiled
/// for the default device, cached and run at once. How families make functions over Tensor from their builder
/// functions. An ArgumentError or VerifyError from `emit` names the caller's function first.
RLX_API Handles build(const Handles& operands, const std::function<Values(Builder&, ValuesIn)>& emit,
                      const Caller& caller = {});
/// One operator of the default catalog by name, as an outside project calls its own.
RLX_API Handles call(std::string_view op, const Handles& operands, AnyAttrs attrs = {},
                     Here here = std::source_location::current());

/// Whether the calling thread is inside a traced function.
RLX_API bool is_tracing();

/// The device of what runs without being asked for another: RLX_DEVICE, else the first real one that is available, else
/// the reference.
RLX_API std::string default_device();

}  // namespace rlx
