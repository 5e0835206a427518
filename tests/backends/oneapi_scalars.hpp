// One kernel for the scalar operators of one dtype: result k of point i is stored at k * points + i.
#pragma once
#include "oneapi_support.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace rlx::test {

struct ScalarCase {
  std::string op;
  int arity = 1;
  AnyAttrs attrs{};
  std::string label() const { return op + attrs.to_string(); }
};

inline const std::vector<ScalarCase> comparisons = [] {
  std::vector<ScalarCase> all;
  for (int d = 0; d < 6; ++d) all.push_back({"compare", 2, ops::CompareAttrs{static_cast<ops::Direction>(d)}});
  return all;
}();

/// Runs `values` (results of the operands' dtype) and `predicates` (bool results); gives both tensors.
class ScalarRun {
 public:
  std::vector<HostTensor> operands;
  HostTensor values, predicates;
  std::int64_t points() const { return operands[0].numel(); }

  Graph graph(const std::vector<ScalarCase>& value_cases, const std::vector<ScalarCase>& predicate_cases,
              DType result) {
    const std::int64_t n = points();
    values = HostTensor(result, {n * std::max<std::int64_t>(1, static_cast<std::int64_t>(value_cases.size()))});
    predicates =
        HostTensor(DType::boolean, {n * std::max<std::int64_t>(1, static_cast<std::int64_t>(predicate_cases.size()))});
    buffers_ = operands;
    buffers_.push_back(values);
    buffers_.push_back(predicates);
    Graph g;
    Builder b(g, scalar_registry());
    kernel(b, {.name = std::string(name(operands[0].dtype())), .extents = {n}, .writes = 2}, inputs_like(b, buffers_),
           [&](const Body& w, ValuesIn i, ValuesIn p) {
             Values x;
             for (std::size_t k = 0; k < operands.size(); ++k) x.push_back(w.load(p[k], i[0]));
             const auto put = [&](const std::vector<ScalarCase>& cases, Value to) {
               for (std::size_t k = 0; k < cases.size(); ++k) {
                 const ValuesIn in(x.data(), static_cast<std::size_t>(cases[k].arity));
                 const Value y = cases[k].op == "select"
                                     ? b.emit1("select", {w.compare(x[0], x[1], ops::Direction::lt), x[1], x[2]})
                                     : b.emit1(cases[k].op, in, cases[k].attrs);
                 w.store(to, w.add(w.i64(static_cast<std::int64_t>(k) * n), i[0]), y);
               }
             };
             put(value_cases, p[operands.size()]);
             put(predicate_cases, p[operands.size() + 1]);
           });
    return g;
  }
  std::vector<HostTensor>& buffers() { return buffers_; }
  void take() {
    values = buffers_[operands.size()];
    predicates = buffers_[operands.size() + 1];
  }

 private:
  std::vector<HostTensor> buffers_;
};

}  // namespace rlx::test
