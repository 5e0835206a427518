// The matrices and reference solutions of shared/ (data/matrices, reference/linalg), for the tests of linalg.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/safetensors.hpp>
#include <rlx/formats/sparse.hpp>
#include <string>
#include <variant>
#include <vector>

#include <rlx/linalg/csr_view.hpp>

#include "places.hpp"

namespace rlx::linalg::testing {

namespace fs = std::filesystem;

constexpr double unit_roundoff = 0x1p-53;  ///< Of f64.

/// Names of the files of a folder of shared/ with an ending, without it; empty where the folder is not there.
inline std::vector<std::string> names_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& file : fs::directory_iterator(places::shared() / folder, missing))
    if (file.path().extension() == ending) names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

/// A CSR matrix with 32-bit indices that owns its arrays.
template <class T>
struct OwnedCsr {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  CsrView<T> view() const { return {rows, cols, offsets, columns, values}; }
};

/// Of a dense row-major list; zeros are left out.
template <class T>
OwnedCsr<T> from_dense(std::int64_t rows, std::int64_t cols, const std::vector<T>& dense) {
  OwnedCsr<T> m{rows, cols, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j)
      if (dense[i * cols + j] != T{}) {
        m.columns.push_back(static_cast<std::int32_t>(j));
        m.values.push_back(dense[i * cols + j]);
      }
    m.offsets.push_back(static_cast<std::int32_t>(m.columns.size()));
  }
  return m;
}

template <class T>
OwnedCsr<T> owned(const formats::CsrMatrix& m) {
  const auto values = m.values.as<T>();
  OwnedCsr<T> result{m.rows, m.cols, {}, {m.columns.begin(), m.columns.end()}, {values.begin(), values.end()}};
  result.offsets.assign(m.row_offsets.begin(), m.row_offsets.end());
  return result;
}

using AnyCsr = std::variant<OwnedCsr<double>, OwnedCsr<std::complex<double>>>;

inline AnyCsr load_matrix(const std::string& name) {
  const formats::CsrMatrix m =
      formats::read_matrix_market_csr((places::shared() / "data/matrices" / (name + ".mtx")).string());
  if (m.values.dtype() == DType::c128) return owned<std::complex<double>>(m);
  return owned<double>(m);
}

/// A stored f64 tensor as numbers; complex ones are stored with a last dimension of 2.
template <class T>
std::vector<T> numbers(const HostTensor& tensor) {
  const auto values = tensor.as<double>();
  if constexpr (std::is_same_v<T, double>) {
    return {values.begin(), values.end()};
  } else {
    std::vector<T> result(values.size() / 2);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = {values[2 * i], values[2 * i + 1]};
    return result;
  }
}

inline formats::SafeTensors load_solutions(const std::string& name) {
  return formats::load_safetensors((places::shared() / "reference/linalg/sparse" / (name + ".safetensors")).string());
}

/// |x - y| / |y| in the max norm.
template <class T>
double relative_difference(const std::vector<T>& x, const std::vector<T>& y) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    difference = std::max<double>(difference, std::abs(x[i] - y[i]));
    size = std::max<double>(size, std::abs(y[i]));
  }
  return size > 0 ? difference / size : difference;
}

}  // namespace rlx::linalg::testing
