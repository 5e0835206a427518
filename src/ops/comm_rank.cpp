#include "ops/communication.hpp"

namespace rlx::ops {

constexpr Operand comm_rank_operands[] = {{"communicator", storable, OperandKind::resource, false, "communicator"}};
constexpr Constraint<NoAttributes> comm_rank_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least",
     [](const NoAttributes&, const Signature& s) { return is_communicator(s.resource(0)); }}};

extern const OpDef<NoAttributes> comm_rank_op{
    .name = "comm.rank",
    .doc = "This rank's number, from 0.",
    .operands = comm_rank_operands,
    .constraints = comm_rank_constraints,
    .infer = [](const NoAttributes&, const Signature&) -> Types { return {i32({})}; },
    .meaning = Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      return {HostTensor::scalar_i64(DType::i32, host_communicator(c).rank())};
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = Never{"members of a batch are on one rank: a communicator is the same for all"},
    .shard = [](const NoAttributes&, const Signature&) { return ShardRule{{}, {{}}, {{}}}; },
    .cost = [](const NoAttributes&, const Signature&) { return Cost{0, 0}; },
    .samples = []() -> Samples {
      return {sample({some_ranks(1)}).expects({{0}}).exact(), sample({some_ranks(4)}),
              sample({SampleOperand(Type(ResourceType{.kind = "communicator"}), Fill::uniform)}).breaking("C1"),
              sample({SampleOperand(Type(ResourceType{.kind = "lu"}), Fill::uniform)}).breaking("kind")};
    }};

}  // namespace rlx::ops
