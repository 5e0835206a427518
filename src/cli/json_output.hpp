// JSON that the program prints.
#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace rlx {
struct DispatchReport;
class HostTensor;
}  // namespace rlx

namespace rlx::cli {

/// Null for what JSON has no number for: "not known".
nlohmann::json number(double x);
/// An element of a tensor: a boolean, a number, "nan", "inf" or "-inf", or a pair of them for a complex one.
nlohmann::json element_json(const HostTensor& t, std::int64_t i);
nlohmann::json report_json(const DispatchReport& report);
/// The separately loaded libraries: whether each is there, and where it was looked for.
nlohmann::json plugins_json();
/// "NumericalError"; "MemoryError" where an allocation failed, "InternalError" for what nothing of ours threw.
std::string error_type(const std::exception& error);
std::string error_message(const std::exception& error);
/// {"error": {"type": "NumericalError", "message": ..., and what else that type knows}}
nlohmann::json error_json(const std::exception& error);
/// Prints `object` and a line end on standard output.
void print_json(const nlohmann::json& object);

}  // namespace rlx::cli
