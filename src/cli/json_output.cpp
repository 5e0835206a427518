#include "json_output.hpp"

#include "context.hpp"

#include <rlx/compile/report.hpp>
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/linalg/linalg.hpp>

#include <charconv>
#include <cmath>
#include <iostream>
#include <new>
#include <stdexcept>

namespace rlx::cli {

using nlohmann::json;

json number(double x) { return std::isfinite(x) ? json(x) : json(); }

static json named_number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

/// The double of the fewest digits that say `x` among numbers of 32 bits: 0.1, not 0.10000000149011612.
static double short_in_f32(double x) {
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof digits, static_cast<float>(x)).ptr;
  std::from_chars(digits, end, x);
  return x;
}

json element_json(const HostTensor& t, std::int64_t i) {
  if (t.dtype() == DType::boolean) return t.get_i64(i) != 0;
  if (is_unsigned_integer(t.dtype())) return t.get_u64(i);
  if (is_integer(t.dtype())) return t.get_i64(i);
  const bool is_double = t.dtype() == DType::f64 || t.dtype() == DType::c128;
  const auto shown = [is_double](double x) { return named_number(is_double ? x : short_in_f32(x)); };
  if (!is_complex(t.dtype())) return shown(t.get_f64(i));
  const auto v = t.get_c128(i);
  return json::array({shown(v.real()), shown(v.imag())});
}

json report_json(const DispatchReport& report) { return json::parse(report.to_json()); }

json plugins_json() {
  const linalg::Plugin p = linalg::direct_solvers();
  return json::array({{{"name", p.name},
                       {"loaded", p.loaded},
                       {"path", p.path},
                       {"versions", p.versions},
                       {"looked_for", p.looked_for}}});
}

// What is known of a place in the user's program.
static void add_site(json& e, const ErrorSite& site) {
  if (!site.file.empty()) {
    e["file"] = site.file;
    e["line"] = site.line;
  }
  if (!site.node.empty()) e["node"] = site.node;
}

// The first node without lowering.
static ErrorSite site_of(const DispatchReport& report) {
  for (const ReportRow& r : report.rows)
    if (r.path == Path::unresolved) return {r.location.file, r.location.line, r.value};
  return {};
}

std::string error_type(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return known->type();
  if (dynamic_cast<const UsageError*>(&error)) return "UsageError";
  // An array beyond the address space is a length_error to the standard library.
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const std::length_error*>(&error))
    return "MemoryError";
  return "InternalError";
}

std::string error_message(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "the system gave no more memory";
  return error.what();
}

json error_json(const std::exception& error) {
  json e{{"type", error_type(error)}, {"message", error_message(error)}};
  json out;
  if (const auto* x = dynamic_cast<const FormatError*>(&error)) {
    e["file"] = x->file();
    e["offset"] = x->offset();
    if (x->line()) e["line"] = x->line();
    if (x->column()) e["column"] = x->column();
  } else if (const auto* x = dynamic_cast<const VerifyError*>(&error)) {
    e["op"] = x->op();
    e["constraint"] = x->constraint();
  } else if (const auto* x = dynamic_cast<const NumericalError*>(&error)) {
    e["op"] = x->op();
    e["info"] = x->info();
    if (x->iterations() >= 0) {
      e["iterations"] = x->iterations();
      e["residual"] = number(x->residual());
    }
  } else if (const auto* x = dynamic_cast<const MemoryError*>(&error)) {
    e["wanted_bytes"] = x->wanted_bytes();
    e["available_bytes"] = x->available_bytes();
  } else if (const auto* x = dynamic_cast<const DeviceError*>(&error)) {
    e["api"] = x->api();
    e["code"] = x->code();
  } else if (const auto* x = dynamic_cast<const CompileError*>(&error)) {
    out = report_json(x->report());
    add_site(e, site_of(x->report()));
  }
  if (const auto* x = dynamic_cast<const Located*>(&error)) add_site(e, x->site());
  out["error"] = std::move(e);
  return out;
}

void print_json(const json& object) {
  // Messages quote files and arguments, which need not be UTF-8.
  std::cout << object.dump(2, ' ', false, json::error_handler_t::replace) << std::endl;
}

}  // namespace rlx::cli
