// dot_general by teams. A team makes a tile of the result: its threads bring pieces of both operands into local memory
// together, and each keeps a block of sums in registers, so that an element brought from memory once serves a whole
// tile, and one read from local memory a whole row or column of a block. The terms of a sum come in their order, as in
// the form without tiles: the results have the same bits.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {
namespace {

constexpr std::int64_t side = 16;            // Threads of a team in each direction.
constexpr std::int64_t block = 4;            // Results of a thread in each direction, `side` apart.
constexpr std::int64_t tile = side * block;  // Results of a team in each direction.
constexpr std::int64_t threads = side * side;
constexpr std::int64_t most_depth = 16, least_depth = 4;  // Terms brought at once: what local memory holds.

/// One operand: which of its dimensions are what, each list in the order in which the result or the sum counts them.
struct Factor {
  ValueId value;
  std::vector<std::int64_t> shape;
  std::vector<int> batch, free, contract;

  Factor(const Lowering& l, ValueId v, std::vector<int> batch_dims, std::vector<int> contract_dims)
      : value(v), shape(l.shape(v)), batch(std::move(batch_dims)), contract(std::move(contract_dims)) {
    const auto in = [](const std::vector<int>& list, int d) {
      return std::find(list.begin(), list.end(), d) != list.end();
    };
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (!in(batch, d) && !in(contract, d)) free.push_back(d);
  }
  std::vector<std::int64_t> sizes(const std::vector<int>& dims) const {
    std::vector<std::int64_t> s;
    for (int d : dims) s.push_back(shape[static_cast<std::size_t>(d)]);
    return s;
  }
  std::int64_t extent(const std::vector<int>& dims) const { return element_count(sizes(dims)); }
  /// Neighbouring terms are neighbours in memory.
  bool terms_are_contiguous() const {
    return !contract.empty() && contract.back() + 1 == static_cast<int>(shape.size());
  }
  Coordinates at(IndexEmitter& index, const Coordinates& of_batch, const Index& of_free, const Index& term) const {
    Coordinates c(shape.size());
    const auto put = [&](const std::vector<int>& dims, const Coordinates& values) {
      for (std::size_t i = 0; i < dims.size(); ++i) c[static_cast<std::size_t>(dims[i])] = values[i];
    };
    put(batch, of_batch);
    put(free, index.coordinates(of_free, sizes(free)));
    put(contract, index.coordinates(term, sizes(contract)));
    return c;
  }
};

/// Terms brought at once; 0 where the target has no teams, or too little local memory.
std::int64_t depth_on(const Target& t, DType accumulate) {
  if (t.max_team_threads < threads || bit_width(accumulate) < 8) return 0;
  std::int64_t depth = most_depth;
  while (depth >= least_depth && 2 * depth * tile * (bit_width(accumulate) / 8) > t.local_bytes) depth /= 2;
  return depth >= least_depth ? depth : 0;
}

/// The body of one team's thread.
class Tile {
 public:
  Tile(KernelBody& k, DType accumulate, std::int64_t depth, std::int64_t terms, std::size_t batches)
      : k_(k), b_(k.b), index_(k.elements.index()), accumulate_(accumulate), depth_(depth), terms_(terms) {
    batch_.assign(k.position.begin(), k.position.begin() + static_cast<std::ptrdiff_t>(batches));
    for (std::size_t i = 0; i < 2; ++i) {
      first_[i] = k.position[batches + i] * tile;
      thread_[i] = k.thread[batches + i];
    }
    zero_ = ops::constant(b_, HostTensor(accumulate, {}));
  }

  void run(const Factor& left, const Factor& right, DType out) {
    const TensorType local{accumulate_, {depth_ * tile}, Space::local};
    const Value a = b_.emit1("lir.local", {}, lir::LocalAttrs{local}),
                c = b_.emit1("lir.local", {}, lir::LocalAttrs{local});
    const std::int64_t pieces = (terms_ + depth_ - 1) / depth_;
    const RegionBody piece = [&](ValuesIn v) {
      const Elements::Scope scope(k_.elements);
      const Index start = Index::of(v[0], pieces) * depth_;
      bring(a, left, first_[0], start);
      bring(c, right, first_[1], start);
      b_.emit("lir.barrier", {});
      const RegionBody term = [&](ValuesIn t) { return summed(a, c, t); };
      const Values sums = loop(depth_, v.subspan(1), term);
      b_.emit("lir.barrier", {});
      return sums;
    };
    const Values sums = loop(pieces, Values(block * block, zero_), piece);
    store(sums, left.sizes(left.batch), left.extent(left.free), right.extent(right.free), out);
  }

 private:
  Values loop(std::int64_t trips, ValuesIn carried, const RegionBody& body) {
    Values operands{index_.number(0), index_.number(trips)};
    operands.insert(operands.end(), carried.begin(), carried.end());
    return b_.emit("lir.for", operands, lir::ForAttrs{}, {&body, 1});
  }

  // local[term, free] = operand[first + free, start + term]; every thread brings as many elements, neighbours in memory
  // by neighbouring threads. Beyond the last term both operands are zero; beyond the last row or column it does not
  // matter what is there, since those sums are not stored.
  void bring(Value local, const Factor& f, const Index& first, const Index& start) {
    const Index thread = thread_[0] * side + thread_[1];
    const std::int64_t rows = f.extent(f.free);
    for (std::int64_t s = 0; s < depth_ * tile / threads; ++s) {
      const Index i = thread + Index(s * threads);
      const std::int64_t inner = f.terms_are_contiguous() ? depth_ : tile;
      const Index slow = index_.divide(i, inner), fast = index_.remainder(i, inner);
      const Index &free = f.terms_are_contiguous() ? slow : fast, &term = f.terms_are_contiguous() ? fast : slow;
      const Index row = first + free, at = start + term;
      Value x = ops::convert(
          k_.load(f.value, f.at(index_, batch_, index_.clamped(row, rows), index_.clamped(at, terms_))), accumulate_);
      if (at.upper() >= terms_) x = ops::select(index_.inside(at, terms_), x, zero_);
      b_.emit("lir.store", {local, index_.emit(term * tile + free), x});
    }
  }

  // The sums of t, plus one term.
  Values summed(Value a, Value c, ValuesIn t) {
    const Index line = Index::of(t[0], depth_) * tile;
    const auto piece = [&](Value local, const Index& thread) {
      Values x;
      for (std::int64_t i = 0; i < block; ++i) x.push_back(k_.elements.load(local, line + thread + Index(i * side)));
      return x;
    };
    const Values x = piece(a, thread_[0]), y = piece(c, thread_[1]);
    Values sums;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < y.size(); ++j) sums.push_back(ops::add(t[1 + sums.size()], ops::mul(x[i], y[j])));
    return sums;
  }

  void store(ValuesIn sums, const std::vector<std::int64_t>& batch, std::int64_t rows, std::int64_t columns,
             DType out) {
    const Index before = index_.linear(batch_, batch) * rows;
    for (std::int64_t i = 0; i < block; ++i)
      for (std::int64_t j = 0; j < block; ++j) {
        const Index row = first_[0] + thread_[0] + Index(i * side), column = first_[1] + thread_[1] + Index(j * side);
        const Value sum = ops::convert(sums[static_cast<std::size_t>(i * block + j)], out);
        const auto write = [&] { k_.store(0, (before + row) * columns + column, sum); };
        if (row.upper() < rows && column.upper() < columns) {
          write();
          continue;
        }
        const Value inside = b_.emit1("and", {index_.inside(row, rows), index_.inside(column, columns)});
        const RegionBody arms[] = {[&](ValuesIn) {
                                     write();
                                     return Values{};
                                   },
                                   [](ValuesIn) { return Values{}; }};
        b_.emit("lir.if_then", ValuesIn(&inside, 1), {}, arms);
      }
  }

  KernelBody& k_;
  Builder& b_;
  IndexEmitter& index_;
  DType accumulate_;
  std::int64_t depth_, terms_;
  Coordinates batch_;
  Index first_[2], thread_[2];
  Value zero_;
};

}  // namespace

bool lower_tiled_dot_general(Lowering& l, const Node& n, DType accumulate, Value result) {
  const auto& a = n.attrs.as<ops::DotGeneralAttrs>();
  const std::int64_t depth = depth_on(l.target(), accumulate);
  const Factor left(l, n.operands[0], a.lhs_batch, a.lhs_contract),
      right(l, n.operands[1], a.rhs_batch, a.rhs_contract);
  const std::int64_t rows = left.extent(left.free), columns = right.extent(right.free),
                     terms = left.extent(left.contract);
  // Smaller products leave most of a tile empty.
  if (depth == 0 || rows < tile / 2 || columns < tile / 2 || terms < depth) return false;
  lir::KernelAttrs kernel;
  kernel.policy = lir::Policy::team;
  kernel.extents = left.sizes(left.batch);
  kernel.team.assign(kernel.extents.size(), 1);
  for (std::int64_t extent : {rows, columns}) {
    kernel.extents.push_back((extent + tile - 1) / tile);
    kernel.team.push_back(side);
  }
  const DType out = l.mir().tensor_type(n.results[0]).dtype;
  l.kernel({.origins = {&n}, .attrs = std::move(kernel), .pulled = n.operands, .writes = {result}},
           [&](KernelBody& k) { Tile(k, accumulate, depth, terms, left.batch.size()).run(left, right, out); });
  return true;
}

}  // namespace rlx::compile
