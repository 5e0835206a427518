// What rlx throws, with located.hpp (a place besides), report.hpp (CompileError) and handle.hpp (TraceError). Each is a
// typed fact about the input or the machine; none is thrown from a kernel.
#pragma once
#include <rlx/ir/export.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace rlx {

/// Base of all errors of rlx. `type()` is the stable name that the program prints in JSON.
class RLX_API Error : public std::runtime_error {
 public:
  Error(std::string type, const std::string& message) : std::runtime_error(message), type_(std::move(type)) {}
  ~Error() override;
  const std::string& type() const noexcept { return type_; }
  /// Whether the object whose method threw, and what that was given to change, are as they were before the call. False
  /// where the call had begun to write over what it was to use up: arguments that were donated
  /// (Executable::run_donating, calls of jit functions), and with them the run of a Trainer whose step failed halfway.
  bool object_survives() const noexcept { return object_survives_; }
  /// For what throws, or lets the error through: they are not.
  void set_used_up() noexcept { object_survives_ = false; }

 private:
  std::string type_;
  bool object_survives_ = true;
};

/// An operator instance or a graph breaks a rule. `constraint` is the numbered constraint ("C2"), the rule's name, or
/// where inside the operator another one was refused ("in its decomposition").
class RLX_API VerifyError : public Error {
 public:
  VerifyError(std::string op, std::string constraint, const std::string& message)
      : Error("VerifyError", message), op_(std::move(op)), constraint_(std::move(constraint)) {}
  ~VerifyError() override;
  const std::string& op() const noexcept { return op_; }
  const std::string& constraint() const noexcept { return constraint_; }

 private:
  std::string op_, constraint_;
};

/// A file, or a text given as one, is not what it claims to be.
class RLX_API FormatError : public Error {
 public:
  /// `offset` counts bytes from the start of the file; `line` and, in bytes, `column` count from 1: 0 where the format
  /// has no lines, or a line says enough.
  FormatError(std::string file, std::uint64_t offset, const std::string& what, std::uint64_t line = 0,
              std::uint64_t column = 0);
  ~FormatError() override;
  const std::string& file() const noexcept { return file_; }
  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t line() const noexcept { return line_; }
  std::uint64_t column() const noexcept { return column_; }

 private:
  std::string file_;
  std::uint64_t offset_, line_, column_;
};

/// An argument of a call does not fit: wrong dtype, shape or length, missing, given twice or unknown by name.
class RLX_API ArgumentError : public Error {
 public:
  explicit ArgumentError(const std::string& message) : Error("ArgumentError", message) {}
  ~ArgumentError() override;
};

/// A device's interface reported `code`, or a device, its memory or a needed library is not there.
class RLX_API DeviceError : public Error {
 public:
  DeviceError(std::string api, std::int64_t code, const std::string& message)
      : Error("DeviceError", message), api_(std::move(api)), code_(code) {}
  ~DeviceError() override;
  const std::string& api() const noexcept { return api_; }
  std::int64_t code() const noexcept { return code_; }

 private:
  std::string api_;
  std::int64_t code_;
};

/// The planned total of a program or the size of an operand exceeds what memory there is; found before anything runs.
class RLX_API MemoryError : public Error {
 public:
  MemoryError(const std::string& what, std::uint64_t wanted_bytes, std::uint64_t available_bytes);
  ~MemoryError() override;
  std::uint64_t wanted_bytes() const noexcept { return wanted_; }
  std::uint64_t available_bytes() const noexcept { return available_; }

 private:
  std::uint64_t wanted_, available_;
};

/// A computation has no acceptable answer: singular, not positive definite, no convergence.
class RLX_API NumericalError : public Error {
 public:
  /// `info` follows LAPACK: the 1-based index of the offending pivot or minor where there is one, else 0.
  NumericalError(std::string op, std::int64_t info, const std::string& message)
      : Error("NumericalError", message), op_(std::move(op)), info_(info) {}
  NumericalError(std::string op, const std::string& message, std::int64_t iterations, double residual)
      : Error("NumericalError", message), op_(std::move(op)), iterations_(iterations), residual_(residual) {}
  ~NumericalError() override;
  const std::string& op() const noexcept { return op_; }
  std::int64_t info() const noexcept { return info_; }
  /// Iterations done and relative residual reached; -1 where the failure is not one of convergence.
  std::int64_t iterations() const noexcept { return iterations_; }
  double residual() const noexcept { return residual_; }

 private:
  std::string op_;
  std::int64_t info_ = 0, iterations_ = -1;
  double residual_ = -1;
};

/// A bug of ours, never the user's fault; the message names the place.
class RLX_API InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error("InternalError", message) {}
  ~InternalError() override;
};

}  // namespace rlx
