// Solver on every stored system: backward errors, forward errors within the condition of the equilibrated matrix, and
// the exact list of those systems whose bound says nothing.
#include <rlx/linalg/linalg.hpp>

#include <rlx/ir/error.hpp>

#include "equilibrated_difference.hpp"

namespace rlx::linalg::testing {
namespace {

constexpr double useless = 0.1;

TEST(ForwardErrors, StayWithinTheConditionOrAreCounted) {
  const std::vector<std::string> names = names_in("reference/linalg/sparse", ".safetensors");
  if (names.empty()) GTEST_SKIP() << "no folder " << places::shared();
  std::vector<std::string> backward_only;
  std::size_t checked = 0, refused = 0;
  for (const std::string& name : names)
    std::visit(
        [&]<class T>(const OwnedCsr<T>& a) {
          const formats::SafeTensors stored = load_solutions(name);
          std::optional<Solver> solver;
          try {
            solver.emplace(a.view());
          } catch (const NumericalError& e) {
            EXPECT_EQ(name, "hilbert_12") << e.what();  // condition 1.7e16: either answer is right
            refused += 2;
            return;
          }
          std::vector<T> both_b, both_x;
          for (const std::string right : {"ones", "random"}) {
            const auto b = numbers<T>(stored.tensors.at(right + ".b"));
            both_b.insert(both_b.end(), b.begin(), b.end());
          }
          both_x.resize(both_b.size());
          EXPECT_LE(solver->solve(both_b, both_x, 2).backward_error, 1e-14) << name << " both";
          for (const std::string right : {"ones", "random"}) {
            const auto b = numbers<T>(stored.tensors.at(right + ".b")), x = numbers<T>(stored.tensors.at(right + ".x"));
            std::vector<T> found(b.size());
            const SolveInfo info = solver->solve(b, found);
            EXPECT_LE(info.backward_error, 1e-14) << name << " " << right;
            const double bound = 10 * static_cast<double>(a.rows) * unit_roundoff / solver->rcond();
            if (bound > useless) {
              backward_only.push_back(name + " " + right);
              continue;
            }
            ++checked;
            EXPECT_LE(equilibrated_difference(a, info.method == "cholesky", found, x), bound)
                << name << " " << right << " by " << info.provider;
            const auto from = both_x.begin() + (right == "ones" ? 0 : a.rows);
            EXPECT_LE(equilibrated_difference(a, info.method == "cholesky", std::vector<T>(from, from + a.rows), x),
                      bound)
                << name << " " << right << " of both by " << info.provider;
          }
        },
        load_matrix(name));
  std::printf("%zu forward errors checked, %zu backward errors only, %zu refused\n", checked, backward_only.size(),
              refused);
  EXPECT_EQ(checked + backward_only.size() + refused, 2 * names.size());
  for (const std::string& system : backward_only) EXPECT_TRUE(system.starts_with("hilbert_12")) << system;
}

}  // namespace
}  // namespace rlx::linalg::testing
