#include "right_side.hpp"

#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/tensor_file.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <variant>

namespace rlx::cli {

static std::string shape_text(const HostTensor& t) {
  std::string s = std::string(name(t.dtype())) + "[";
  for (std::size_t i = 0; i < t.shape().size(); ++i) s += (i ? "," : "") + std::to_string(t.shape()[i]);
  return s + "]";
}

HostSparse read_matrix(const std::string& place) {
  const auto dense = [&] {
    HostTensor t = formats::read_tensor(place);
    if (t.rank() != 2) throw ArgumentError(place + " is " + shape_text(t) + ", expected a matrix");
    return t;
  };
  const formats::CsrMatrix m =
      place.ends_with(".mtx") ? formats::read_matrix_market_csr(place) : formats::to_csr(formats::to_coo(dense()));
  const DType index = formats::narrowest_index(m);
  const SparseType type{SparseFormat::csr, m.values.dtype(), index, {m.rows, m.cols}, m.entries()};
  return {type, formats::index_tensor(m.row_offsets, index), formats::index_tensor(m.columns, index), m.values};
}

template <class T>
static void transpose(const HostTensor& from, HostTensor& to) {
  const auto in = from.as<T>();
  const auto out = to.as_mutable<T>();
  const auto rows = static_cast<std::size_t>(to.shape()[0]), columns = static_cast<std::size_t>(to.shape()[1]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] = in[j * rows + i];
}

HostTensor transposed(const HostTensor& t) {
  HostTensor out(t.dtype(), {t.shape()[1], t.shape()[0]});
  if (t.dtype() == DType::c128) transpose<std::complex<double>>(t, out);
  else transpose<double>(t, out);
  return out;
}

/// Where an element is not finite, in the shape of the file; empty where all are.
static std::string not_finite(const HostTensor& t) {
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    const std::complex<double> v = t.get_c128(i);
    if (std::isfinite(v.real()) && std::isfinite(v.imag())) continue;
    if (t.rank() < 2) return "element " + std::to_string(i);
    const std::int64_t width = t.numel() / t.shape()[0];
    return "row " + std::to_string(i / width) + ", element " + std::to_string(i % width);
  }
  return {};
}

RightSide read_right_side(const std::string& place, const HostSparse& a) {
  const std::int64_t n = a.type.shape[0].constant();
  const HostTensor given = formats::read_tensor(place);
  const DType from = given.dtype(), to = a.type.dtype;
  RightSide out{given, given.shape(), {}};
  std::vector<std::int64_t>& shape = out.shape;
  const auto refuse = [&](const std::string& why) {
    throw ArgumentError("b (" + place + ") is " + shape_text(given) + ", " + why);
  };
  const bool pairs = is_complex(to) && from == DType::f64 && shape.size() >= 2 && shape.back() == 2;
  if (pairs || (place.ends_with(".mtx") && shape[1] == 1)) shape.pop_back();
  if ((shape.size() != 1 && shape.size() != 2) || shape[0] != n)
    refuse("expected " + counted(n, "element") + (shape.size() == 2 ? " a column" : "") + ": the matrix has " +
           counted(n, "row"));
  if (const std::string where = not_finite(given); !where.empty()) refuse("not finite in " + where + " (from 0)");
  if (pairs) {
    const auto v = given.as<double>();
    out.b = HostTensor(to, shape);
    auto b = out.b.as_mutable<std::complex<double>>();
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = {v[2 * i], v[2 * i + 1]};
  } else if (from != to) {
    if (is_complex(from) && !is_complex(to)) refuse("the matrix is real: solve with the real and the imaginary part");
    if (!is_floating(from) && !is_complex(from)) refuse("expected a floating-point type");
    out.b = HostTensor(to, shape);
    for (std::int64_t i = 0; i < given.numel(); ++i) out.b.set_c128(i, given.get_c128(i));
    if (from != DType::f64)
      out.notes.push_back("b was widened from " + std::string(name(from)) + " to " + std::string(name(to)));
  }
  out.b = out.columns() == 1 ? out.b.reshaped({n}) : transposed(out.b);
  return out;
}

template <class T>
static void sum_rows(const HostSparse& a, HostTensor& b) {
  const auto values = a.values.as<T>();
  const auto sums = b.as_mutable<T>();
  std::size_t k = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (const auto end = static_cast<std::size_t>(a.offsets.get_i64(static_cast<std::int64_t>(i) + 1)); k < end; ++k)
      sums[i] += values[k];
}

HostTensor row_sums(const HostSparse& a, const std::string& place) {
  HostTensor b(a.type.dtype, {a.type.shape[0].constant()});
  if (a.type.dtype == DType::c128) sum_rows<std::complex<double>>(a, b);
  else sum_rows<double>(a, b);
  const std::string where = not_finite(b);
  if (where.empty()) return b;
  if (const std::string entry = not_finite(a.values); !entry.empty())
    throw ArgumentError(place + " has an entry that is not finite (entries of one place are summed): " + entry +
                        " of its values by rows (from 0)");
  throw ArgumentError("no b was given, and A*ones of " + place + " is not finite in " + where + " (from 0): give a b");
}

void write_solution(const std::string& place, const HostTensor& x) {
  if (is_complex(x.dtype()) && place.find(".safetensors") != std::string::npos) {
    std::vector<std::int64_t> shape = x.shape();
    shape.push_back(2);
    formats::write_tensor(
        place, HostTensor::view(DType::f64, std::move(shape), x.data(), std::make_shared<const HostTensor>(x)));
    return;
  }
  formats::write_tensor(place, x);
}

}  // namespace rlx::cli
