// Collectives: types and rules. A program runs on every rank of a communicator, a value resource<communicator>[ranks];
// every rank calls the same collectives in the same order, which a token keeps: comm.f(x, communicator, token) gives
// (y, token). A transport (a library of kernel records) executes them; without one they are refused by contract. Users
// of one communicator are resolved each on its own. It may be an invariant of loops; it is not batched, moved or saved.
//
// Derivatives. What is differentiated is the sum over the ranks of what each rank's program returns, so that forward
// and reverse mode are those of one linear map between the values of all ranks: all_reduce of sums is its own
// transpose, all_gather and reduce_scatter are each other's, so are broadcast and the sum at its root, and permute and
// its inverse. A loss that every rank holds whole, as all_reduce gives it, is thus counted once a rank: divide by the
// number of ranks, or take the loss before it is reduced.
//
// A derivative's collective takes the token that the primal one gave; vjp and jvp then put all effects of what they
// make on one chain, in the order of the program, which is the same on all ranks.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ops/attributes/reduction.hpp>

#include <memory>

namespace rlx::ops {

struct AllReduceAttrs {
  Combine kind = Combine::add;
  bool operator==(const AllReduceAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"kind", &AllReduceAttrs::kind, "add, min, max or mul"}};
};
struct ReduceScatterAttrs {
  int axis = 0;
  Combine kind = Combine::add;
  bool operator==(const ReduceScatterAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &ReduceScatterAttrs::axis, "dimension that is shared out"},
                                            Field{"kind", &ReduceScatterAttrs::kind, "add, min, max or mul"}};
};
struct AllToAllAttrs {
  int split = 0, concat = 0;
  bool operator==(const AllToAllAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"split", &AllToAllAttrs::split, "dimension cut into a part a rank"},
                 Field{"concat", &AllToAllAttrs::concat, "dimension along which parts join"}};
};
struct RootAttrs {
  std::int64_t root = 0;
  bool operator==(const RootAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"root", &RootAttrs::root, "the rank whose value all get"}};
};
/// Rank target[i] gets the value of rank source[i]; a rank that is no target gets zeros.
struct PermuteAttrs {
  std::vector<std::int64_t> source{}, target{};
  bool operator==(const PermuteAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"source", &PermuteAttrs::source, "ranks that send, each once"},
                                            Field{"target", &PermuteAttrs::target, "ranks that receive, each once"}};
};

/// resource<communicator>[ranks].
RLX_API ResourceType communicator(Dim ranks);

struct Communicated {
  Value value, token;
};
RLX_API Communicated all_reduce(Value x, Value communicator, Value token, Combine kind = Combine::add);
RLX_API Communicated all_gather(Value x, Value communicator, Value token, int axis);
RLX_API Communicated reduce_scatter(Value x, Value communicator, Value token, int axis, Combine kind = Combine::add);
RLX_API Communicated all_to_all(Value x, Value communicator, Value token, int split, int concat);
RLX_API Communicated broadcast_from(Value x, Value communicator, Value token, std::int64_t root);
RLX_API Communicated permute(Value x, Value communicator, Value token, PermuteAttrs pairs);
RLX_API Value rank_of(Value communicator);  ///< i32[], 0 .. ranks - 1.

/// What the host references of collectives find in HostResource::data of a communicator.
class RLX_API HostCommunicator {
 public:
  virtual ~HostCommunicator();
  virtual std::int64_t size() const = 0;
  virtual std::int64_t rank() const = 0;
  /// The tensors of all ranks, in their order. A collective call: every rank makes it.
  virtual std::vector<HostTensor> exchange(const HostTensor& mine) const = 0;
};

}  // namespace rlx::ops
