// Systems that tests of Solver share, and what they expect to be refused.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {
namespace {

/// Five-point Laplacian of an m x m grid plus `shift` on the diagonal.
OwnedCsr<double> grid(std::int64_t m, double shift = 0) {
  const std::int64_t n = m * m;
  OwnedCsr<double> a{n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = i / m, c = i % m;
    const auto put = [&](bool there, std::int64_t j, double v) {
      if (!there) return;
      a.columns.push_back(static_cast<std::int32_t>(j));
      a.values.push_back(v);
    };
    put(r > 0, i - m, -1);
    put(c > 0, i - 1, -1);
    put(true, i, 4 + shift);
    put(c + 1 < m, i + 1, -1);
    put(r + 1 < m, i + m, -1);
    a.offsets.push_back(static_cast<std::int32_t>(a.columns.size()));
  }
  return a;
}

std::vector<double> wave(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + static_cast<double>(i));
  return b;
}

template <class E, class F>
void expect_throw(F act, std::string_view part) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown, expected: " << part;
  } catch (const E& e) { EXPECT_NE(std::string_view(e.what()).find(part), std::string_view::npos) << e.what(); }
}

}  // namespace
}  // namespace rlx::linalg::testing
