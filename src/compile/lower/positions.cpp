#include "compile/lower/positions.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

Index Inside::limited(const Index& i, Extent extent) {
  if (i.lower() < 0 || i.upper() >= extent.value) require(e_.index().inside(i, extent));
  return e_.index().clamped(i, extent);
}

void Inside::require(Value condition) { all_ = all_ ? e_.builder().emit1("and", {all_, condition}) : condition; }

Value Inside::choose(Value inside, Value outside) const { return all_ ? ops::select(all_, inside, outside) : inside; }

Value IndexVectors::component(std::size_t k) const {
  Coordinates at;
  std::size_t next = 0;
  for (std::size_t d = 0; d < e_.shape(indices_).size(); ++d)
    at.push_back(d == vector_dim_ ? Index(static_cast<std::int64_t>(k)) : batch_[next++]);
  return ops::convert(e_.at(indices_, at), DType::i64);
}

const Index& IndexVectors::coordinate(int dim) const {
  const auto d = static_cast<std::size_t>(dim);
  return batch_[d - (d > vector_dim_ ? 1 : 0)];
}

}  // namespace rlx::compile
