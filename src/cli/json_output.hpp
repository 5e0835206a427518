// JSON that the program prints.
#pragma once
#include <nlohmann/json.hpp>

#include <exception>

namespace rlx {
struct DispatchReport;
}

namespace rlx::cli {

/// Null for what JSON has no number for.
nlohmann::json number(double x);
nlohmann::json report_json(const DispatchReport& report);
/// {"error": {"type": "NumericalError", "message": ..., and what else that type knows}}
nlohmann::json error_json(const std::exception& error);
/// Prints `object` and a line end on standard output.
void print_json(const nlohmann::json& object);

}  // namespace rlx::cli
