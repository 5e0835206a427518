// Attributes of access by index, whose dimension numbers are StableHLO's, and of orders.
#pragma once
#include <rlx/ir/attributes.hpp>
#include <rlx/ops/attributes/reduction.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace rlx::ops {

/// StableHLO gather(operand, indices): an index out of range is clamped.
struct GatherAttrs {
  std::vector<int> offset_dims{}, collapsed_slice_dims{}, operand_batching_dims{}, indices_batching_dims{},
      start_index_map{};
  int index_vector_dim = 0;
  std::vector<Dim> slice_sizes{};
  bool operator==(const GatherAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"offset_dims", &GatherAttrs::offset_dims, "result dimensions that run inside a slice"},
                 Field{"collapsed_slice_dims", &GatherAttrs::collapsed_slice_dims,
                       "operand dimensions of slice size 1 that the result lacks"},
                 Field{"operand_batching_dims", &GatherAttrs::operand_batching_dims,
                       "operand dimensions paired with index dimensions"},
                 Field{"indices_batching_dims", &GatherAttrs::indices_batching_dims,
                       "index dimensions paired with operand dimensions"},
                 Field{"start_index_map", &GatherAttrs::start_index_map, "operand dimension of each index component"},
                 Field{"index_vector_dim", &GatherAttrs::index_vector_dim,
                       "dimension of indices that holds a start index; rank: none"},
                 Field{"slice_sizes", &GatherAttrs::slice_sizes, "size of the slice in each operand dimension"}};
};

/// The index that scatter drops by meaning, in checked mode too: the least of its type.
constexpr std::int64_t dropped_index(DType t) { return t == DType::i32 ? INT32_MIN : INT64_MIN; }

/// StableHLO scatter(operand, indices, updates): an index out of range is dropped; repeated ones combine in index
/// order.
struct ScatterAttrs {
  std::vector<int> update_window_dims{}, inserted_window_dims{}, input_batching_dims{}, indices_batching_dims{},
      scatter_dims_to_operand_dims{};
  int index_vector_dim = 0;
  Combine kind = Combine::set;
  bool operator==(const ScatterAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"update_window_dims", &ScatterAttrs::update_window_dims, "update dimensions that run inside a window"},
      Field{"inserted_window_dims", &ScatterAttrs::inserted_window_dims, "operand dimensions that updates lack"},
      Field{"input_batching_dims", &ScatterAttrs::input_batching_dims,
            "operand dimensions paired with index dimensions"},
      Field{"indices_batching_dims", &ScatterAttrs::indices_batching_dims,
            "index dimensions paired with operand dimensions"},
      Field{"scatter_dims_to_operand_dims", &ScatterAttrs::scatter_dims_to_operand_dims,
            "operand dimension of each index component"},
      Field{"index_vector_dim", &ScatterAttrs::index_vector_dim,
            "dimension of indices that holds an index; rank: none"},
      Field{"kind", &ScatterAttrs::kind, "set, add, min, max or mul"}};
};

/// sort(operands...): all operands are permuted together along `axis`; the first `keys` of them decide, in order.
struct SortAttrs {
  int axis = 0;
  int keys = 1;
  std::vector<bool> descending{};
  bool operator==(const SortAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &SortAttrs::axis, "dimension"},
                                            Field{"keys", &SortAttrs::keys, "how many operands are keys"},
                                            Field{"descending", &SortAttrs::descending, "one a key; empty: ascending"}};
};

/// Along the last dimension: values [.., k] and indices i32 [.., k], largest first, ties to the first index.
struct TopKAttrs {
  std::int64_t k = 1;
  bool operator==(const TopKAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"k", &TopKAttrs::k, "how many"}};
};

}  // namespace rlx::ops
